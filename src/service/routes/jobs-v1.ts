import { PAGE_SIZE_DEFAULT } from '../../contract/limits.ts';
import type { JobListItemV1, JobListV1, JobV1 } from '../../contract/schemas/job.ts';
import { JobListQueryV1, JobRequestV1 } from '../../contract/schemas/job.ts';
import { endpointPath } from '../http/endpoint-path.ts';
import { requestKeyOf } from '../http/idempotency-key.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireQuery } from '../http/query.ts';
import { requireValid } from '../http/validation.ts';
import type { JobRecord, WholeJob } from '../jobs/job-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { invalidRequest } from '../service-error.ts';
import { showValue } from '../wording/show-value.ts';
import { acceptSpeechJob } from './accept-speech-job.ts';
import type { AccountCall, Handler } from './call.ts';
import { accountState, requireJob } from './find-job.ts';
import {
  createdHeaders,
  hasAudio,
  hasSegmentAudio,
  jobError,
  listItem,
  offsetOf,
  pageOf,
  pollHeaders,
} from './job-answers.ts';
import { knownFields, voiceOf } from './known-fields.ts';

/** `POST /speech/tts/jobs` of v1 (spec sections 2.4, 4.3 and 7.2). */
export const createJobV1: Handler<AccountCall> = async (call, context) => {
  const body = requireValid(JobRequestV1, await readJsonBody(call.request), 'The body');
  const job = await acceptSpeechJob(call, context, {
    endpoint: 'createJobV1',
    order: { ...knownFields(body), format: body.format, voiceId: voiceOf(body) },
    idempotencyKey: requestKeyOf(call.request.headers),
  });
  const location = endpointPath('getJobV1', { taskId: job.id });
  const answer = jobBody(call, context, job);
  const headers = createdHeaders(job, context, { ...answer, location });
  return Response.json(answer, { status: 202, headers });
};

/** `GET /speech/tts/jobs/{taskId}` of v1 (spec sections 2.4 and 4.3). */
export const getJobV1: Handler<AccountCall> = (call, context) => {
  const job = requireJob(call, context);
  return Response.json(jobBody(call, context, job), { headers: pollHeaders(job, context) });
};

/** `GET /speech/tts/jobs` of v1 (spec sections 2.4 and 4.3), the newest first. */
export const listJobsV1: Handler<AccountCall> = ({ account, request, requestId }, { jobs }) => {
  const query = requireQuery(request.url, JobListQueryV1);
  const { page = 1, limit = PAGE_SIZE_DEFAULT, status } = query;
  const createdAfter = momentOf(query.createdAfter);
  const filter = { status, createdAfter, limit: limit + 1, offset: offsetOf({ page, limit }) };
  const items = jobs.list(account, filter).map((job) => itemOf(job));
  const body: JobListV1 = { ...pageOf(items, { page, limit }), requestId };
  return Response.json(body);
};

/** What has the form of a timestamp may still be none, such as a leap second. */
function momentOf(timestamp: string | undefined): number | undefined {
  if (timestamp === undefined) return undefined;
  const moment = Date.parse(timestamp);
  if (!Number.isNaN(moment)) return moment;
  const message = `createdAfter is ${showValue(timestamp)}, which is no moment`;
  throw invalidRequest([{ field: 'createdAfter', message }]);
}

function jobBody(call: AccountCall, context: ServiceContext, job: WholeJob): JobV1 {
  const { id, status } = job;
  const error = jobError(job);
  return {
    task: {
      id,
      taskId: id,
      status,
      ...delivery(job),
      ...(error === undefined ? {} : { error }),
    },
    record: { id, status },
    ...accountState(call, context, job),
  };
}

function delivery(job: WholeJob): Pick<JobV1['task'], 'audioUrl' | 'delivery' | 'segments'> {
  if (!hasAudio(job.status)) {
    const nothing = { playbackUrl: null, downloadUrl: null, downloadReady: false };
    return { audioUrl: null, delivery: nothing };
  }
  const playbackUrl = audioPath(job.id);
  return {
    audioUrl: playbackUrl,
    delivery: { playbackUrl, downloadUrl: `${playbackUrl}?download=1`, downloadReady: true },
    segments: job.segments.map((segment) => ({
      index: segment.index,
      status: segment.status,
      playbackUrl: hasSegmentAudio(job, segment)
        ? endpointPath('getJobSegment', { jobId: job.id, segmentIndex: segment.index })
        : null,
    })),
  };
}

function itemOf(job: JobRecord): JobListItemV1 {
  return { ...listItem(job, audioPath), engineModelId: job.modelId };
}

/** Without a version in it, as the spec has it. */
function audioPath(taskId: string): string {
  return endpointPath('getTaskAudio', { taskId });
}
