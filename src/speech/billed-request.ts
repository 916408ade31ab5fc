import { crc32 } from 'node:zlib';
import { reviseFailure } from '../api/failures.ts';
import type { WireRequest } from '../api/request.ts';
import type { AudioAnswer } from '../api/audio-response.ts';
import type { ExitName } from '../contract/exit-codes.ts';
import type {
  Intent,
  IntentAbout,
  IntentFacts,
  IntentJournal,
  OpenState,
  SettledState,
} from '../durable/intents.ts';
import type { Failure } from '../errors/failure.ts';
import type { Kept } from './rescue.ts';

/** What is asked for, as the journal writes it down. */
interface PaidRequest {
  /** What it is; `speech` by default. */
  readonly what?: string | undefined;
  readonly wire: WireRequest;
  readonly target: 'embedded' | 'hosted';
  /** None where the service knows no key. */
  readonly idempotencyKey: string | undefined;
  /** The person chose it, so that an earlier command may have asked for the same under it. */
  readonly hasOwnKey: boolean;
  /** Who pays, as far as it can be known. */
  readonly apiKey: string | undefined;
  readonly requestId: string | null;
  /** The flags with which the same is asked for again at no cost; `--idempotency-key` by default. */
  readonly repeatWith?: string | undefined;
  /** Asked for so again it goes on where it was: what was heard is stored, and not paid for again. */
  readonly goesOn?: boolean | undefined;
  readonly output: string | null;
  readonly temporary: string | null;
  /** By what `foley recover` asks again, or looks for what was made, where there is no answer. */
  readonly body?: Uint8Array | undefined;
  /** The operation of an interrupted command, which goes on; by default a new one. */
  readonly resumes?: Intent | undefined;
}

/** One request that may cost credits, from before it is sent until it is known what became of it. */
export interface PaidWork {
  /** For the spool: which operation audio belongs to. */
  readonly id: string;
  /** The key under which it was asked for last, which is not billed a second time; if there is one. */
  readonly key: string | undefined;
  /** The flags with which the same is asked for again without paying twice; where that can be done. */
  readonly repeatWith: string | undefined;
  /** Then it goes on where it was. */
  readonly goesOn: boolean;
  /** All of it had come and was checked. */
  readonly isVerified: boolean;
  /** A refunded request goes out again under another key, which is written down first. */
  renew(key: string): Promise<void>;
  /**
   * The answer began, so that it is charged now, or a job was accepted, which from here on is asked
   * for by its id; noted on the disk when this resolves.
   */
  accepted(facts: IntentFacts): Promise<void>;
  /** The job is done: its audio can be fetched, as often as it is wanted. */
  done(facts: IntentFacts): Promise<void>;
  /** It failed and cost nothing, was never sent whole, or is gone with what it cost; or its id was all that was wanted. */
  ended(state: 'failed' | 'lost' | 'published' | 'rejected', facts: IntentFacts): Promise<void>;
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
  const { body, idempotencyKey: key, resumes } = request;
  const intent = resumes ?? (await journal.begin(aboutOf(request, key), body));
  const work = new WrittenWork(journal, request, intent);
  // What goes on was sent before.
  if (resumes === undefined) await work.send();
  return work;
}

class WrittenWork implements PaidWork {
  key: string | undefined;
  readonly #journal: IntentJournal;
  readonly #request: PaidRequest;
  #intent: Intent;
  #jobId: string | undefined;

  constructor(journal: IntentJournal, request: PaidRequest, intent: Intent) {
    this.#journal = journal;
    this.#request = request;
    this.#intent = intent;
    this.key = request.idempotencyKey;
  }

  get id(): string {
    return this.#intent.id;
  }

  get repeatWith(): string | undefined {
    const { key } = this;
    return this.#request.repeatWith ?? (key === undefined ? undefined : `--idempotency-key ${key}`);
  }

  get goesOn(): boolean {
    return this.#request.goesOn === true;
  }

  get isVerified(): boolean {
    return this.#intent.state === 'verified';
  }

  async send(): Promise<void> {
    await this.#intent.advance('sent').catch(async (error: unknown) => {
      await this.#settle('rejected', { problem: 'never sent' });
      throw error;
    });
  }

  async renew(key: string): Promise<void> {
    const next = await this.#journal.begin(aboutOf(this.#request, key), this.#request.body);
    await this.#settle('failed', { problem: 'refunded by the service' });
    this.#intent = next;
    this.key = key;
    await next.advance('sent');
  }

  accepted(facts: IntentFacts): Promise<void> {
    this.#jobId = facts.jobId;
    return this.#note('accepted', facts);
  }

  done(facts: IntentFacts): Promise<void> {
    return this.#note('done', facts);
  }

  verified(facts: IntentFacts): Promise<void> {
    return this.#note('verified', facts);
  }

  async published(facts: IntentFacts): Promise<void> {
    await this.#settle('published', facts);
    await this.#settleEarlier(true);
  }

  async ended(
    state: 'failed' | 'lost' | 'published' | 'rejected',
    facts: IntentFacts,
  ): Promise<void> {
    await this.#settle(state, facts);
    if (state === 'published') await this.#settleEarlier(false);
  }

  async failed(failure: Failure, kept: Kept | undefined): Promise<void> {
    // Of a job nothing is lost: it stays open, and can be fetched.
    if (this.#jobId !== undefined) return;
    const settle: Intent['settle'] = (state, facts) => this.#settle(state, facts);
    await settleFailed({ intent: this.#intent, settle }, failure, kept);
  }

  async stopped({ id }: Kept): Promise<void> {
    if (id !== undefined) await this.#settle('kept', { spoolId: id });
  }

  abandoned(): Promise<void> {
    return this.#settle('abandoned');
  }

  /** A command under the same key that was killed has nothing left to be told of. */
  async #settleEarlier(isDelivered: boolean): Promise<void> {
    if (!this.#request.hasOwnKey) return;
    const about = aboutOf(this.#request, this.key);
    const done = { about, jobId: this.#jobId, isDelivered, goesOn: this.goesOn };
    await this.#journal.settleRepeated(done).catch(() => undefined);
  }

  // The request is out: a journal that fails now must not take away what was paid for.
  #settle(state: SettledState, facts?: IntentFacts): Promise<void> {
    return this.#intent.settle(state, facts).catch(() => undefined);
  }

  #note(state: OpenState, facts: IntentFacts): Promise<void> {
    return this.#intent.advance(state, facts).catch(() => undefined);
  }
}

interface Settling {
  readonly intent: Intent;
  readonly settle: Intent['settle'];
}

async function settleFailed(
  { intent, settle }: Settling,
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
  const { apiKey, hasOwnKey, target, wire } = request;
  const isMarked = target === 'hosted' && apiKey !== undefined && idempotencyKey !== undefined;
  return {
    what: request.what ?? 'speech',
    endpoint: `${wire.method} ${wire.url.pathname}`,
    origin: wire.url.origin,
    target,
    idempotencyKey: idempotencyKey ?? null,
    ...(hasOwnKey ? { isOwnKey: true } : {}),
    ...(isMarked ? { payer: markOf(apiKey) } : {}),
    requestId: request.requestId,
    output: request.output,
    temporary: request.temporary,
  };
}

/** Whether the account of an address is, as far as can be known, the one that was to pay. */
export function isPayer({ payer }: IntentAbout, apiKey: string | undefined): boolean {
  return payer === undefined || (apiKey !== undefined && payer === markOf(apiKey));
}

/** So short that it tells next to nothing of the key, however often it is written: many have the same one. */
function markOf(apiKey: string): string {
  return crc32(apiKey).toString(16).padStart(8, '0');
}

/** What has been answered with audio has been paid for, unless the service refunded it. */
export function withCost(
  failure: Failure,
  answer: Pick<AudioAnswer, 'creditsUsed'> | undefined,
): Failure {
  if (answer === undefined || isRefunded(failure)) return failure;
  const isSure = answer.creditsUsed !== undefined || failure.billed === 'yes';
  return reviseFailure(failure, { billed: isSure ? 'yes' : 'unknown' });
}

function isRefunded({ billed, code }: Failure): boolean {
  return code === 'ERR_GENERATION_FAILED' && billed === 'no';
}

/** Notes how it ended, and gives the failure with what the person can do. */
export async function concludeFailed(
  failure: Failure,
  work: PaidWork,
  kept: Kept | undefined,
): Promise<Failure> {
  await work.failed(failure, kept);
  const again = howToAskAgain(failure, work);
  const hints = kept === undefined ? [failure.hint, again] : whereItIs(kept, failure, work, again);
  const hint = hints.filter((one) => one !== undefined).join(' ');
  if (hint === '') return failure;
  const isGone = kept === undefined && again === IS_LOST && EXITS_WHEN_KEPT.has(failure.exit);
  return reviseFailure(failure, { hint, ...(isGone ? { code: 'lost', exit: 'lost' } : {}) });
}

const IS_LOST = 'The audio was paid for and is lost.';
/** Our own side failed: the audio itself was good. */
const EXITS_WHEN_KEPT: ReadonlySet<ExitName> = new Set(['exists', 'output', 'state']);

/** Asking under the same key cannot cost a second time, but what was paid for may be lost. */
function howToAskAgain(failure: Failure, work: PaidWork): string | undefined {
  const { billed, code, exit } = failure;
  const { goesOn, isVerified, repeatWith } = work;
  if (isStored(failure)) {
    return `The audio is paid for and stored: run it again with ${repeatWith}, which fetches it.`;
  }
  // What the service refuses under this id it refuses again.
  if (goesOn && (exit === 'rejected' || code === 'session_limit_exceeded')) return undefined;
  if (goesOn && billed !== 'no' && exit !== 'lost') return howToGoOn(work);
  if (isVerified) return 'All of the audio had come; `foley recover` finds out where it is.';
  if (billed === 'unknown') {
    if (repeatWith === undefined) return undefined;
    return `To ask again without paying twice, add ${repeatWith}.`;
  }
  return billed === 'yes' && exit !== 'lost' ? IS_LOST : undefined;
}

/**
 * Notes that the person stopped it, who may have paid for it, and gives what there is to say.
 * @param lookAt where to see what became of it, when nothing can be asked for again
 */
export async function concludeStopped(
  work: PaidWork,
  kept: Kept | undefined,
  lookAt = 'it may have been paid for (`foley profile` shows the credits)',
): Promise<string> {
  if (kept === undefined) {
    const again =
      work.repeatWith === undefined
        ? lookAt
        : `to go on without paying twice, run it again with ${work.repeatWith}`;
    return `foley: stopped before the answer came; ${again}`;
  }
  await work.stopped(kept);
  const again = work.goesOn ? `. ${howToGoOn(work)}` : '';
  return `foley: stopped; what arrived is kept in ${kept.path}${again}`;
}

function howToGoOn({ repeatWith }: PaidWork): string {
  return `The same text with ${repeatWith} goes on without paying twice.`;
}

function whereItIs(
  { complete, id, path: file }: Kept,
  failure: Failure,
  { goesOn }: PaidWork,
  again: string | undefined,
): readonly (string | undefined)[] {
  if (complete && id !== undefined) {
    return [
      `The audio was paid for and is kept in ${file}; \`foley recover ${id}\` brings it back.`,
    ];
  }
  if (isRefunded(failure)) return [`What arrived is kept in ${file}.`, failure.hint];
  return isStored(failure) || (goesOn && again !== undefined)
    ? [`What arrived is kept in ${file}.`, again]
    : [`What arrived is kept in ${file}; asking again may cost again.`, failure.hint];
}

/**
 * Whether the service keeps the audio of a failed request, and gives it again to the same request (docs/api/errors.md#idempotency, `cache`).
 */
function isStored({ details }: Pick<Failure, 'details'>): boolean {
  return details?.['audio_url'] !== undefined;
}
