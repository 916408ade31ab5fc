import type { EndpointId } from '../../contract/generated/endpoints.ts';
import type { JobFault } from '../http/faults.ts';
import type { OperationRequest, Refusal } from '../operations/operations.ts';
import { claim } from '../operations/operations.ts';
import type { Owner } from '../operations/owner.ts';
import type { Connection } from '../store/connection.ts';
import type { Job, JobKind, Json } from './job-records.ts';
import { readJob } from './job-records.ts';
import { newJob } from './lifecycle.ts';
import { segmentText } from './segments.ts';

/** A job to accept; its files have been imported. */
export interface JobRequest extends OperationRequest {
  readonly endpoint: EndpointId;
  /** Id of the folder with its files; a job without one gets a new id. */
  readonly id?: string | undefined;
  readonly kind: JobKind;
  readonly order: Json;
  /** Body of the create's response, where a replay has to repeat it. */
  readonly answer?: Json | undefined;
  /** Text of a speech job, which is spoken in segments. */
  readonly text?: string | undefined;
  /** Throws to refuse the job; called first in its transaction. */
  readonly check?: ((db: Connection) => void) | undefined;
}

export type JobAccepted = { readonly kind: 'accepted'; readonly job: Job } | Refusal;

interface AcceptContext {
  readonly id: string;
  readonly owner: Owner;
  readonly now: number;
  /** How the job has to end. */
  readonly fault: JobFault | undefined;
}

/**
 * Stores a job and reserves its charge, both or neither, inside the caller's transaction. That completes the request:
 * from here on the job settles the charge.
 */
export function acceptJob(
  db: Connection,
  context: AcceptContext,
  request: JobRequest,
): JobAccepted {
  request.check?.(db);
  const refusal = claim(db, { ...context, state: 'completed' }, request);
  if (refusal !== undefined) return refusal;
  const { id, owner, now, fault } = context;
  const { accountId, answer = {}, charge, kind, order, text = '' } = request;
  const segments = segmentText(text, fault === 'partial_fail' ? 2 : 1);
  const { status, attempts } = newJob(segments.length);
  db.run(
    `INSERT INTO job (id, account_id, kind, status, owner_id, attempts, progress, order_json, answer_json,
       characters, credits, created_at, fault) VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)`,
    [
      id,
      accountId,
      kind,
      status,
      owner.id,
      attempts,
      JSON.stringify(order),
      JSON.stringify(answer),
      charge.quota,
      charge.credits,
      now,
      // Only speech can fail in part.
      fault === undefined || kind === 'speech' ? (fault ?? null) : 'fail',
    ],
  );
  for (const [index, segment] of segments.entries()) {
    db.run(
      `INSERT INTO job_segment (job_id, number, text, characters, status)
       VALUES (?, ?, ?, ?, 'pending')`,
      [id, index, segment.text, segment.characters],
    );
  }
  const job = readJob(db, id);
  if (job === undefined) throw new TypeError('An accepted job is missing');
  return { kind: 'accepted', job };
}
