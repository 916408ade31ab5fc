import { Type } from 'typebox';
import type { Static } from 'typebox';
import { named, QuotaRemaining, RequestId, strict } from './schemas.ts';
import { FAMILIES } from './families.ts';
import type { Endpoint } from './endpoint.ts';
import { PAID_ERRORS } from './endpoint.ts';
import {
  EMOTION_MAX_CHARACTERS,
  INSTRUCTION_MAX_CHARACTERS,
  LANGUAGE_MAX_CHARACTERS,
  PITCH_RANGE,
  SIMILARITY_RANGE,
  SPEED_RANGE,
  STABILITY_RANGE,
  PHONEMES_MAX_CHARACTERS,
  PRONOUNCED_WORD_MAX_CHARACTERS,
  PRONUNCIATIONS_MAX,
  TEXT_MAX_CHARACTERS,
  VOLUME_RANGE,
} from './limits.ts';

export const SPEECH_FORMATS = ['mp3', 'wav', 'ogg'] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

function withRanges(name: 'speed' | 'stability' | 'similarity', description: string): string {
  const widest = { speed: SPEED_RANGE, stability: STABILITY_RANGE, similarity: SIMILARITY_RANGE }[
    name
  ];
  const narrower = FAMILIES.filter(({ ranges: { [name]: range } }) => {
    return range.minimum > widest.minimum || range.maximum < widest.maximum;
  });
  const parts = narrower.map(({ id, ranges: { [name]: range } }) => {
    return `${range.minimum} to ${range.maximum} with ${id} models`;
  });
  return parts.length === 0 ? description : `${description} (only ${parts.join(', ')})`;
}

/**
 * The controls of a speech request (docs/api/speech.md#v3). The schema accepts the widest range of any model. Narrower
 * ranges of a model family are checked when the model is known.
 */
export const SpeechControls = Type.Object({
  speed: Type.Optional(
    Type.Number({
      ...SPEED_RANGE,
      default: 1,
      description: withRanges('speed', 'Speaking rate as a factor'),
    }),
  ),
  volume: Type.Optional(
    Type.Number({ ...VOLUME_RANGE, default: 0, description: 'Gain in decibels' }),
  ),
  pitch: Type.Optional(
    Type.Number({ ...PITCH_RANGE, default: 0, description: 'Pitch shift in semitones' }),
  ),
  stability: Type.Optional(
    Type.Number({
      ...STABILITY_RANGE,
      description: withRanges('stability', 'Consistency of the delivery'),
    }),
  ),
  similarity: Type.Optional(
    Type.Number({
      ...SIMILARITY_RANGE,
      description: withRanges('similarity', 'Similarity to the original voice'),
    }),
  ),
  language: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LANGUAGE_MAX_CHARACTERS,
      description: 'Language hint, such as en or pt-BR',
    }),
  ),
  emotion: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: EMOTION_MAX_CHARACTERS,
      description: 'Emotion id for the entire text',
    }),
  ),
  instruction: Type.Optional(
    Type.String({
      maxLength: INSTRUCTION_MAX_CHARACTERS,
      description: 'How to speak: style, dialect, role or mood',
    }),
  ),
  textNormalization: Type.Optional(
    Type.Boolean({ description: 'Speak numbers, dates and units as words' }),
  ),
  filterEmoji: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Leave out decorative kaomoji such as (•_•) (experimental)',
    }),
  ),
});
export type SpeechControls = Static<typeof SpeechControls>;
export type ControlName = keyof SpeechControls;

/** A word or phrase, and the phonemes with which a voice speaks it. */
export const Pronunciation = strict('Pronunciation', {
  word: Type.String({
    minLength: 1,
    maxLength: PRONOUNCED_WORD_MAX_CHARACTERS,
    description: 'A word or phrase of the text',
  }),
  phonemes: Type.String({
    minLength: 1,
    maxLength: PHONEMES_MAX_CHARACTERS,
    description: 'Its pronunciation in the International Phonetic Alphabet',
  }),
});
export type Pronunciation = Static<typeof Pronunciation>;

/** Pronunciations of words in the text (docs/service.md#pronunciations). foley's own field: the API has none. */
export const Pronunciations = Type.Array(Pronunciation, {
  maxItems: PRONUNCIATIONS_MAX,
  description: 'Pronunciations of words in the text (embedded service only)',
});

/** Strict body of the v3 speech requests (docs/api/speech.md#v3): unknown properties are refused. */
export const SpeechRequest = strict('SpeechRequest', {
  text: Type.String({
    minLength: 1,
    maxLength: TEXT_MAX_CHARACTERS,
    description: 'Text to speak',
  }),
  voiceId: Type.String({ minLength: 1, description: 'Voice id, from the voice list' }),
  modelId: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Model id (by default, the default model of the voice)',
    }),
  ),
  format: Type.Optional(
    Type.Enum([...SPEECH_FORMATS], { default: 'mp3', description: 'Audio format' }),
  ),
  ...SpeechControls.properties,
  pronunciations: Type.Optional(Pronunciations),
});
export type SpeechRequest = Static<typeof SpeechRequest>;

// Only older clients send these fields; any value is accepted.
const HistoricalFields = {
  engineModelId: Type.Optional(
    Type.Unknown({ description: 'Old name of modelId (used if modelId is missing)' }),
  ),
  version: Type.Optional(Type.Unknown({ description: 'Not used' })),
  qwenModel: Type.Optional(Type.Unknown({ description: 'Not used' })),
  minimaxEmotion: Type.Optional(Type.Unknown({ description: 'Old name of the field emotion' })),
  token: Type.Optional(
    Type.Unknown({ description: 'Ignored: only the Authorization header authenticates' }),
  ),
};

export const SpeechRequestV2 = named('SpeechRequestV2', {
  ...SpeechRequest.properties,
  ...HistoricalFields,
});

const { voiceId, ...others } = SpeechRequest.properties;

export const SpeechRequestV1 = named('SpeechRequestV1', {
  ...others,
  voiceId: Type.Optional(voiceId),
  reference_id: Type.Optional(
    Type.String({ minLength: 1, description: 'Older name of voiceId (send one of the two)' }),
  ),
  cache: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'true: store the audio and return JSON with its URL',
    }),
  ),
});

export type SpeechRequestV1 = Static<typeof SpeechRequestV1>;

export const CachedSpeech = named('CachedSpeech', {
  audio_url: Type.String({ format: 'uri', description: 'URL of the audio, which expires' }),
  credits_used: Type.Number({ description: 'Credits charged for the speech' }),
  quota_remaining: QuotaRemaining,
});
export type CachedSpeech = Static<typeof CachedSpeech>;

// `partial`: some chunks have no word times.
const ALIGNMENT_STATUSES = ['complete', 'partial'] as const;
export type AlignmentStatus = (typeof ALIGNMENT_STATUSES)[number];

const ChunkSeq = Type.Integer({
  minimum: 0,
  description: 'Number of the text chunk, from 0',
});

/** Data of the event `audio` in a stream of speech with word times. */
export const AlignedAudio = named('AlignedAudio', {
  audioBase64: Type.String({ description: 'The next bytes of the audio file in Base64' }),
});

/** A word in the event `alignment_snapshot`, with its times relative to the start of the whole audio. */
export const AlignedWord = named('AlignedWord', {
  text: Type.String({ description: 'The word as written in the submitted text' }),
  startMs: Type.Number({
    minimum: 0,
    description: 'Start of the word, in milliseconds from the start of the whole audio',
  }),
  endMs: Type.Number({
    minimum: 0,
    description: 'End of the word, in milliseconds from the start of the whole audio',
  }),
});
export type AlignedWord = Static<typeof AlignedWord>;

/** Data of the event `alignment_snapshot`, which replaces earlier snapshots of the same chunk. */
export const AlignmentSnapshot = named('AlignmentSnapshot', {
  chunkSeq: ChunkSeq,
  units: Type.Literal('milliseconds', { description: 'Unit of startMs and endMs' }),
  words: Type.Array(AlignedWord, { description: 'Words of the text chunk, with their times' }),
});
export type AlignmentSnapshot = Static<typeof AlignmentSnapshot>;

/** Data of the event `alignment_invalidated`: the chunk has no word times, but the chunk's audio is valid. */
export const AlignmentInvalidated = named('AlignmentInvalidated', { chunkSeq: ChunkSeq });
export type AlignmentInvalidated = Static<typeof AlignmentInvalidated>;

/** Data of the event `completed`, which ends a successful stream. */
export const AlignedCompleted = named('AlignedCompleted', {
  requestId: RequestId,
  generationId: Type.String({ description: 'Id of the generated speech' }),
  alignmentStatus: Type.Enum([...ALIGNMENT_STATUSES], {
    description: 'complete (every text chunk has word times) or partial (some chunks have none)',
  }),
  quotaRemaining: QuotaRemaining,
  creditsUsed: Type.Number({ minimum: 0, description: 'Credits charged for the speech' }),
});
export type AlignedCompleted = Static<typeof AlignedCompleted>;

/** Data of the event `error`, which ends a stream that failed after its first byte. */
export const AlignedError = named('AlignedError', {
  requestId: RequestId,
  code: Type.String({ description: 'Stable error code' }),
  message: Type.Optional(
    Type.String({ description: 'Error message for humans (sent only by the embedded service)' }),
  ),
});
export type AlignedError = Static<typeof AlignedError>;

export const AudioQuery = strict('AudioQuery', {
  download: Type.Optional(
    Type.Enum(['0', '1'], {
      description: '1: send the audio as an attachment, which browsers save as a file',
    }),
  ),
});

/** Query of a signed audio link, which needs no API key. The API documents no parameters; foley defines them itself. */
export const SignedAudioQuery = strict('SignedAudioQuery', {
  expires: Type.Integer({
    minimum: 0,
    description: 'Time when the URL expires, in seconds since 1970 (Unix time)',
  }),
  signature: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'Signature that the service adds to the URL, so that no API key is needed',
  }),
  ...AudioQuery.properties,
});

const ALIGNED_EVENTS = {
  audio: AlignedAudio,
  alignment_snapshot: AlignmentSnapshot,
  alignment_invalidated: AlignmentInvalidated,
  completed: AlignedCompleted,
  error: AlignedError,
} as const;

const SYNCHRONOUS_SPEECH = {
  method: 'POST',
  charges: 'characters',
  repeat: 'refuse',
  errors: [
    ...PAID_ERRORS,
    'ERR_VOICE_NOT_FOUND',
    'ERR_REQUEST_ID_CONFLICT',
    'ERR_REQUEST_IN_PROGRESS',
    'ERR_REQUEST_ALREADY_COMPLETED',
    'ERR_REQUEST_PREVIOUSLY_REFUNDED',
    'ERR_MODEL_UNAVAILABLE',
  ],
} as const;

/** The endpoints for synchronous speech (docs/api/speech.md). */
export const SPEECH_ENDPOINTS = [
  {
    ...SYNCHRONOUS_SPEECH,
    id: 'createSpeech',
    path: '/api/open/v3/speech/tts',
    section: 'speech#v3',
    summary: 'Speak a text and stream its audio',
    body: SpeechRequest,
    success: 'audio',
    surface: 'v3',
  },
  {
    ...SYNCHRONOUS_SPEECH,
    id: 'createAlignedSpeech',
    path: '/api/open/v3/speech/tts/aligned',
    section: 'speech#aligned-stream',
    summary: 'Speak a text and stream its audio and word times',
    body: SpeechRequest,
    success: 'events',
    events: ALIGNED_EVENTS,
  },
  {
    ...SYNCHRONOUS_SPEECH,
    id: 'createSpeechV2',
    path: '/api/open/v2/speech/tts',
    section: 'speech#v2',
    isKeyedByRequestId: true,
    summary: 'Speak a text (v2, with `X-Request-Id` as the idempotency key)',
    body: SpeechRequestV2,
    success: 'audio',
    surface: 'v2',
  },
  {
    ...SYNCHRONOUS_SPEECH,
    id: 'createSpeechV1',
    path: '/api/open/v1/speech/tts',
    section: 'speech#v1',
    isKeyedByRequestId: true,
    summary: 'Speak a text (v1): return the audio, or its URL with `cache: true`',
    body: SpeechRequestV1,
    success: 'audio',
    otherSuccess: CachedSpeech,
    surface: 'v1',
  },
  {
    id: 'getCachedAudio',
    method: 'GET',
    path: '/api/open/tts/cached/{audioId}',
    public: true,
    section: 'ours',
    summary: 'Download cached audio by its signed URL',
    query: SignedAudioQuery,
    success: 'stored-audio',
    errors: ['ERR_INVALID_REQUEST', 'ERR_FORBIDDEN', 'ERR_AUDIO_NOT_FOUND'],
  },
] as const satisfies readonly Endpoint[];
