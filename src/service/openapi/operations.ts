import type { TObject } from 'typebox';
import type { EndpointId } from '../../contract/endpoints.ts';
import { Capabilities } from '../../contract/schemas/model.ts';
import { Profile, ProfileUpdate } from '../../contract/schemas/profile.ts';
import { SpeechRequest } from '../../contract/schemas/speech.ts';
import { VoiceAnswer, VoiceList, VoiceListQuery } from '../../contract/schemas/voice.ts';
import type { ServiceErrorCode } from '../../contract/service-errors.ts';

/** What an endpoint takes and gives, for the document. */
export interface OperationDescription {
  readonly summary: string;
  readonly tag: 'Speech' | 'Voices' | 'Account' | 'Service';
  readonly query?: TObject;
  readonly body?: TObject;
  /** The JSON of a success; `audio` for sound; nothing for JSON that has no schema. */
  readonly success: TObject | 'audio' | undefined;
  /** Errors besides those that any endpoint may give. */
  readonly errors: readonly ServiceErrorCode[];
  /** Takes an `Idempotency-Key`. */
  readonly isIdempotent?: boolean;
}

const BODY_ERRORS = [
  'ERR_INVALID_REQUEST',
  'ERR_PAYLOAD_TOO_LARGE',
  'ERR_UNSUPPORTED_MEDIA_TYPE',
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
    errors: [
      ...BODY_ERRORS,
      'ERR_INSUFFICIENT_CREDITS',
      'ERR_VOICE_NOT_FOUND',
      'ERR_REQUEST_ID_CONFLICT',
      'ERR_REQUEST_IN_PROGRESS',
      'ERR_REQUEST_ALREADY_COMPLETED',
      'ERR_REQUEST_PREVIOUSLY_REFUNDED',
      'ERR_GENERATION_FAILED',
      'ERR_MODEL_UNAVAILABLE',
    ],
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
  getHealth: {
    summary: 'Whether the service answers',
    tag: 'Service',
    success: undefined,
    errors: [],
  },
};
