import type { ApiClient } from '../api/client.ts';
import type { RequestSpec } from '../api/request.ts';
import { Failure } from '../errors/failure.ts';
import type { IntentFacts, IntentJournal } from '../files/intents.ts';
import { concludeFailed } from '../speech/conclude.ts';
import type { PaidWork } from '../speech/paid-work.ts';
import { beginPaidWork } from '../speech/paid-work.ts';

/** Something that is made by one request, and may cost something. */
export interface PaidCreate<Made extends Priced> {
  readonly client: ApiClient;
  readonly journal: IntentJournal;
  /** What is made, as the journal calls it. */
  readonly what: 'voice' | 'design';
  readonly request: RequestSpec;
  /** Sends it; is told when a key was refunded and another is used. */
  ask(onNewKey: (key: string) => Promise<void>): Promise<Made>;
  /** Whether all of it may have been sent; by default it may. */
  readonly mayBeDone?: (() => boolean) | undefined;
  /** Tells the person something that is no failure. */
  readonly notice: (line: string) => void;
}

export interface Priced {
  readonly requestId: string;
  readonly creditsUsed: number | undefined;
}

/**
 * Makes something under the journal (docs/billing.md): it is on the disk before it is asked for, and what
 * came of it is noted; what nobody knows stays for `foley recover` to tell.
 * @throws Failure with what the person can do, or the reason of the signal
 */
export async function createPaid<Made extends Priced>(create: PaidCreate<Made>): Promise<Made> {
  const { request, notice } = create;
  const work = await begin(create);
  try {
    const made = await create.ask((key) => work.renew(key));
    await work.ended('published', factsOf(made));
    return made;
  } catch (error) {
    const { signal } = request;
    if (signal?.aborted === true) {
      notice(await concludeStopped(create, work));
      throw signal.reason;
    }
    throw error instanceof Failure ? await concludeFailed(error, work, undefined) : error;
  }
}

function begin<Made extends Priced>(create: PaidCreate<Made>): Promise<PaidWork> {
  const { client, journal, request, what } = create;
  return beginPaidWork(journal, {
    what,
    wire: client.describe(request),
    target: client.address.kind,
    // A key that is not heeded is no help to whoever looks for what became of it.
    idempotencyKey: request.retry === 'keyed' ? request.key?.value : undefined,
    hasOwnKey: request.key?.madeByTool === false,
    apiKey: client.address.apiKey,
    requestId: request.requestId ?? null,
    output: null,
    temporary: null,
  });
}

async function concludeStopped<Made extends Priced>(
  { mayBeDone, request, what }: PaidCreate<Made>,
  work: PaidWork,
): Promise<string> {
  if (mayBeDone?.() === false) {
    await work.ended('rejected', { problem: 'stopped before all of it was sent' });
    return `foley: stopped before all of it was sent; no ${what} was made`;
  }
  const next =
    work.key === undefined
      ? request.lookAt
      : `To go on without paying twice, run it again with --idempotency-key ${work.key}.`;
  return `foley: stopped before the answer came; it may have been done. ${next}`;
}

function factsOf({ creditsUsed, requestId }: Priced): IntentFacts {
  return creditsUsed === undefined ? { requestId } : { requestId, creditsUsed };
}
