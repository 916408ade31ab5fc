import type { EndpointId } from '../../contract/endpoints.ts';
import { amountsIn } from '../billing/ledger.ts';
import { requireIdempotencyKey } from '../http/idempotency-key.ts';
import type { MediaArrival } from '../media/import/imports.ts';
import type { MediaJobAccepted } from '../media/jobs/accept-media-job.ts';
import type { Json, MediaJob } from '../media/jobs/media-job-records.ts';
import { inspectReferenceFile } from '../media/pictures/inspect-reference-file.ts';
import type { PicturePlan, ReferenceUrl } from '../media/pictures/plan-picture.ts';
import { insufficient, usedBefore } from '../operations/begin-operation.ts';
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
 * Accepts an image or a video once: its references are arrival and decoded, then it is stored and paid.
 * The same create under the same key is answered as it was then, whatever has become of the job (spec section 4.8).
 * @throws ServiceError 400 without a key and for what the plan refuses, 402 when there is too little, 409 when
 * the key was used for something else, and what the import throws; nothing is charged then
 */
export async function acceptPicture<Stored extends Json, Data>(
  call: AccountCall,
  context: ServiceContext,
  order: PictureOrder<Stored, Data>,
): Promise<MediaJob> {
  const { endpoint, kind } = order;
  const { account: accountId, request, requestId } = call;
  const { imports, jobs } = context.media;
  const idempotencyKey = requireIdempotencyKey(request.headers);
  const fingerprint = fingerprintOf(order.body);
  const key = { accountId, endpoint, idempotencyKey, fingerprint };
  const before = jobs.findAccepted(key);
  if (before !== undefined) return jobOf(before);
  const plan = order.plan();
  return imports.within(request.signal, async (arrival) => {
    const references = await importReferences(call, context, arrival, plan.urls);
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
    return jobOf(jobs.accept({ ...key, id, requestId, kind, order: stored, answer, credits }));
  });
}

const NEW = { status: 'pending', progress: 0, finishedAt: undefined, error: undefined } as const;

/** One after the other, and each decoded once. Gives their names in the folder of the job. */
async function importReferences(
  { request: { signal } }: AccountCall,
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

function jobOf(accepted: MediaJobAccepted): MediaJob {
  if (accepted.kind === 'conflict') throw usedBefore('conflict');
  if (accepted.kind === 'insufficient') throw insufficient(accepted.needed, accepted.available);
  return accepted.job;
}
