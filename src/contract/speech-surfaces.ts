import type { AudioFormat } from './values.ts';
import type { EndpointId } from './generated/endpoints.ts';
import type { ControlName } from './generated/speech-controls.ts';

/** The v3 name of a field in a speech request. */
export type SpeechField =
  | 'text'
  | 'voiceId'
  | 'modelId'
  | 'format'
  | 'pronunciations'
  | ControlName;

/** Describes an endpoint for synchronous speech: which fields and options it supports (docs/api/README.md). */
export interface SpeechSurface {
  readonly endpoint: EndpointId;
  readonly formats: readonly AudioFormat[];
  /** Path of each supported field in the request body, such as `prosody.speed` for `speed`. */
  readonly fields: Readonly<Partial<Record<SpeechField, string>>>;
  /** The request header that names the model, if the request body has no field for the model. */
  readonly modelHeader?: string;
  readonly isModelRequired: boolean;
  /** Whether the endpoint can store the audio and return a URL (`cache`, docs/api/speech.md#v1). */
  readonly canCache: boolean;
  /** Whether a response header lists the speech controls that the service did not apply. */
  readonly listsIgnored: boolean;
}

const OWN_FIELDS = {
  text: 'text',
  voiceId: 'voiceId',
  modelId: 'modelId',
  format: 'format',
  speed: 'speed',
  volume: 'volume',
  pitch: 'pitch',
  stability: 'stability',
  similarity: 'similarity',
  language: 'language',
  emotion: 'emotion',
  instruction: 'instruction',
  textNormalization: 'textNormalization',
  filterEmoji: 'filterEmoji',
  pronunciations: 'pronunciations',
} as const satisfies Record<SpeechField, string>;

const OWN = {
  formats: ['mp3', 'wav', 'ogg'],
  fields: OWN_FIELDS,
  isModelRequired: false,
} as const;

const COMPAT = { formats: ['mp3', 'wav', 'pcm'], canCache: false, listsIgnored: false } as const;

/** The endpoints for synchronous speech, by the names that `foley tts --api` accepts. */
export const SPEECH_SURFACES = {
  v3: { ...OWN, endpoint: 'createSpeech', canCache: false, listsIgnored: true },
  v2: { ...OWN, endpoint: 'createSpeechV2', canCache: false, listsIgnored: false },
  v1: { ...OWN, endpoint: 'createSpeechV1', canCache: true, listsIgnored: false },
  'compat-tts': {
    ...COMPAT,
    endpoint: 'createCompatTts',
    fields: {
      text: 'text',
      voiceId: 'reference_id',
      format: 'format',
      speed: 'prosody.speed',
      stability: 'temperature',
      similarity: 'top_p',
      textNormalization: 'normalize',
    },
    modelHeader: 'model',
    isModelRequired: false,
  },
  'compat-speech': {
    ...COMPAT,
    endpoint: 'createCompatSpeech',
    fields: {
      text: 'input',
      voiceId: 'voice',
      modelId: 'model',
      format: 'response_format',
      speed: 'speed',
    },
    isModelRequired: true,
  },
} as const satisfies Record<string, SpeechSurface>;

export type SurfaceName = keyof typeof SPEECH_SURFACES;
