import type { EndpointId } from '../../contract/endpoints.ts';
import {
  MediaModels,
  MediaModelsQuery,
  ImageJob,
  ImageRequest,
  VideoJob,
  VideoRequest,
} from '../../contract/media.ts';
import type { OperationDescription } from './operation-description.ts';
import { BODY_ERRORS } from './operation-description.ts';

/** A create may fail for its references before anything is charged (docs/api/errors.md). */
const ACCEPT_ERRORS = [
  ...BODY_ERRORS,
  'ERR_MEDIA_URL_REFUSED',
  'ERR_INSUFFICIENT_CREDITS',
  'ERR_REQUEST_ID_CONFLICT',
  'ERR_MEDIA_TOO_LARGE',
  'ERR_MEDIA_UNSUPPORTED',
  'ERR_MEDIA_UNREACHABLE',
  'ERR_MEDIA_UNREADABLE',
  'ERR_MODEL_UNAVAILABLE',
  'ERR_MEDIA_IMPORT_UNAVAILABLE',
  'ERR_MEDIA_DOWNLOAD_TIMEOUT',
] as const;

/** The description of every endpoint of images and videos. */
export const PICTURE_OPERATIONS = {
  getMediaModels: {
    summary: 'Models of images and videos, with the price of each variant',
    tag: 'Media',
    query: MediaModelsQuery,
    success: MediaModels,
    errors: ['ERR_INVALID_REQUEST'],
  },
  createImageJob: {
    summary: 'Accept an image to be made; the same key gives the same answer',
    tag: 'Media',
    body: ImageRequest,
    success: ImageJob,
    isAccepted: true,
    errors: ACCEPT_ERRORS,
  },
  getImageJob: {
    summary: 'How far an image is, and where it is',
    tag: 'Media',
    success: ImageJob,
    errors: ['ERR_JOB_NOT_FOUND'],
  },
  createVideoJob: {
    summary: 'Accept a video to be made; the same key gives the same answer',
    tag: 'Media',
    body: VideoRequest,
    success: VideoJob,
    isAccepted: true,
    errors: ACCEPT_ERRORS,
  },
  getVideoJob: {
    summary: 'How far a video is, and where it is',
    tag: 'Media',
    success: VideoJob,
    errors: ['ERR_JOB_NOT_FOUND'],
  },
} as const satisfies Partial<Record<EndpointId, OperationDescription>>;
