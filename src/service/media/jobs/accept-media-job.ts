import type { EndpointId } from '../../../contract/generated/endpoints.ts';
import type { OperationRequest, Refusal } from '../../operations/claim.ts';
import { claim } from '../../operations/claim.ts';
import type { Owner } from '../../operations/owner.ts';
import type { Connection } from '../../store/connection.ts';
import { NEW_MEDIA_JOB } from './lifecycle.ts';
import type { Json, MediaJob, MediaJobKind } from './media-job-records.ts';
import { readMediaJob } from './media-job-records.ts';

/** A job to be accepted; everything that it needs has been imported. */
export interface MediaJobRequest extends OperationRequest {
  readonly endpoint: EndpointId;
  /** That of the folder where its files are. */
  readonly id: string;
  readonly kind: MediaJobKind;
  readonly order: Json;
  /** What the create is answered with, kept to be given again under the same key. */
  readonly answer: Json;
}

export type MediaJobAccepted = { readonly kind: 'accepted'; readonly job: MediaJob } | Refusal;

export interface MediaAcceptContext {
  readonly owner: Owner;
  readonly now: number;
  /** Whether it is to fail, whoever works on it. */
  readonly isToFail: boolean;
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
  const { id } = request;
  const refusal = claim(db, { ...context, id, state: 'completed' }, request);
  if (refusal !== undefined) return refusal;
  writeJob(db, context, request);
  const job = readMediaJob(db, id);
  if (job === undefined) throw new TypeError('a job that was accepted is not there');
  return { kind: 'accepted', job };
}

function writeJob(
  db: Connection,
  { isToFail, now, owner }: MediaAcceptContext,
  { accountId, answer, charge, id, kind, order }: MediaJobRequest,
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
      charge.credits,
      now,
      isToFail ? 1 : 0,
    ],
  );
}
