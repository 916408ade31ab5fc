import type { EndpointId } from '../../contract/endpoints.ts';
import {
  AudioQuery,
  Job,
  JobAccepted,
  JobList,
  JobListQuery,
  JobListQueryV1,
  JobListV1,
  JobRequestV1,
  JobV1,
  SignedAudioQuery,
} from '../../contract/jobs.ts';
import { SpeechRequest } from '../../contract/speech.ts';
import type { OperationDescription } from './operation-description.ts';
import { BODY_ERRORS } from './operation-description.ts';

const ACCEPT_ERRORS = [
  ...BODY_ERRORS,
  'ERR_INSUFFICIENT_CREDITS',
  'ERR_VOICE_NOT_FOUND',
  'ERR_REQUEST_ID_CONFLICT',
  'ERR_MODEL_UNAVAILABLE',
] as const;

const AUDIO_ERRORS = ['ERR_INVALID_REQUEST', 'ERR_JOB_NOT_FOUND', 'ERR_AUDIO_NOT_FOUND'] as const;

/** The description of every endpoint of speech jobs. */
export const JOB_OPERATIONS = {
  createJob: {
    summary: 'Accept a text to be spoken; the same key gives the same job',
    tag: 'Speech',
    body: SpeechRequest,
    success: JobAccepted,
    isAccepted: true,
    errors: ACCEPT_ERRORS,
  },
  listJobs: {
    summary: 'Jobs, the newest first, a page at a time',
    tag: 'Speech',
    query: JobListQuery,
    success: JobList,
    errors: ['ERR_INVALID_REQUEST'],
  },
  getJob: {
    summary: 'How far a job is',
    tag: 'Speech',
    success: Job,
    errors: ['ERR_JOB_NOT_FOUND'],
  },
  getJobAudio: {
    summary: 'The audio of a job',
    tag: 'Speech',
    query: AudioQuery,
    success: 'stored-audio',
    errors: AUDIO_ERRORS,
  },
  getJobSegment: {
    summary: 'The audio of one segment of a job, as soon as it is spoken',
    tag: 'Speech',
    query: AudioQuery,
    success: 'stored-audio',
    errors: AUDIO_ERRORS,
  },
  createJobV1: {
    summary: 'Accept a text to be spoken, for clients of v1; the request id is the idempotency key',
    tag: 'Speech',
    body: JobRequestV1,
    success: JobV1,
    isAccepted: true,
    errors: ACCEPT_ERRORS,
  },
  listJobsV1: {
    summary: 'Jobs, the newest first, a page at a time, for clients of v1',
    tag: 'Speech',
    query: JobListQueryV1,
    success: JobListV1,
    errors: ['ERR_INVALID_REQUEST'],
  },
  getJobV1: {
    summary: 'How far a job is, for clients of v1',
    tag: 'Speech',
    success: JobV1,
    errors: ['ERR_JOB_NOT_FOUND'],
  },
  getTaskAudio: {
    summary: 'The way to the audio of a job, for clients of v1',
    tag: 'Speech',
    query: AudioQuery,
    success: 'redirect',
    errors: AUDIO_ERRORS,
  },
  getSignedAudio: {
    summary: 'The audio of a job, for whoever was given this address, for a while',
    tag: 'Speech',
    query: SignedAudioQuery,
    success: 'stored-audio',
    errors: [...AUDIO_ERRORS, 'ERR_FORBIDDEN'],
  },
} as const satisfies Partial<Record<EndpointId, OperationDescription>>;
