import { setMaxListeners } from 'node:events';
import { LONGEST_RETRY_AFTER_MS } from '../../api/retry.ts';
import { hasErrno } from '../../durable/file-failures.ts';
import type { Clock } from '../../effects/clock.ts';
import { Failure } from '../../errors/failure.ts';
import type { FailureOptions } from '../../errors/failure.ts';
import { counted } from '../../text/display.ts';
import type { BatchFolder } from '../journal/batch-folder.ts';
import type { ItemStatus } from '../journal/journal.ts';
import type { BatchItem } from '../plan/plan.ts';
import { fetchFrom } from './classify.ts';
import type { Ended, Surveyed } from './classify.ts';
import type { ItemSpeaker } from './item-speaker.ts';
import type { AudioReuse } from './reuse-audio.ts';
import type { Written } from './journal-ahead.ts';
import { journalAhead } from './journal-ahead.ts';

/** What became of one item. */
export interface ItemResult {
  readonly item: BatchItem;
  readonly status: 'done' | 'failed' | 'skipped';
  /** Below the output folder; null when there is none. */
  readonly output: string | null;
  /** What it cost in this run or an earlier one, when it was delivered now. */
  readonly creditsUsed: number | null;
  readonly error: Failure | undefined;
}

export interface BatchOptions {
  /** All that are to be looked at, in order; read once and as slowly as it is needed. */
  readonly items: AsyncIterable<Surveyed>;
  /** The same once more where some of them need no request, since their audio is there or will be. */
  readonly unsent: AsyncIterable<Surveyed> | undefined;
  readonly folder: Pick<BatchFolder, 'claim' | 'plan' | 'redoToken' | 'secret'>;
  readonly reuse: AudioReuse;
  readonly speaker: ItemSpeaker;
  readonly origin: string;
  readonly concurrency: number;
  readonly budget: CreditBudget;
  /** Credits that an item may cost. */
  readonly estimate: (item: BatchItem) => number;
  readonly fileOf: (item: BatchItem) => string;
  readonly clock: Clock;
  /** The person wants to stop. */
  readonly signal: AbortSignal;
  /** How long what is paid for may still take to arrive then, in milliseconds. */
  readonly graceMs: number;
  /** How often an item is asked for anew that was refused because there were too many requests. */
  readonly maxRetries: number;
  /** Brings the names of all files to the disk. */
  readonly sync: () => Promise<void>;
  /** Told of every result, one after the other. */
  readonly onResult: (result: ItemResult) => Promise<void>;
}

export interface BatchOutcome {
  /** Why not all items were tried; undefined when they were. */
  readonly stopped: unknown;
}

/** Ends the batch from outside, such as when nothing can be written down any more. */
export interface BatchRun {
  stop(reason: unknown): void;
  /** Never rejects because of an item. */
  readonly ended: Promise<BatchOutcome>;
}

/**
 * Speaks the items of a batch, so many at once, each result told when it is there. What fails takes
 * nothing away from the others, but for what would fail all of them: a key that is refused, credits that
 * are used up, a full disk. Then, and when the person stops it, nothing new is sent, and what is under
 * way comes to its end.
 */
export function runBatch(options: BatchOptions): BatchRun {
  const run = new Run(options);
  return { stop: (reason) => run.stop(reason), ended: run.work() };
}

/** An item that may be sent now. */
interface Ready extends Written {
  readonly reserved: number;
  readonly isFetch: boolean;
}

class Run {
  readonly #options: BatchOptions;
  /** Ends what is under way, a while after the person stopped the batch. */
  readonly #limit = new AbortController();
  #stopped: { readonly reason: unknown } | undefined;
  /** Items in a row for which the service could not be reached. */
  #unreached = 0;
  #telling: Promise<void> = Promise.resolve();
  /** Items, by their numbers, that are given the audio of another one, and those by the number of that one. */
  readonly #placed = new Set<number>();
  readonly #sharing = new Map<number, Surveyed[]>();

  constructor(options: BatchOptions) {
    this.#options = options;
  }

  stop(reason: unknown): void {
    this.#stopped ??= { reason };
  }

  async work(): Promise<BatchOutcome> {
    const { clock, concurrency, graceMs, signal } = this.#options;
    let cancel: (() => void) | undefined;
    const onStop = (): void => {
      this.stop(signal.reason);
      cancel = clock.after(graceMs, () => this.#limit.abort(signal.reason));
    };
    // Each request of each item listens; so many are no leak.
    setMaxListeners(0, this.#limit.signal);
    signal.addEventListener('abort', onStop, { once: true });
    if (signal.aborted) onStop();
    try {
      await this.#reuseAll();
      const ready = this.#ready();
      const workers = Array.from({ length: concurrency }, () => this.#drain(ready));
      await Promise.all(workers);
      await this.#telling;
      await this.#options.sync();
      if (this.#stopped === undefined) await this.#options.reuse.tidy();
    } catch (error) {
      this.stop(error);
    } finally {
      signal.removeEventListener('abort', onStop);
      cancel?.();
    }
    return { stopped: this.#stopped?.reason };
  }

  /** Each was tried for a while: when nobody came through, nobody will. */
  get #mostUnreached(): number {
    return 2 * this.#options.concurrency;
  }

  async #drain(ready: AsyncGenerator<Ready, void, undefined>): Promise<void> {
    // While the audio of one is fetched the service can make that of the next, but of no third.
    let fetching: Promise<void> = Promise.resolve();
    try {
      // Workers that ask at once are served in turn.
      for (;;) {
        const next = await ready.next();
        if (next.done === true) return;
        const before = fetching;
        await new Promise<void>((onMade) => {
          fetching = this.#performOrStop(next.value, onMade).finally(onMade);
        });
        await before;
      }
    } catch (error) {
      // Of the plan or the journal; items do not fail here.
      this.stop(error);
    } finally {
      await fetching;
    }
  }

  async #performOrStop(ready: Ready, onMade: () => void): Promise<void> {
    try {
      const outcome = await this.#perform(ready, onMade);
      await this.#share(ready.surveyed, outcome);
    } catch (error) {
      // Of whoever is told.
      this.stop(error);
    }
  }

  /** Gives audio that is in the folder the names of this plan, before anything is sent. */
  async #reuseAll(): Promise<void> {
    let waiting: Surveyed[] = [];
    for await (const surveyed of this.#options.unsent ?? []) {
      if (this.#stopped !== undefined) return;
      const { decision } = surveyed;
      if (decision.kind === 'share') {
        const sharing = this.#sharing.get(decision.of);
        if (sharing === undefined) this.#sharing.set(decision.of, [surveyed]);
        else sharing.push(surveyed);
      }
      if (decision.kind !== 'reuse') continue;
      waiting.push(surveyed);
      if (waiting.length < CLAIMED_TOGETHER) continue;
      await this.#place(waiting);
      waiting = [];
    }
    await this.#place(waiting);
  }

  async #place(window: readonly Surveyed[]): Promise<void> {
    await this.#claim(window);
    for (const surveyed of window) {
      if (this.#stopped !== undefined) return;
      const { decision } = surveyed;
      if (decision.kind === 'reuse') await this.#placeOne(surveyed, decision.status);
    }
  }

  #claim(window: readonly Surveyed[]): Promise<void> {
    const { folder, speaker } = this.#options;
    const outputs = window.map(({ item }) => item.output);
    return folder.claim(outputs.flatMap((output) => [output, ...speaker.besides(output)]));
  }

  /** False when the audio is not in the folder any more. */
  async #placeOne({ displaced, isNew, item }: Surveyed, status: ItemStatus): Promise<boolean> {
    const { output } = item;
    try {
      const placed = await this.#options.reuse.place(status, { output, isNew, displaced });
      if (placed === undefined) return false;
      this.#placed.add(item.index);
      await this.#tellDelivered(item, placed, 0);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.#placed.add(item.index);
      if (endsBatch(error)) this.stop(error);
      await this.#tellFailed(item, error);
    }
    return true;
  }

  /** Gives equal items the audio of the one that was delivered, or its failure. */
  async #share({ item }: Surveyed, outcome: ItemStatus | Failure): Promise<void> {
    const sharing = this.#sharing.get(item.index) ?? [];
    if (sharing.length > 0 && !(outcome instanceof Failure)) await this.#claim(sharing);
    for (const surveyed of sharing) {
      this.#placed.add(surveyed.item.index);
      if (outcome instanceof Failure) await this.#tellFailed(surveyed.item, outcome);
      else if (!(await this.#placeOne(surveyed, outcome))) {
        await this.#tellFailed(surveyed.item, endedFailure('lost', outcome));
      }
    }
  }

  /** Items for which there may be something to send. */
  async *#unplaced(): AsyncGenerator<Surveyed, void, undefined> {
    for await (const surveyed of this.#options.items) {
      const { decision, item } = surveyed;
      if (this.#placed.has(item.index) || decision.kind === 'share') continue;
      const isGone = decision.kind === 'reuse';
      const origin = this.#options.origin;
      yield isGone ? { ...surveyed, decision: fetchFrom(origin, decision.status) } : surveyed;
    }
  }

  /** Items that may be sent now: their keys are on the disk. */
  async *#ready(): AsyncGenerator<Ready, void, undefined> {
    const windows = journalAhead({
      ...this.#options,
      items: this.#unplaced(),
      isStopped: () => this.#stopped !== undefined,
      onSettled: (surveyed) => this.#tellSettled(surveyed),
    });
    const take = (): ReturnType<typeof windows.next> => {
      const window = windows.next();
      // Whoever stops first does not come back for it.
      window.catch(() => undefined);
      return window;
    };
    try {
      for (let coming = take(); ;) {
        const window = await coming;
        if (window.done === true) return;
        // While these are sent, the next ones are looked at and written down.
        coming = take();
        for (const written of window.value) {
          if (this.#stopped !== undefined) return;
          const isFetch = written.surveyed.decision.kind === 'fetch';
          const reserved = isFetch ? 0 : this.#options.estimate(written.surveyed.item);
          if (!this.#options.budget.reserve(reserved)) return this.stop(unsentFailure());
          yield { ...written, reserved, isFetch };
        }
      }
    } finally {
      await windows.return();
    }
  }

  async #perform(ready: Ready, onMade: () => void): Promise<ItemStatus | Failure> {
    const { surveyed } = ready;
    const { budget, reuse } = this.#options;
    const { displaced, item } = surveyed;
    let isSettled = false;
    const settle = (credits: number): void => {
      if (!isSettled) budget.settle(ready.reserved, credits);
      isSettled = true;
    };
    try {
      if (displaced !== undefined) await reuse.keepAside(item.output, displaced);
      const delivered = await this.#speak(ready, (cost) => {
        // Before the next one is reserved.
        settle(this.#costOf(ready, cost) ?? ready.reserved);
        onMade();
      });
      this.#unreached = 0;
      const creditsUsed = this.#costOf(ready, delivered.creditsUsed);
      settle(creditsUsed ?? ready.reserved);
      await this.#tellDelivered(item, delivered.status, creditsUsed);
      return delivered.status;
    } catch (error) {
      settle(0);
      if (!(error instanceof Failure)) throw error;
      this.#unreached = error.exit === 'network' ? this.#unreached + 1 : 0;
      if (endsBatch(error) || this.#unreached >= this.#mostUnreached) this.stop(error);
      await this.#tellFailed(item, error);
      return error;
    }
  }

  /** A file that was made before and is fetched again costs nothing now. */
  #costOf({ isFetch, status }: Ready, creditsUsed: number | undefined): number | null {
    return isFetch && status.state !== 'accepted' ? 0 : (creditsUsed ?? null);
  }

  async #speak({ status, surveyed }: Ready, onMade: (creditsUsed: number | undefined) => void) {
    const { fileOf, maxRetries, speaker } = this.#options;
    const { isNew, item } = surveyed;
    for (let round = 0; ; round += 1) {
      try {
        const work = { item, status, file: fileOf(item), isNew, onMade };
        return await speaker.speak(work, this.#limit.signal);
      } catch (error) {
        const isBusy = error instanceof Failure && error.exit === 'rateLimited';
        const mayWait = isBusy && !endsBatch(error) && this.#stopped === undefined;
        // The gate lets it through when the others have had their turn.
        if (!mayWait || round >= maxRetries) throw error;
      }
    }
  }

  #tellSettled({ decision, item }: Surveyed): Promise<void> {
    if (decision.kind === 'skip') {
      const { output } = item;
      return this.#tell({ item, status: 'skipped', output, creditsUsed: null, error: undefined });
    }
    if (decision.kind !== 'ended') return Promise.resolve();
    const error = endedFailure(decision.why, decision.status);
    const output = decision.why === 'partial' ? item.output : null;
    return this.#tell({ item, status: 'failed', output, creditsUsed: null, error });
  }

  #tellDelivered(item: BatchItem, made: ItemStatus, creditsUsed: number | null): Promise<void> {
    const error = made.facts.isPartial === true ? endedFailure('partial', made) : undefined;
    const status = error === undefined ? 'done' : 'failed';
    return this.#tell({ item, status, output: item.output, creditsUsed, error });
  }

  #tellFailed(item: BatchItem, error: Failure): Promise<void> {
    return this.#tell({ item, status: 'failed', output: null, creditsUsed: null, error });
  }

  #tell(result: ItemResult): Promise<void> {
    this.#telling = this.#telling.then(() => this.#options.onResult(result));
    return this.#telling;
  }
}

/** Names that are written down together. */
const CLAIMED_TOGETHER = 64;

/** Whether what failed one item would fail the others too. */
function endsBatch({ cause, exit, retryAfter }: Failure): boolean {
  if (exit === 'auth' || exit === 'credits' || exit === 'state') return true;
  if (exit === 'rateLimited') return (retryAfter ?? 0) * 1_000 > LONGEST_RETRY_AFTER_MS;
  return exit === 'output' && hasErrno(cause, 'ENOSPC', 'EDQUOT', 'EROFS', 'EIO');
}

/** Why an item that came to an end is not delivered, and what the person can do. */
function endedFailure(why: Ended, status: ItemStatus): Failure {
  const { jobId } = status.facts;
  const details = jobId === undefined ? undefined : { jobId };
  const { message, ...options } = toldOf(why, status);
  return new Failure(message, { ...options, details });
}

function toldOf(
  why: Ended,
  { about, facts, state }: ItemStatus,
): FailureOptions & { readonly message: string } {
  const { creditsUsed, problem } = facts;
  const cost = creditsUsed === undefined ? 'of unknown cost' : counted(creditsUsed, 'credit');
  switch (why) {
    case 'failed':
      return {
        message: `its job failed: ${problem ?? 'the service did not say why'}`,
        code: 'ERR_JOB_FAILED',
        exit: 'rejected',
        hint: 'It was given back; --retry-failed asks for it again.',
      };
    case 'partial':
      return {
        message: 'only a part of it could be spoken or timed, and that part is in its files',
        code: 'partial_fail',
        exit: 'partial',
        billed: 'yes',
        hint: `--retry-failed buys all of it again (this part: ${cost}).`,
      };
    case 'lost':
      return lostOf(state, creditsUsed, cost);
    case 'elsewhere':
      return {
        message: `it was paid for at ${about?.origin ?? 'another service'}, which has its audio`,
        code: 'lost',
        exit: 'lost',
        billed: 'yes',
        hint: 'Run the batch against that service once more, or buy it here with --redo.',
      };
  }
}

function lostOf(state: ItemStatus['state'], creditsUsed: number | undefined, cost: string) {
  return {
    message: isDelivered(state)
      ? `a file of it is gone, and cannot be had again without paying (${cost})`
      : `it may have been paid for (${cost}), and its audio is lost`,
    code: 'lost',
    exit: 'lost',
    billed: creditsUsed === undefined ? 'unknown' : 'yes',
    hint: '--retry-failed buys it again.',
  } as const;
}

function isDelivered(state: ItemStatus['state']): boolean {
  return state === 'published' || state === 'verified';
}

/** The batch ends because the next item could cost more than is allowed. */
function unsentFailure(): Failure {
  return new Failure('the rest could cost more than --max-credits allows', {
    code: 'usage',
    exit: 'usage',
    hint: 'Raise --max-credits and run it again: it goes on where it was.',
  });
}

/** Credits that a batch may use (`--max-credits`): what was really used, and what is about to be. */
interface CreditBudget {
  /** Sets aside what an item may cost; false when that is more than is left. */
  reserve(credits: number): boolean;
  /** What was set aside is used, or was not needed. */
  settle(reserved: number, used: number): void;
  readonly used: number;
}

/** @param maximum infinite where nothing is limited */
export function createCreditBudget(maximum: number): CreditBudget {
  let used = 0;
  let reserved = 0;
  return {
    reserve(credits) {
      if (used + reserved + credits > maximum) return false;
      reserved += credits;
      return true;
    },
    settle(before, after) {
      reserved -= before;
      used += after;
    },
    get used() {
      return used;
    },
  };
}
