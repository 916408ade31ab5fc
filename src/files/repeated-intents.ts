import path from 'node:path';
import { removeQuietly } from './debris.ts';
import type { FileDeps } from './file-deps.ts';
import type { IntentFolder, OpenIntent } from './intent-list.ts';
import { listOpenIntents } from './intent-list.ts';
import type { IntentAbout, IntentStatus } from './intent-records.ts';
import { isTemporaryName } from './temporary.ts';

/** An operation that came to its end. */
export interface Repetition {
  readonly about: IntentAbout;
  /** Of the job, where it was one. */
  readonly jobId: string | undefined;
  /** All that it makes is where it was wanted; otherwise only its id is known. */
  readonly isDelivered: boolean;
  /** It went on where an earlier one under its key was, and got what that one had paid for as well. */
  readonly goesOn: boolean;
}

/**
 * What commands that are dead left open of the very purchase that came to its end now; their temporary
 * files are removed. Throws exit 32 when the journal cannot be read.
 */
export async function leftOfTheSame(
  done: Repetition,
  options: FileDeps & IntentFolder,
): Promise<readonly OpenIntent[]> {
  const { open } = await listOpenIntents(options);
  const same = open.filter((left) => left.writer === 'dead' && isSamePurchase(left, done));
  for (const { about } of same) {
    const temporary = about?.temporary ?? '';
    if (isTemporaryName(path.basename(temporary))) await removeQuietly(temporary, options);
  }
  return same;
}

/**
 * Whether a service that knows keys can have charged for both only once (docs/billing.md, "Keys"). Before an
 * answer began the key alone says so. After it, only the same job does, or a conversation that went on.
 */
export function isSamePurchase(left: IntentStatus, done: Repetition): boolean {
  if (left.about === undefined || !isSameRequest(left.about, done.about)) return false;
  if (left.state === 'intent' || left.state === 'sent') return true;
  if (!done.isDelivered) return false;
  const { jobId } = left.facts;
  return jobId === undefined ? left.state === 'accepted' && done.goesOn : jobId === done.jobId;
}

/** A key means something to one service, and there to one account only. */
function isSameRequest(left: IntentAbout, done: IntentAbout): boolean {
  const { endpoint, idempotencyKey, origin, payer, target } = done;
  if (idempotencyKey === null || left.idempotencyKey !== idempotencyKey) return false;
  if (left.endpoint !== endpoint || left.target !== target) return false;
  // The embedded service has another port each time, and one account.
  if (target === 'embedded') return true;
  return left.origin === origin && payer !== undefined && left.payer === payer;
}
