import { answerFields } from '../answer-fields.ts';
import type { Behaviour } from '../behaviour.ts';
import { created, list, polled, V1, V3 } from './job-calls.ts';

const ITEM = [
  ['items.0.taskId', 'id', 'job id'],
  ['items.0.status', 'string', 'one of 3.1'],
  ['items.0.characters', 'integer', 'how long the text is'],
  ['items.0.textPreview', 'string', 'first 80 characters'],
  ['items.0.textFingerprint', 'string', '`sha256:` and the digest of the exact text'],
  ['items.0.voiceId', 'id', 'the voice'],
  ['items.0.creditsUsed', 'number', 'what it cost'],
  ['items.0.createdAt', 'instant', 'when it was accepted'],
  ['items.0.audioUrl', 'null or string', 'where the audio is'],
] as const;
const PAGES = [
  ['items', 'list', 'the newest first'],
  ['pagination', 'object', 'which page this is'],
  ['pagination.page', 'integer', 'from 1'],
  ['pagination.limit', 'integer', 'jobs a page'],
  ['pagination.hasMore', 'boolean', 'whether another page follows'],
  ['pagination.nextPage', 'null or integer', 'its number, or null'],
  ['requestId', 'id', 'trace id'],
] as const;

/** Every field of every answer about a job (spec sections 2.4 and 2.5). */
export const jobFields: readonly Behaviour[] = [
  ...answerFields(
    {
      of: 'JobAccepted',
      section: '2.5',
      on: `POST ${V3}`,
      spends: true,
      sample: (service) => created(service, V3),
    },
    [
      ['task', 'object', 'the job'],
      ['task.taskId', 'id', 'its id'],
      ['task.status', 'string', 'one of 3.1'],
      ['task.voiceId', 'id', 'the voice'],
      ['task.modelId', 'id', 'the model'],
      ['requestId', 'id', 'trace id'],
      ['quotaRemaining', 'integer', 'what is left'],
      ['creditsUsed', 'number', 'what was set aside'],
      ['ignoredParameters', 'string[]', 'controls that are not applied'],
    ],
  ),
  ...answerFields(
    {
      of: 'JobV1',
      section: '2.4',
      on: `GET ${V1}/{taskId}`,
      spends: true,
      sample: (service) => polled(service, V1),
    },
    [
      ['task', 'object', 'the job'],
      ['task.id', 'id', 'its id'],
      ['task.taskId', 'id', 'the same'],
      ['task.status', 'string', 'one of 3.1'],
      ['task.audioUrl', 'null or string', 'where the audio is'],
      ['task.delivery', 'object', 'how it can be had'],
      ['task.delivery.playbackUrl', 'null or string', 'to be played'],
      ['task.delivery.downloadUrl', 'null or string', 'to be saved'],
      ['task.delivery.downloadReady', 'boolean', 'whether it can'],
      ['task.segments', 'list', 'there once audio is ready'],
      ['task.segments.0.playbackUrl', 'null or string', 'the audio of a segment'],
      ['record', 'object', 'the job'],
      ['record.id', 'id', 'its id'],
      ['record.status', 'string', 'one of 3.1'],
      ['requestId', 'id', 'trace id'],
      ['quotaRemaining', 'integer', 'what is left'],
      ['creditsUsed', 'number', 'what it cost'],
    ],
  ),
  ...answerFields(
    {
      of: 'Job',
      section: '4.1',
      on: `GET ${V3}/{jobId}`,
      spends: true,
      sample: (service) => polled(service, V3),
    },
    [
      ['task', 'object', 'the job'],
      ['task.taskId', 'id', 'its id'],
      ['task.status', 'string', 'one of 3.1'],
      ['requestId', 'id', 'trace id'],
      ['quotaRemaining', 'integer', 'what is left'],
      ['creditsUsed', 'number', 'what it cost'],
      ['ignoredParameters', 'string[]', 'controls that are not applied'],
    ],
  ),
  ...answerFields(
    {
      of: 'JobList',
      section: '4.1',
      on: `GET ${V3}`,
      spends: true,
      sample: (service) => list(service, V3),
    },
    [...PAGES, ...ITEM, ['items.0.modelId', 'id', 'the model']],
  ),
  ...answerFields(
    {
      of: 'JobListV1',
      section: '2.4',
      on: `GET ${V1}`,
      spends: true,
      sample: (service) => list(service, V1),
    },
    [...PAGES, ...ITEM, ['items.0.engineModelId', 'id', 'the model']],
  ),
];
