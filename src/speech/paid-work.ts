import { createHash } from 'node:crypto';
import type { WireRequest } from '../api/request.ts';
import type { Failure } from '../errors/failure.ts';
import type { Intent, IntentAbout, IntentFacts, IntentJournal } from '../files/intents.ts';
import type { Kept } from './rescue.ts';
import { isStored } from './stored-audio.ts';

/** What is asked for, as the journal writes it down. */
export interface PaidRequest {
  readonly wire: WireRequest;
  readonly target: 'embedded' | 'hosted';
  /** None where the service knows no key. */
  readonly idempotencyKey: string | undefined;
  readonly requestId: string | null;
  readonly text: string;
  readonly output: string | null;
  readonly temporary: string | null;
}

/** One request that may cost credits, from before it is sent until it is known what became of it. */
export interface PaidWork {
  /** For the spool: which operation audio belongs to. */
  readonly id: string;
  /** The key under which it was asked for last, which is not billed a second time; if there is one. */
  readonly key: string | undefined;
  /** All of it had come and was checked. */
  readonly isVerified: boolean;
  /** A refunded request goes out again under another key, which is written down first. */
  renew(key: string): Promise<void>;
  /** The answer began, so that it is charged now; noted while the audio comes. */
  accepted(facts: IntentFacts): void;
  /** All of it is there and was checked; noted on the disk when this resolves. */
  verified(facts: IntentFacts): Promise<void>;
  published(facts: IntentFacts): Promise<void>;
  /** It failed: not billed, billed and kept, billed and lost, or nobody knows. */
  failed(failure: Failure, kept: Kept | undefined): Promise<void>;
  /** The person stopped it half way. */
  stopped(kept: Kept): Promise<void>;
  /** Nobody wanted the rest. */
  abandoned(): Promise<void>;
}

/**
 * Writes down that a request is about to be sent (docs/billing.md); it is on the disk when this
 * resolves.
 * @throws Failure (state); nothing was sent then
 */
export async function beginPaidWork(
  journal: IntentJournal,
  request: PaidRequest,
): Promise<PaidWork> {
  let key = request.idempotencyKey;
  let intent = await journal.begin(aboutOf(request, key));
  // The request is out: a journal that fails now must not take away what was paid for.
  const settle: Intent['settle'] = (state, facts) =>
    intent.settle(state, facts).catch(() => undefined);
  const note: Intent['advance'] = (state, facts) =>
    intent.advance(state, facts).catch(() => undefined);
  await intent.advance('sent').catch(async (error: unknown) => {
    await settle('rejected', { problem: 'never sent' });
    throw error;
  });
  return {
    get id() {
      return intent.id;
    },
    get key() {
      return key;
    },
    get isVerified() {
      return intent.state === 'verified';
    },
    async renew(newKey) {
      const next = await journal.begin(aboutOf(request, newKey));
      await settle('failed', { problem: 'refunded by the service' });
      intent = next;
      key = newKey;
      await intent.advance('sent');
    },
    accepted: (facts) => void note('accepted', facts),
    verified: (facts) => note('verified', facts),
    published: (facts) => settle('published', facts),
    failed: (failure, kept) => settleFailed({ intent, settle }, failure, kept),
    stopped: ({ id }) => (id === undefined ? Promise.resolve() : settle('kept', { spoolId: id })),
    abandoned: () => settle('abandoned'),
  };
}

async function settleFailed(
  { intent, settle }: { readonly intent: Intent; readonly settle: Intent['settle'] },
  failure: Failure,
  kept: Kept | undefined,
): Promise<void> {
  const facts: IntentFacts = {
    problem: failure.message,
    ...(failure.requestId === undefined ? {} : { requestId: failure.requestId }),
  };
  if (kept?.id !== undefined) await settle('kept', { ...facts, spoolId: kept.id });
  else if (kept !== undefined || intent.state === 'verified' || isStored(failure)) return;
  else if (failure.billed === 'yes') await settle('lost', facts);
  else if (failure.billed === 'no') await settle('rejected', facts);
  // Otherwise it stays open, and `foley recover` tells of it: the spool could not take what arrived, the
  // audio was whole and it is not known whether it got its name, or the service still has it.
}

function aboutOf(request: PaidRequest, idempotencyKey: string | undefined): IntentAbout {
  const { wire } = request;
  return {
    what: 'speech',
    endpoint: `${wire.method} ${wire.url.pathname}`,
    origin: wire.url.origin,
    target: request.target,
    account: null,
    idempotencyKey: idempotencyKey ?? null,
    requestId: request.requestId,
    bodySha256: sha256(wire.body ?? new Uint8Array()),
    textSha256: sha256(request.text),
    characters: null,
    output: request.output,
    temporary: request.temporary,
    estimatedCredits: null,
  };
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
