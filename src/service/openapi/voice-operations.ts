import type { EndpointId } from '../../contract/endpoints.ts';
import {
  VoiceCreated,
  VoiceCreatedV3,
  VoiceDeleted,
  VoiceDeletion,
  VoiceUpload,
  VoiceListV1,
  VoiceListV1Query,
  VoiceAnswer,
  VoiceList,
  VoiceListQuery,
} from '../../contract/voices.ts';
import {
  VoiceDesign,
  VoiceDesignRequest,
  VoiceDesignSave,
  VoiceDesignSaved,
} from '../../contract/voice-design.ts';
import type { OperationDescription } from './operation-description.ts';
import { BODY_ERRORS } from './operation-description.ts';

const UPLOAD = {
  tag: 'Voices',
  body: VoiceUpload,
  bodyType: 'multipart/form-data',
  errors: [...BODY_ERRORS, 'ERR_VOICE_LIMIT_REACHED'],
} as const;

const DELETE_ERRORS = ['ERR_VOICE_NOT_FOUND', 'ERR_VOICE_IN_USE'] as const;

const KEY_ERRORS = [
  'ERR_REQUEST_ID_CONFLICT',
  'ERR_REQUEST_ALREADY_COMPLETED',
  'ERR_REQUEST_PREVIOUSLY_REFUNDED',
] as const;

const NO_CANDIDATE = ['ERR_DESIGN_NOT_FOUND', 'ERR_CANDIDATE_NOT_FOUND'] as const;

/** The description of every endpoint of voices and voice designs. */
export const VOICE_OPERATIONS = {
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
    isBodyOptional: true,
    success: VoiceListV1,
    errors: BODY_ERRORS,
  },
  createVoice: {
    ...UPLOAD,
    summary: 'Make a voice of the pitch and timbre of reference audio, for clients of v1',
    success: VoiceCreated,
  },
  createVoiceV3: {
    ...UPLOAD,
    summary: 'Make a voice of the pitch and timbre of reference audio',
    success: VoiceCreatedV3,
  },
  createModel: {
    ...UPLOAD,
    summary: 'Make a voice of reference audio, as clients from before v1 ask for it',
    success: VoiceCreated,
  },
  deleteVoice: {
    summary: 'Delete a voice of the account, for clients of v1',
    tag: 'Voices',
    success: VoiceDeleted,
    errors: DELETE_ERRORS,
  },
  deleteVoiceV3: {
    summary: 'Delete a voice of the account',
    tag: 'Voices',
    success: VoiceDeleted,
    errors: DELETE_ERRORS,
  },
  deleteModel: {
    summary: 'Delete a voice of the account, as clients from before v1 ask for it',
    tag: 'Voices',
    body: VoiceDeletion,
    success: VoiceDeleted,
    errors: [...BODY_ERRORS, ...DELETE_ERRORS],
  },
  createVoiceDesign: {
    summary: 'Three voices made of what words say, for a while; the same key gives the same ones',
    tag: 'Voices',
    body: VoiceDesignRequest,
    success: VoiceDesign,
    errors: [...BODY_ERRORS, ...KEY_ERRORS, 'ERR_INSUFFICIENT_CREDITS', 'ERR_GENERATION_FAILED'],
  },
  getCandidateAudio: {
    summary: 'What a candidate of a design sounds like',
    tag: 'Voices',
    success: 'preview',
    errors: NO_CANDIDATE,
  },
  saveVoiceDesign: {
    summary: 'Keep a candidate of a design as a voice of the account',
    tag: 'Voices',
    body: VoiceDesignSave,
    success: VoiceDesignSaved,
    errors: [...BODY_ERRORS, ...KEY_ERRORS, ...NO_CANDIDATE, 'ERR_VOICE_LIMIT_REACHED'],
  },
} as const satisfies Partial<Record<EndpointId, OperationDescription>>;
