import type { EndpointId } from '../../contract/endpoints.ts';
import { Capabilities } from '../../contract/models.ts';
import { Profile, ProfileUpdate } from '../../contract/account.ts';
import {
  CompatModel,
  CompatModels,
  CompatSpeechRequest,
  CompatTtsRequest,
  CompatVoices,
} from '../../contract/other-clients.ts';
import { SignedAudioQuery } from '../../contract/jobs.ts';
import {
  CachedSpeech,
  SpeechRequestV1,
  SpeechRequestV2,
  SpeechRequest,
} from '../../contract/speech.ts';
import { MESSAGE_PACK } from '../http/request.ts';
import { compatSpeechContent } from './event-stream.ts';
import { JOB_OPERATIONS } from './job-operations.ts';
import { MEDIA_OPERATIONS } from './media-operations.ts';
import type { OperationDescription } from './operation-description.ts';
import { BODY_ERRORS, KEYED_SPEECH_ERRORS, PAID_ERRORS } from './operation-description.ts';
import { PICTURE_OPERATIONS } from './picture-operations.ts';
import { REALTIME_OPERATIONS } from './realtime-operations.ts';
import { schemaOrReference } from './schemas.ts';
import { VOICE_OPERATIONS } from './voice-operations.ts';

/** The description of every endpoint of the contract. */
export const OPERATIONS: Readonly<Record<EndpointId, OperationDescription>> = {
  ...JOB_OPERATIONS,
  ...MEDIA_OPERATIONS,
  ...PICTURE_OPERATIONS,
  ...REALTIME_OPERATIONS,
  ...VOICE_OPERATIONS,
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
    surface: 'v3',
    errors: KEYED_SPEECH_ERRORS,
  },
  createAlignedSpeech: {
    summary: 'Speak a text; its audio and the times of its words leave while it is spoken',
    tag: 'Speech',
    body: SpeechRequest,
    success: 'events',
    errors: KEYED_SPEECH_ERRORS,
  },
  createSpeechV2: {
    summary: 'Speak a text, for clients of v2; the request id is the idempotency key',
    tag: 'Speech',
    body: SpeechRequestV2,
    success: 'audio',
    surface: 'v2',
    errors: KEYED_SPEECH_ERRORS,
  },
  createSpeechV1: {
    summary: 'Speak a text, for clients of v1; with cache, answer with the address of the audio',
    tag: 'Speech',
    body: SpeechRequestV1,
    success: 'audio',
    otherContent: { 'application/json': { schema: schemaOrReference(CachedSpeech) } },
    surface: 'v1',
    errors: KEYED_SPEECH_ERRORS,
  },
  getCachedAudio: {
    summary: 'The audio at the address of a cached answer; the address is the permission',
    tag: 'Speech',
    query: SignedAudioQuery,
    success: 'stored-audio',
    errors: ['ERR_INVALID_REQUEST', 'ERR_FORBIDDEN', 'ERR_AUDIO_NOT_FOUND'],
  },
  createCompatTts: {
    summary: 'Speak a text, for clients of another interface',
    tag: 'Compatibility',
    body: CompatTtsRequest,
    otherBodyType: MESSAGE_PACK,
    success: 'audio',
    surface: 'compat-tts',
    errors: [...PAID_ERRORS, 'ERR_MODEL_UNAVAILABLE'],
  },
  createCompatSpeech: {
    summary: 'Speak a text, for clients of another interface',
    tag: 'Compatibility',
    body: CompatSpeechRequest,
    success: 'audio',
    otherContent: compatSpeechContent(),
    surface: 'compat-speech',
    errors: [...PAID_ERRORS, 'ERR_MODEL_UNAVAILABLE'],
  },
  listCompatVoices: {
    summary: 'The ids of all voices, for clients of another interface',
    tag: 'Compatibility',
    success: CompatVoices,
    errors: [],
  },
  listCompatModels: {
    summary: 'Models that are available, for clients of another interface',
    tag: 'Compatibility',
    success: CompatModels,
    errors: [],
  },
  getCompatModel: {
    summary: 'One model, for clients of another interface',
    tag: 'Compatibility',
    success: CompatModel,
    errors: ['ERR_NOT_FOUND'],
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
