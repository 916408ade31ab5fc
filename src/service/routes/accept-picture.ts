import type { EndpointId } from '../../contract/endpoints.ts';
import { amountsIn } from '../billing/ledger.ts';
import { requireIdempotencyKey } from '../http/idempotency-key.ts';
import type { MediaArrival } from '../media/import/imports.ts';
import type { Json, MediaJob } from '../media/jobs/media-job-records.ts';
import { readMediaJob } from '../media/jobs/media-job-records.ts';
import { inspectReferenceFile } from '../media/pictures/inspect-reference-file.ts';
import type { PicturePlan, ReferenceUrl } from '../media/pictures/plan-picture.ts';
import type { OperationKey } from '../operations/claim.ts';
import { fingerprintOf } from '../operations/fingerprint.ts';
import type { ServiceContext } from '../service-context.ts';
import type { AccountCall } from './call.ts';
import type { PictureState } from './picture-answers.ts';
import { messageOf } from './picture-answers.ts';

/** An image or a video that is asked for. */
export interface PictureOrder<Stored, Data> {
  readonly endpoint: EndpointId;
  readonly kind: 'image' | 'video';
  /** The body, as it makes a request the same as another. */
  readonly body: Json;
  /** Decides what is made; only asked when the key is new. */
  plan(): PicturePlan<Stored>;
  /** What the create tells of it. */
  describe(stored: Stored, state: PictureState): Data;
}

/**
 * Accepts an image or a video once: its references are imported and decoded, then it is stored and paid.
 * The same create under the same key is answered as it was then, whatever has become of the job (spec section 4.8).
 * @throws ServiceError 400 without a key and for what the plan refuses, 402 when there is too little, 409 when
 * the key was used for something else, and what the import throws; nothing is charged then
 */
export async function acceptPicture<Stored extends Json, Data>(
  call: AccountCall,
  context: ServiceContext,
  order: PictureOrder<Stored, Data>,
): Promise<MediaJob> {
  const { account: accountId, request } = call;
  const idempotencyKey = requireIdempotencyKey(request.headers);
  const fingerprint = fingerprintOf(order.body);
  const key = { accountId, endpoint: order.endpoint, idempotencyKey, fingerprint };
  return context.creates.once({
    key,
    signal: request.signal,
    find: readMediaJob,
    make: (signal) => makePicture({ call, key, order, signal }, context),
  });
}

interface Making<Stored, Data> {
  readonly call: AccountCall;
  readonly key: OperationKey & { readonly endpoint: EndpointId };
  readonly order: PictureOrder<Stored, Data>;
  readonly signal: AbortSignal;
}

async function makePicture<Stored extends Json, Data>(
  { call: { account: accountId, requestId }, key, order, signal }: Making<Stored, Data>,
  context: ServiceContext,
): Promise<MediaJob> {
  const { imports, jobs } = context.media;
  const { kind } = order;
  const plan = order.plan();
  return imports.within(signal, async (arrival) => {
    const references = await importReferences(signal, context, arrival, plan.urls);
    const stored = plan.toStore({ references, createdAt: context.clock.now() });
    const { id } = arrival;
    const { credits } = plan;
    const state: PictureState = { ...NEW, id, credits };
    const answer = {
      success: true,
      message: messageOf(state),
      requestId,
      quotaRemaining: context.store.read((db) => amountsIn(db, accountId, 'available')).quota,
      data: order.describe(stored, state),
    };
    const charge = { credits, quota: 0 };
    signal.throwIfAborted();
    return jobs.accept({ ...key, id, requestId, kind, order: stored, answer, charge });
  });
}

const NEW = { status: 'pending', progress: 0, finishedAt: undefined, error: undefined } as const;

/** One after the other, and each decoded once. Gives their names in the folder of the job. */
async function importReferences(
  signal: AbortSignal,
  { media }: ServiceContext,
  arrival: MediaArrival,
  urls: readonly ReferenceUrl[],
): Promise<string[]> {
  const names: string[] = [];
  for (const { field, url } of urls) {
    const subject = { kind: 'image', field } as const;
    const name = `reference-${names.length}`;
    const { path } = await arrival.fetch({ ...subject, url, name });
    await inspectReferenceFile(media.run, { path, signal, ...subject });
    names.push(name);
  }
  return names;
}
