import type { Clock } from '../effects/clock.ts';
import type { Random } from '../effects/random.ts';
import type { Failure } from '../errors/failure.ts';
import { reviseFailure, unknownOutcome } from './failures.ts';
import type { Ids, Observer, RequestSpec } from './request.ts';
import type { AttemptOutcome } from './retry.ts';
import { decideRetry } from './retry.ts';

/** A failed attempt, with its outcome for the retry decision. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';
  readonly failure: Failure;
  readonly outcome: AttemptOutcome;

  constructor(failure: Failure, outcome: AttemptOutcome) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.outcome = outcome;
  }
}

export interface RetryContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly maxRetries: number;
  readonly observer: Observer;
}

/**
 * Repeats a request until it succeeds or may not be retried.
 * @throws Failure of the last attempt, as `unknown_outcome` if it may have been billed
 */
export async function withRetries<T>(
  spec: RequestSpec,
  first: Ids,
  context: RetryContext,
  attempt: (ids: Ids, number: number) => Promise<T>,
): Promise<T> {
  const run: Run = { spec, first, context, ids: first, broken: undefined, mayBeBilled: false };
  for (let number = 1; ; number += 1) {
    try {
      return await attempt(run.ids, number);
    } catch (error) {
      if (!(error instanceof AttemptFailure)) throw error;
      if (!(await prepareNext(run, error, number))) throw conclude(error, run);
    }
  }
}

interface Run {
  readonly spec: RequestSpec;
  readonly first: Ids;
  readonly context: RetryContext;
  ids: Ids;
  /** The last 500 of the service, which the refund of its key hides. */
  broken: Failure | undefined;
  /** Some attempt may have been billed and was not refunded. */
  mayBeBilled: boolean;
}

/** Decides whether to retry, and waits before the next attempt. */
async function prepareNext(run: Run, error: AttemptFailure, attempt: number): Promise<boolean> {
  const { spec, context } = run;
  const { failure, outcome } = error;
  run.mayBeBilled = mayBeBilled(error, run.mayBeBilled);
  if (outcome.kind === 'status' && outcome.status === 500) run.broken = failure;
  const decision = decideRetry({
    outcome,
    attempt,
    maxRetries: spec.maxRetries ?? context.maxRetries,
    rule: spec.retry,
    keyMadeByTool: spec.key?.madeByTool ?? false,
    keyRenewed: run.ids.key !== run.first.key,
    modelAvailable: await modelAvailable(spec, outcome),
    fraction: context.random.fraction(),
  });
  if (!decision.retry) return false;
  if (decision.newKey) run.ids = await renew(spec, run.ids, context.random);
  const { requestId } = run.ids;
  const { delayMs } = decision;
  const reason = failure.status === undefined ? failure.code : `${failure.status}`;
  context.observer({ type: 'retry', requestId, attempt, delayMs, reason });
  await context.clock.sleep(delayMs, spec.signal);
  spec.onRepeat?.(outcome);
  return true;
}

async function modelAvailable(
  spec: RequestSpec,
  outcome: AttemptOutcome,
): Promise<boolean | undefined> {
  const asks = outcome.kind === 'status' && outcome.status === 503;
  return asks ? await spec.modelStillAvailable?.() : undefined;
}

async function renew(spec: RequestSpec, ids: Ids, random: Random): Promise<Ids> {
  const key = random.uuid();
  await spec.onNewKey?.(key);
  return { key, requestId: spec.key?.sentAs === 'X-Request-Id' ? key : ids.requestId };
}

/** Whether an attempt may have been billed; a refunded key was not. */
function mayBeBilled({ failure, outcome }: AttemptFailure, before: boolean): boolean {
  if (outcome.kind !== 'status') return before || outcome.kind === 'unanswered';
  if (outcome.code === 'ERR_REQUEST_PREVIOUSLY_REFUNDED') return false;
  // A 5xx other than 503 may have been billed.
  return before || (failure.billed !== 'no' && outcome.status >= 500 && outcome.status !== 503);
}

/** Describes the last failure, including what earlier attempts may have cost. */
function conclude(
  { failure, outcome }: AttemptFailure,
  { broken, mayBeBilled: mayHaveCost, spec }: Run,
): Failure {
  if (failure.code === 'ERR_REQUEST_PREVIOUSLY_REFUNDED' && broken !== undefined) {
    return reviseFailure(broken, { billed: 'no' });
  }
  if (!spec.billed || !mayHaveCost || outcome.kind === 'unusable') return failure;
  if (outcome.kind !== 'status') return unknownOutcome(failure, spec.lookAt);
  return failure.billed === 'no' ? reviseFailure(failure, { billed: 'unknown' }) : failure;
}
