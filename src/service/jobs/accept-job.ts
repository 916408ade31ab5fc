import { createHash } from 'node:crypto';
import type { SpeechFormat } from '../../contract/speech.ts';
import { sliceCodePoints } from '../../text/code-points.ts';
import type { JobFault } from '../http/faults.ts';
import type { OperationRequest, Refusal } from '../operations/claim.ts';
import { claim } from '../operations/claim.ts';
import type { Owner } from '../operations/owner.ts';
import type { Connection } from '../store/connection.ts';
import { hasVoice } from '../voices/personal-voices.ts';
import type { SpeechPlan } from '../speech/plan.ts';
import { newJob } from './lifecycle.ts';
import type { TextSegment } from './segments.ts';
import { segmentText } from './segments.ts';

/** A job to be accepted. */
export interface JobRequest extends OperationRequest {
  readonly plan: SpeechPlan;
  readonly format: SpeechFormat;
  /** As it was sent, before anything was filtered out of it. */
  readonly submittedText: string;
}

export type Accepted =
  | { readonly kind: 'accepted'; readonly jobId: string }
  /** Its voice was deleted just now. */
  | { readonly kind: 'voice-gone' }
  | Refusal;

export interface AcceptContext {
  readonly id: string;
  readonly owner: Owner;
  readonly now: number;
  /** How the job is to end, whoever speaks it. */
  readonly fault?: JobFault | undefined;
}

const PREVIEW_CHARACTERS = 80;

/**
 * Takes a job in and reserves what it costs, both or neither, inside the caller's transaction. With
 * that its request is complete: from here on the job answers for the money.
 */
export function acceptJob(db: Connection, context: AcceptContext, request: JobRequest): Accepted {
  const { voice } = request.plan;
  if (voice.made !== undefined && !hasVoice(db, voice.id)) return { kind: 'voice-gone' };
  const refusal = claim(db, { ...context, state: 'completed' }, request);
  if (refusal !== undefined) return refusal;
  writeJob(db, context, request);
  return { kind: 'accepted', jobId: context.id };
}

function writeJob(db: Connection, context: AcceptContext, request: JobRequest): void {
  const { id, owner, now, fault } = context;
  const { plan, submittedText, accountId } = request;
  const { engineRequest, charge } = plan;
  const minimum = fault === 'partial_fail' ? 2 : 1;
  const segments = segmentText(engineRequest.text, minimum);
  const { status, attempts } = newJob(segments.length);
  db.run(
    `INSERT INTO job (id, account_id, status, owner_id, attempts, voice_id, model_id, format, speed,
       pitch, gain_db, ignored, characters, credits, text_preview, text_fingerprint, created_at,
       fault)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      id,
      accountId,
      status,
      owner.id,
      attempts,
      plan.voice.id,
      plan.model.id,
      request.format,
      engineRequest.speed,
      engineRequest.pitch,
      plan.gainDb,
      plan.ignored.join(','),
      charge.quota,
      charge.credits,
      sliceCodePoints(submittedText, 0, PREVIEW_CHARACTERS),
      fingerprintOfText(submittedText),
      now,
      fault ?? null,
    ],
  );
  writeSegments(db, id, segments);
}

function writeSegments(db: Connection, id: string, segments: readonly TextSegment[]): void {
  for (const [index, segment] of segments.entries()) {
    db.run(
      `INSERT INTO job_segment (job_id, number, text, characters, status)
       VALUES (?, ?, ?, ?, 'pending')`,
      [id, index, segment.text, segment.characters],
    );
  }
}

function fingerprintOfText(submitted: string): string {
  return `sha256:${createHash('sha256').update(submitted, 'utf8').digest('hex')}`;
}
