import type { TObject } from 'typebox';
import type { EndpointId } from '../../contract/endpoints.ts';
import { Capabilities } from '../../contract/schemas/model.ts';
import { Profile, ProfileUpdate } from '../../contract/schemas/profile.ts';
import {
  CompatSpeechRequest,
  CompatTtsRequest,
  CompatVoices,
} from '../../contract/schemas/speech-compat.ts';
import { SpeechRequestV2 } from '../../contract/schemas/speech-v2.ts';
import { SpeechRequest } from '../../contract/schemas/speech.ts';
import { VoiceListV1, VoiceListV1Query } from '../../contract/schemas/voice-v1.ts';
import { VoiceAnswer, VoiceList, VoiceListQuery } from '../../contract/schemas/voice.ts';
import type { ServiceErrorCode } from '../../contract/service-errors.ts';
import type { SurfaceName } from '../../contract/speech-surfaces.ts';

/** What an endpoint takes and gives, for the document. */
export interface OperationDescription {
  readonly summary: string;
  readonly tag: 'Speech' | 'Voices' | 'Account' | 'Compatibility' | 'Service';
  readonly query?: TObject;
  readonly body?: TObject;
  /** The JSON of a success; `audio` for sound; nothing for JSON that has no schema. */
  readonly success: TObject | 'audio' | undefined;
  /** Errors besides those that any endpoint may give. */
  readonly errors: readonly ServiceErrorCode[];
  /** Takes an `Idempotency-Key`. */
  readonly isIdempotent?: boolean;
  /** Of synchronous speech: which formats and headers there are. */
  readonly surface?: SurfaceName;
}

const BODY_ERRORS = [
  'ERR_INVALID_REQUEST',
  'ERR_PAYLOAD_TOO_LARGE',
  'ERR_UNSUPPORTED_MEDIA_TYPE',
] as const;

const PAID_ERRORS = [...BODY_ERRORS, 'ERR_INSUFFICIENT_CREDITS', 'ERR_GENERATION_FAILED'] as const;

const KEYED_SPEECH_ERRORS = [
  ...PAID_ERRORS,
  'ERR_VOICE_NOT_FOUND',
  'ERR_REQUEST_ID_CONFLICT',
  'ERR_REQUEST_IN_PROGRESS',
  'ERR_REQUEST_ALREADY_COMPLETED',
  'ERR_REQUEST_PREVIOUSLY_REFUNDED',
  'ERR_MODEL_UNAVAILABLE',
] as const;

/** The description of every endpoint of the contract. */
export const OPERATIONS: Readonly<Record<EndpointId, OperationDescription>> = {
  getCapabilities: {
    summary: 'Models with their limits, formats and controls',
    tag: 'Speech',
    success: Capabilities,
    errors: [],
  },
  createSpeech: {
    summary: 'Speak a text; the audio leaves while it is spoken',
    tag: 'Speech',
    body: SpeechRequest,
    success: 'audio',
    isIdempotent: true,
    surface: 'v3',
    errors: KEYED_SPEECH_ERRORS,
  },
  createSpeechV2: {
    summary: 'Speak a text, for clients of v2; the request id is the idempotency key',
    tag: 'Speech',
    body: SpeechRequestV2,
    success: 'audio',
    isIdempotent: true,
    surface: 'v2',
    errors: KEYED_SPEECH_ERRORS,
  },
  createCompatTts: {
    summary: 'Speak a text, for clients of another interface',
    tag: 'Compatibility',
    body: CompatTtsRequest,
    success: 'audio',
    surface: 'compat-tts',
    errors: PAID_ERRORS,
  },
  createCompatSpeech: {
    summary: 'Speak a text, for clients of another interface',
    tag: 'Compatibility',
    body: CompatSpeechRequest,
    success: 'audio',
    surface: 'compat-speech',
    errors: PAID_ERRORS,
  },
  listCompatVoices: {
    summary: 'The ids of all voices, for clients of another interface',
    tag: 'Compatibility',
    success: CompatVoices,
    errors: [],
  },
  listVoices: {
    summary: 'Voices, a page at a time',
    tag: 'Voices',
    query: VoiceListQuery,
    success: VoiceList,
    errors: ['ERR_INVALID_REQUEST'],
  },
  getVoice: {
    summary: 'One voice',
    tag: 'Voices',
    success: VoiceAnswer,
    errors: ['ERR_VOICE_NOT_FOUND'],
  },
  listVoicesV1: {
    summary: 'Voices that fit, a page at a time',
    tag: 'Voices',
    query: VoiceListV1Query,
    success: VoiceListV1,
    errors: ['ERR_INVALID_REQUEST'],
  },
  listVoicesByPost: {
    summary: 'Voices that fit, as clients from before v1 ask for them',
    tag: 'Voices',
    body: VoiceListV1Query,
    success: VoiceListV1,
    errors: BODY_ERRORS,
  },
  getProfile: {
    summary: 'Account, credits and quota',
    tag: 'Account',
    success: Profile,
    errors: [],
  },
  updateProfile: {
    summary: 'Change the webhook address',
    tag: 'Account',
    body: ProfileUpdate,
    success: Profile,
    errors: BODY_ERRORS,
  },
  getOpenApi: {
    summary: 'This document',
    tag: 'Service',
    success: undefined,
    errors: [],
  },
  getOpenApiV1: {
    summary: 'This document, for clients of v1',
    tag: 'Service',
    success: undefined,
    errors: [],
  },
  getHealth: {
    summary: 'Whether the service answers',
    tag: 'Service',
    success: undefined,
    errors: [],
  },
};
