import { PAGE_SIZE_DEFAULT } from '../../contract/limits.ts';
import type {
  Job,
  JobAccepted,
  JobList,
  JobListItem,
  JobSegment,
} from '../../contract/schemas/job.ts';
import { JobListQuery } from '../../contract/schemas/job.ts';
import { SpeechRequest } from '../../contract/schemas/speech.ts';
import { endpointPath } from '../http/endpoint-path.ts';
import { idempotencyKeyOf } from '../http/idempotency-key.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireQuery } from '../http/query.ts';
import { requireValid } from '../http/validation.ts';
import type { JobRecord, SegmentRecord, WholeJob } from '../jobs/job-records.ts';
import { acceptSpeechJob } from './accept-speech-job.ts';
import type { AccountCall, Handler } from './call.ts';
import { accountState, requireJob } from './find-job.ts';
import {
  createdHeaders,
  durationMs,
  hasAudio,
  hasSegmentAudio,
  jobError,
  listItem,
  offsetOf,
  pageOf,
  pollHeaders,
} from './job-answers.ts';

/** `POST /speech/tts/jobs` of v3 (spec sections 2.5, 4.1 and 7.2). */
export const createJob: Handler<AccountCall> = async (call, context) => {
  const order = requireValid(SpeechRequest, await readJsonBody(call.request), 'The body');
  const idempotencyKey = idempotencyKeyOf(call.request.headers);
  const job = await acceptSpeechJob(call, context, {
    endpoint: 'createJob',
    order,
    idempotencyKey,
  });
  const { id: taskId, status, voiceId, modelId, ignored } = job;
  const body: JobAccepted = {
    task: { taskId, status, voiceId, modelId },
    ...accountState(call, context, job),
    ignoredParameters: [...ignored],
  };
  const location = endpointPath('getJob', { jobId: taskId });
  const headers = createdHeaders(job, context, { ...body, location });
  return Response.json(body, { status: 202, headers });
};

/** `GET /speech/tts/jobs/{jobId}` of v3 (spec section 4.1). */
export const getJob: Handler<AccountCall> = (call, context) => {
  const job = requireJob(call, context);
  const body: Job = {
    task: {
      ...itemOf(job),
      format: job.format,
      durationMs: hasAudio(job.status) ? durationMs(job.segments) : null,
      finishedAt: job.finishedAt === undefined ? null : new Date(job.finishedAt).toISOString(),
      segments: job.segments.map((segment) => segmentOf(job, segment)),
      error: jobError(job) ?? null,
    },
    ...accountState(call, context, job),
    ignoredParameters: [...job.ignored],
  };
  return Response.json(body, { headers: pollHeaders(job, context) });
};

/** `GET /speech/tts/jobs` of v3 (spec sections 2.4 and 4.1), the newest first. */
export const listJobs: Handler<AccountCall> = ({ account, request, requestId }, { jobs }) => {
  const query = requireQuery(request.url, JobListQuery);
  const { page = 1, limit = PAGE_SIZE_DEFAULT, status } = query;
  const filter = { status, limit: limit + 1, offset: offsetOf({ page, limit }) };
  const items = jobs.list(account, filter).map((job) => itemOf(job));
  const body: JobList = { ...pageOf(items, { page, limit }), requestId };
  return Response.json(body);
};

function itemOf(job: JobRecord): JobListItem {
  return { ...listItem(job, audioPath), modelId: job.modelId };
}

function audioPath(jobId: string): string {
  return endpointPath('getJobAudio', { jobId });
}

function segmentOf(job: WholeJob, segment: SegmentRecord): JobSegment {
  const { index, status, characters } = segment;
  const isSpoken = hasSegmentAudio(job, segment);
  return {
    index,
    status,
    characters,
    durationMs: isSpoken ? durationMs([segment]) : null,
    audioUrl: isSpoken
      ? endpointPath('getJobSegment', { jobId: job.id, segmentIndex: index })
      : null,
  };
}
