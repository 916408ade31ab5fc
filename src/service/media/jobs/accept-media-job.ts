import type { EndpointId } from '../../../contract/endpoints.ts';
import type { Amounts } from '../../billing/amounts.ts';
import { reserve } from '../../billing/ledger.ts';
import type { OperationRequest } from '../../operations/claim.ts';
import { findByKey, isSameRequest } from '../../operations/claim.ts';
import type { Owner } from '../../operations/owner.ts';
import type { Connection } from '../../store/connection.ts';
import { text } from '../../store/connection.ts';
import { NEW_MEDIA_JOB } from './lifecycle.ts';
import type { Json, MediaJob, MediaJobKind } from './media-job-records.ts';
import { readMediaJob } from './media-job-records.ts';

/** What makes a create the same as another. */
export interface MediaJobKey extends Omit<OperationRequest, 'charge' | 'requestId'> {
  readonly endpoint: EndpointId;
}

/** A job to be accepted; everything that it needs has been imported. */
export interface MediaJobRequest extends MediaJobKey {
  /** That of the folder where its files are. */
  readonly id: string;
  readonly requestId: string;
  readonly kind: MediaJobKind;
  readonly order: Json;
  /** What the create is answered with, kept to be given again under the same key. */
  readonly answer: Json;
  readonly credits: number;
}

export type MediaJobAccepted =
  | { readonly kind: 'accepted' | 'replayed'; readonly job: MediaJob }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'insufficient'; readonly needed: Amounts; readonly available: Amounts };

export interface MediaAcceptContext {
  readonly owner: Owner;
  readonly now: number;
  /** Whether it is to fail, whoever works on it. */
  readonly isToFail: boolean;
}

/** The job that this create was accepted as before, if it was (spec sections 4.8 and 7.2). */
export function findAcceptedMedia(
  db: Connection,
  key: MediaJobKey,
): Exclude<MediaJobAccepted, { kind: 'insufficient' }> | undefined {
  const earlier = findByKey(db, key);
  if (earlier === undefined) return undefined;
  if (!isSameRequest(earlier, key)) return { kind: 'conflict' };
  return { kind: 'replayed', job: requireMediaJob(db, text(earlier, 'id')) };
}

/**
 * Takes a job in and reserves what it costs, both or neither, inside the caller's transaction. With
 * that its request is complete: from here on the job answers for the money.
 */
export function acceptMediaJob(
  db: Connection,
  context: MediaAcceptContext,
  request: MediaJobRequest,
): MediaJobAccepted {
  const before = findAcceptedMedia(db, request);
  if (before !== undefined) return before;
  const { id, accountId } = request;
  const needed = { credits: request.credits, quota: 0 };
  const reserved = reserve(db, { id, accountId, amounts: needed }, context.now);
  if (reserved.kind === 'insufficient') return { ...reserved, needed };
  context.owner.renew(db);
  writeOperation(db, context, request);
  writeJob(db, context, request);
  return { kind: 'accepted', job: requireMediaJob(db, id) };
}

function writeOperation(
  db: Connection,
  { now }: MediaAcceptContext,
  { accountId, endpoint, fingerprint, id, idempotencyKey, requestId }: MediaJobRequest,
): void {
  db.run(
    `INSERT INTO operation (id, account_id, endpoint, idempotency_key, fingerprint, state,
       request_id, created_at) VALUES (?, ?, ?, ?, ?, 'completed', ?, ?)`,
    [id, accountId, endpoint, idempotencyKey ?? null, fingerprint, requestId, now],
  );
}

function writeJob(
  db: Connection,
  { isToFail, now, owner }: MediaAcceptContext,
  { accountId, answer, credits, id, kind, order }: MediaJobRequest,
): void {
  const { status, attempts } = NEW_MEDIA_JOB;
  db.run(
    `INSERT INTO media_job (id, account_id, kind, status, owner_id, attempts, progress, work, answer,
       credits, created_at, is_to_fail) VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)`,
    [
      id,
      accountId,
      kind,
      status,
      owner.id,
      attempts,
      JSON.stringify(order),
      JSON.stringify(answer),
      credits,
      now,
      isToFail ? 1 : 0,
    ],
  );
}

function requireMediaJob(db: Connection, id: string): MediaJob {
  const job = readMediaJob(db, id);
  if (job === undefined) throw new TypeError('a job that was accepted is not there');
  return job;
}
