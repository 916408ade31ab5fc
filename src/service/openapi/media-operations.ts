import type { EndpointId } from '../../contract/endpoints.ts';
import {
  DubbingAccepted,
  DubbingAnswer,
  DubbingRequest,
  LipSyncAccepted,
  LipSyncAnswer,
  LipSyncList,
  LipSyncListQuery,
  LipSyncQuery,
  LipSyncRequest,
} from '../../contract/lip-sync.ts';
import { SignedAudioQuery } from '../../contract/jobs.ts';
import type { OperationDescription } from './operation-description.ts';
import { BODY_ERRORS } from './operation-description.ts';

/** What fails before anything is charged (docs/api/errors.md). */
const IMPORT_ERRORS = [
  ...BODY_ERRORS,
  'ERR_MEDIA_URL_REFUSED',
  'ERR_INSUFFICIENT_CREDITS',
  'ERR_MEDIA_TOO_LARGE',
  'ERR_MEDIA_UNSUPPORTED',
  'ERR_MEDIA_UNREACHABLE',
  'ERR_MEDIA_UNREADABLE',
  'ERR_MEDIA_IMPORT_UNAVAILABLE',
  'ERR_LIP_SYNC_MEDIA_DOWNLOAD_TIMEOUT',
] as const;

/** The description of every endpoint of lip sync and dubbing, and of what media jobs made. */
export const MEDIA_OPERATIONS = {
  createLipSync: {
    summary: 'Replace the sound of a video by another, once both were imported',
    tag: 'Media',
    body: LipSyncRequest,
    success: LipSyncAccepted,
    isAccepted: true,
    errors: IMPORT_ERRORS,
  },
  createLipSyncLegacy: {
    summary: 'The same, for clients from before v1',
    tag: 'Media',
    body: LipSyncRequest,
    success: LipSyncAccepted,
    isAccepted: true,
    errors: IMPORT_ERRORS,
  },
  listLipSync: {
    summary: 'Lip syncs, the newest first, a page at a time',
    tag: 'Media',
    query: LipSyncListQuery,
    success: LipSyncList,
    errors: ['ERR_INVALID_REQUEST'],
  },
  listLipSyncLegacy: {
    summary: 'The same, for clients from before v1',
    tag: 'Media',
    query: LipSyncListQuery,
    success: LipSyncList,
    errors: ['ERR_INVALID_REQUEST'],
  },
  getLipSync: {
    summary: 'How far a lip sync is, and where its result is',
    tag: 'Media',
    success: LipSyncAnswer,
    errors: ['ERR_JOB_NOT_FOUND'],
  },
  getLipSyncLegacy: {
    summary: 'The same, for clients from before v1',
    tag: 'Media',
    query: LipSyncQuery,
    success: LipSyncAnswer,
    errors: ['ERR_INVALID_REQUEST', 'ERR_JOB_NOT_FOUND'],
  },
  createDubbing: {
    summary: 'Speak a text and put it in the place of the sound of a video',
    tag: 'Media',
    body: DubbingRequest,
    success: DubbingAccepted,
    isAccepted: true,
    errors: [
      ...IMPORT_ERRORS,
      'ERR_DUBBING_FIT_IMPOSSIBLE',
      'ERR_VOICE_NOT_FOUND',
      'ERR_REQUEST_ID_CONFLICT',
      'ERR_REQUEST_PREVIOUSLY_REFUNDED',
      'ERR_GENERATION_FAILED',
      'ERR_MODEL_UNAVAILABLE',
    ],
  },
  getDubbing: {
    summary: 'How far a dubbing is, what each of its parts cost, and where its result is',
    tag: 'Media',
    success: DubbingAnswer,
    errors: ['ERR_JOB_NOT_FOUND'],
  },
  getMediaFile: {
    summary: 'What a media job made, for whoever was given this address, for a while',
    tag: 'Media',
    query: SignedAudioQuery,
    success: 'stored-file',
    errors: ['ERR_INVALID_REQUEST', 'ERR_FORBIDDEN', 'ERR_MEDIA_NOT_FOUND'],
  },
} as const satisfies Partial<Record<EndpointId, OperationDescription>>;

/** What files of media jobs may be. */
export const MEDIA_FILE_TYPES = [
  'video/mp4',
  'audio/wav',
  'image/png',
  'image/jpeg',
  'image/webp',
] as const;
