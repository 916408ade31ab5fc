import { Type } from 'typebox';
import type { Static } from 'typebox';
import { named } from './schemas.ts';
import type { Endpoint } from './endpoint.ts';
import { PAID_ERRORS } from './endpoint.ts';
import { SPEECH_SURFACES } from './speech-surfaces.ts';
import { MESSAGE_PACK } from './values.ts';
import { SpeechControls, SpeechRequest } from './speech.ts';

const { speed, stability, similarity, textNormalization } = SpeechControls.properties;

export const CompatTtsRequest = named('CompatTtsRequest', {
  text: SpeechRequest.properties.text,
  reference_id: Type.String({ minLength: 1, description: 'Voice id (there is no default voice)' }),
  format: Type.Optional(
    Type.String({ default: 'mp3', description: 'mp3, wav or pcm (any other value means mp3)' }),
  ),
  prosody: Type.Optional(
    Type.Object({ speed }, { description: 'Object with the speaking rate `speed`' }),
  ),
  speed,
  temperature: stability,
  top_p: similarity,
  normalize: textNormalization,
  chunk_length: Type.Optional(Type.Unknown({ description: 'Not used' })),
  latency: Type.Optional(Type.Unknown({ description: 'Not used' })),
});

export const CompatSpeechRequest = named('CompatSpeechRequest', {
  model: Type.String({
    minLength: 1,
    description: 'Model id of this service (OpenAI model names need foley serve --alias)',
  }),
  input: SpeechRequest.properties.text,
  voice: Type.Union(
    [Type.String({ minLength: 1 }), Type.Object({ id: Type.String({ minLength: 1 }) })],
    { description: 'Voice id, or an object whose `id` is the voice id' },
  ),
  response_format: Type.Optional(
    Type.Enum([...SPEECH_SURFACES['compat-speech'].formats], {
      default: 'mp3',
      description: 'Audio format (pcm: raw 16-bit mono samples)',
    }),
  ),
  speed,
  stream_format: Type.Optional(
    Type.Enum(['audio', 'sse'], {
      default: 'audio',
      description: 'audio: raw audio in the body, sse: server-sent events',
    }),
  ),
});

export const CompatVoices = named('CompatVoices', {
  voices: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Voice id' }),
      name: Type.String({ description: 'Display name' }),
    }),
    { description: 'All voices' },
  ),
});
export type CompatVoices = Static<typeof CompatVoices>;

/** The event that carries audio in the response to `POST /v1/audio/speech` with `stream_format: sse`. */
export const CompatSpeechDelta = named('CompatSpeechDelta', {
  type: Type.Literal('speech.audio.delta', { description: 'Always speech.audio.delta' }),
  audio: Type.String({ description: 'The next bytes of the audio in Base64' }),
});

export const CompatSpeechDone = named('CompatSpeechDone', {
  type: Type.Literal('speech.audio.done', { description: 'Always speech.audio.done' }),
  usage: Type.Object(
    {
      input_tokens: Type.Integer({ description: 'Number of characters in the text' }),
      output_tokens: Type.Integer({
        description: 'Always 0: only the characters of the text are billed',
      }),
      total_tokens: Type.Integer({ description: 'Sum of input_tokens and output_tokens' }),
    },
    {
      description:
        'Numbers of billed characters, in the fields that OpenAI uses for numbers of tokens',
    },
  ),
});
export type CompatSpeechEvent = Static<typeof CompatSpeechDelta> | Static<typeof CompatSpeechDone>;

export const CompatModel = named('CompatModel', {
  id: Type.String({ description: 'Model id' }),
  object: Type.Literal('model', { description: 'Always model' }),
  created: Type.Integer({ description: 'Always 0: models have no creation date' }),
  owned_by: Type.String({ description: 'Always foley' }),
});
export type CompatModel = Static<typeof CompatModel>;

export const CompatModels = named('CompatModels', {
  object: Type.Literal('list', { description: 'Always list' }),
  data: Type.Array(CompatModel, { description: 'Available models' }),
});
export type CompatModels = Static<typeof CompatModels>;

/** Endpoints for clients of two other speech APIs (docs/api/other-clients.md). */
export const OTHER_CLIENT_ENDPOINTS = [
  {
    id: 'createCompatTts',
    method: 'POST',
    path: '/v1/tts',
    section: 'other-clients',
    charges: 'characters',
    summary: 'Speak a text (for clients that send `reference_id` as the voice)',
    body: CompatTtsRequest,
    otherBodyType: MESSAGE_PACK,
    ignoresNull: true,
    success: 'audio',
    surface: 'compat-tts',
    errors: [...PAID_ERRORS, 'ERR_MODEL_UNAVAILABLE'],
  },
  {
    id: 'createCompatSpeech',
    method: 'POST',
    path: '/v1/audio/speech',
    section: 'other-clients',
    charges: 'characters',
    summary: 'Speak a text (for OpenAI clients)',
    body: CompatSpeechRequest,
    ignoresNull: true,
    success: 'audio',
    events: [CompatSpeechDelta, CompatSpeechDone],
    surface: 'compat-speech',
    errors: [...PAID_ERRORS, 'ERR_MODEL_UNAVAILABLE'],
  },
  {
    id: 'listCompatVoices',
    method: 'GET',
    path: '/v1/audio/voices',
    section: 'other-clients',
    summary: 'List the ids of all voices (for OpenAI clients)',
    success: CompatVoices,
  },
  {
    id: 'listCompatModels',
    method: 'GET',
    path: '/v1/models',
    section: 'ours',
    summary: 'List available models (for OpenAI clients)',
    success: CompatModels,
  },
  {
    id: 'getCompatModel',
    method: 'GET',
    path: '/v1/models/{modelId}',
    section: 'ours',
    summary: 'Get a model (for OpenAI clients)',
    success: CompatModel,
    errors: ['ERR_NOT_FOUND'],
  },
] as const satisfies readonly Endpoint[];
