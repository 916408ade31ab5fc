import { answerFields } from '../answer-fields.ts';
import type { Behaviour } from '../behaviour.ts';
import { at } from '../claims.ts';
import { created, list, polled, V1, V3 } from './job-calls.ts';

/** Every field of every answer about a job (docs/api/jobs.md#v1 and docs/api/jobs.md#v3). */
export const jobFields: readonly Behaviour[] = [
  ...answerFields('JobAccepted', (service) => created(service, V3)),
  ...answerFields('JobV1', (service) => polled(service, V1)),
  ...answerFields('Job', (service) => polled(service, V3)),
  ...answerFields('Job (ours)', (service) => polled(service, V3)),
  ...answerFields('JobSegment (ours)', async (service) =>
    at(await polled(service, V3), 'task.segments.0'),
  ),
  ...answerFields('JobV1 (ours)', (service) => polled(service, V1)),
  ...answerFields('JobList', (service) => list(service, V3)),
  ...answerFields('JobListV1', (service) => list(service, V1)),
  ...answerFields('Pagination', async (service) => at(await list(service, V1), 'pagination')),
  ...answerFields('JobListItem', async (service) => at(await list(service, V3), 'items.0')),
  ...answerFields('JobListItemV1', async (service) => at(await list(service, V1), 'items.0')),
];
