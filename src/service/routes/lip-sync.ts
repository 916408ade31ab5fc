import type { EndpointId } from '../../contract/endpoints.ts';
import { PAGE_SIZE_DEFAULT } from '../../contract/limits.ts';
import type {
  LipSyncAccepted,
  LipSyncAnswer,
  LipSyncList,
} from '../../contract/schemas/lip-sync.ts';
import { LipSyncListQuery, LipSyncQuery, LipSyncRequest } from '../../contract/schemas/lip-sync.ts';
import { endpointPath } from '../http/endpoint-path.ts';
import { readJsonBody } from '../http/json-body.ts';
import { requireQuery } from '../http/query.ts';
import { requireValid } from '../http/validation.ts';
import { acceptLipSync } from '../media/lipsync/accept-lip-sync.ts';
import { storedOrder } from '../media/jobs/stored-order.ts';
import { StoredLipSync } from '../media/lipsync/stored-lip-sync.ts';
import type { ServiceContext } from '../service-context.ts';
import type { AccountCall, Handler } from './call.ts';
import { offsetOf, pageOf } from './job-answers.ts';
import {
  acceptedHeaders,
  billingFields,
  envelopeOf,
  lipSyncFields,
  pollHeadersOf,
  requireMediaJob,
} from './media-answers.ts';

/** `POST /media/lip-sync/jobs` (spec sections 2.6, 4.7 and 7.3). It documents no idempotency key. */
export const createLipSync: Handler<AccountCall> = (call, context) =>
  create(call, context, 'createLipSync');

/** `POST /lip-sync/create`, from before v1 (spec section 9). */
export const createLipSyncLegacy: Handler<AccountCall> = (call, context) =>
  create(call, context, 'createLipSyncLegacy');

/** `GET /media/lip-sync/jobs` (spec sections 3.4 and 4.7), the newest first; the older path too. */
export const listLipSync: Handler<AccountCall> = (call, context) => {
  const query = requireQuery(call.request.url, LipSyncListQuery);
  const { page = 1, limit = PAGE_SIZE_DEFAULT, status } = query;
  const filter = { status, limit: limit + 1, offset: offsetOf({ page, limit }) };
  const jobs = context.media.jobs.list(call.account, 'lip_sync', filter);
  const items = jobs.map((job) => lipSyncFields(call, context, job));
  const data = pageOf(items, { page, limit });
  const body: LipSyncList = { success: true, message: 'Jobs, the newest first', data };
  return Response.json(body);
};

/** `GET /media/lip-sync/jobs/{jobId}` (spec sections 2.6 and 4.7). */
export const getLipSync: Handler<AccountCall> = (call, context) =>
  answer(call, context, call.parameters['jobId'] ?? '');

/** `GET /lip-sync/query`, from before v1 (spec section 9). */
export const getLipSyncLegacy: Handler<AccountCall> = (call, context) =>
  answer(call, context, requireQuery(call.request.url, LipSyncQuery).jobId);

async function create(
  call: AccountCall,
  context: ServiceContext,
  endpoint: EndpointId,
): Promise<Response> {
  const body = requireValid(LipSyncRequest, await readJsonBody(call.request), 'The body');
  const { account: accountId, requestId, request } = call;
  const order = { accountId, endpoint, requestId, body, signal: request.signal };
  const job = await acceptLipSync(order, context);
  const { id, credits } = job;
  const accepted: LipSyncAccepted = {
    ...envelopeOf({ status: 'pending' }),
    data: {
      id,
      status: 'pending',
      credits_used: credits,
      ...billingFields(storedOrder(StoredLipSync, job)),
    },
  };
  const location = endpointPath('getLipSync', { jobId: id });
  const headers = acceptedHeaders(call, context, { job, location, creditsUsed: credits });
  return Response.json(accepted, { status: 202, headers });
}

function answer(call: AccountCall, context: ServiceContext, jobId: string): Response {
  const job = requireMediaJob(call, context, { kind: 'lip_sync', jobId });
  const body: LipSyncAnswer = { ...envelopeOf(job), data: lipSyncFields(call, context, job) };
  return Response.json(body, { headers: pollHeadersOf(job, context) });
}
