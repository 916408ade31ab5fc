import { answerFields } from '../answer-fields.ts';
import type { Behaviour } from '../behaviour.ts';
import { at } from '../claims.ts';
import { created, list, polled, V1, V3 } from './job-calls.ts';

const ITEM = [
  ['taskId', 'id', 'job id'],
  ['status', 'status', 'one of 3.1'],
  ['characters', 'integer', 'how long the text is'],
  ['textPreview', 'string', 'first 80 characters'],
  ['textFingerprint', 'string', '`sha256:` and the digest of the exact text'],
  ['voiceId', 'id', 'the voice'],
  ['creditsUsed', 'number', 'what it cost'],
  ['createdAt', 'instant', 'when it was accepted'],
  ['audioUrl', 'null or string', 'where the audio is'],
] as const;
const LIST = [
  ['items', 'list', 'the newest first'],
  ['pagination', 'object', 'which page this is'],
  ['requestId', 'id', 'trace id'],
] as const;
const PAGE = [
  ['page', 'integer', 'from 1'],
  ['limit', 'integer', 'jobs a page'],
  ['hasMore', 'boolean', 'whether another page follows'],
  ['nextPage', 'null or integer', 'its number, or null'],
] as const;

/** Every field of every answer about a job (docs/api/jobs.md#v1 and docs/api/jobs.md#v3). */
export const jobFields: readonly Behaviour[] = [
  ...answerFields(
    {
      of: 'JobAccepted',
      section: 'jobs#v3',
      on: `POST ${V3}`,
      spends: true,
      sample: (service) => created(service, V3),
    },
    [
      ['task', 'object', 'the job'],
      ['task.taskId', 'id', 'its id'],
      ['task.status', 'status', 'one of 3.1'],
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
      section: 'jobs#v1',
      on: `GET ${V1}/{taskId}`,
      spends: true,
      sample: (service) => polled(service, V1),
    },
    [
      ['task', 'object', 'the job'],
      ['task.id', 'id', 'its id'],
      ['task.taskId', 'id', 'the same'],
      ['task.status', 'status', 'one of 3.1'],
      ['task.audioUrl', 'null or string', 'where the audio is'],
      ['task.delivery', 'object', 'how it can be had'],
      ['task.delivery.playbackUrl', 'null or string', 'to be played'],
      ['task.delivery.downloadUrl', 'null or string', 'to be saved'],
      ['task.delivery.downloadReady', 'boolean', 'whether it can'],
      ['task.segments', 'list', 'there once audio is ready'],
      ['task.segments.0.playbackUrl', 'null or string', 'the audio of a segment'],
      ['record', 'object', 'the job'],
      ['record.id', 'id', 'its id'],
      ['record.status', 'status', 'one of 3.1'],
      ['requestId', 'id', 'trace id'],
      ['quotaRemaining', 'integer', 'what is left'],
      ['creditsUsed', 'number', 'what it cost'],
    ],
  ),
  ...answerFields(
    {
      of: 'Job',
      section: 'jobs#v3',
      on: `GET ${V3}/{jobId}`,
      spends: true,
      sample: (service) => polled(service, V3),
    },
    [
      ['task', 'object', 'the job'],
      ['task.taskId', 'id', 'its id'],
      ['task.status', 'status', 'one of 3.1'],
      ['requestId', 'id', 'trace id'],
      ['quotaRemaining', 'integer', 'what is left'],
      ['creditsUsed', 'number', 'what it cost'],
      ['ignoredParameters', 'string[]', 'controls that are not applied'],
    ],
  ),
  ...answerFields(
    {
      of: 'Job',
      section: 'jobs#v3',
      on: `GET ${V3}/{jobId}`,
      spends: true,
      isOurChoice: true,
      sample: (service) => polled(service, V3),
    },
    [
      ...ITEM.filter(([name]) => name !== 'taskId' && name !== 'status').map(
        ([name, type, meaning]) => [`task.${name}`, type, meaning] as const,
      ),
      ['task.modelId', 'id', 'the model'],
      ['task.format', 'string', 'the format of the audio'],
      ['task.durationMs', 'null or integer', 'how long it plays'],
      ['task.finishedAt', 'instant', 'when it ended, or null'],
      ['task.segments', 'list', 'the parts of the text'],
      ['task.error', 'null or object', 'why it failed'],
    ],
  ),
  ...answerFields(
    {
      of: 'JobSegment',
      section: 'jobs#v3',
      on: `GET ${V3}/{jobId}`,
      spends: true,
      isOurChoice: true,
      sample: async (service) => at(await polled(service, V3), 'task.segments.0'),
    },
    [
      ['index', 'integer', 'from 0, in the order of the text'],
      ['status', 'string', 'pending, success, skipped or fail'],
      ['characters', 'integer', 'characters that are charged'],
      ['durationMs', 'null or integer', 'how long it plays'],
      ['audioUrl', 'null or string', 'where its audio is'],
    ],
  ),
  ...answerFields(
    {
      of: 'JobV1',
      section: 'jobs#v1',
      on: `GET ${V1}/{taskId}`,
      spends: true,
      isOurChoice: true,
      sample: (service) => polled(service, V1),
    },
    [
      ['task.segments.0.index', 'integer', 'from 0, in the order of the text'],
      ['task.segments.0.status', 'string', 'pending, success, skipped or fail'],
    ],
  ),
  ...[
    { path: V3, of: 'JobList', section: 'jobs#v3' },
    { path: V1, of: 'JobListV1', section: 'jobs#v1' },
  ].flatMap(({ path, of, section }) =>
    answerFields(
      { of, section, on: `GET ${path}`, spends: true, sample: (service) => list(service, path) },
      LIST,
    ),
  ),
  ...answerFields(
    {
      of: 'Pagination',
      section: 'jobs#v1',
      on: `GET ${V1}`,
      spends: true,
      sample: async (service) => at(await list(service, V1), 'pagination'),
    },
    PAGE,
  ),
  ...answerFields(
    {
      of: 'JobListItem',
      section: 'jobs#v3',
      on: `GET ${V3}`,
      spends: true,
      sample: async (service) => at(await list(service, V3), 'items.0'),
    },
    [...ITEM, ['modelId', 'id', 'the model']],
  ),
  ...answerFields(
    {
      of: 'JobListItemV1',
      section: 'jobs#v1',
      on: `GET ${V1}`,
      spends: true,
      sample: async (service) => at(await list(service, V1), 'items.0'),
    },
    [...ITEM, ['engineModelId', 'id', 'the model']],
  ),
];
