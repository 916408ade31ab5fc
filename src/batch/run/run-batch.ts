import { setMaxListeners } from 'node:events';
import path from 'node:path';
import { parseRanges } from '../../contract/unspoken.ts';
import { Failure } from '../../errors/failure.ts';
import type { ReuseFields } from '../../paid/reuse/reused.ts';
import { reuseFields } from '../../paid/reuse/reused.ts';
import type { LeftOutWord } from '../../paid/unspoken.ts';
import { unspokenWords } from '../../paid/unspoken.ts';
import type { ItemStatus } from '../journal/journal.ts';
import type { BatchItem } from '../plan/plan.ts';
import { AlignedSpeaker, itemBodies } from './aligned-speaker.ts';
import { AudioCopies } from './audio-copies.ts';
import { classifyItems, retainItems, textsToBuy } from './classify.ts';
import type { BatchOptions } from './batch-options.ts';
import type { ClassifiedItem } from './classify.ts';
import { budgetFailure } from './credit-budget.ts';
import { endedFailure, endsBatch, fetchFrom } from './decide.ts';
import { JobSpeaker } from './job-speaker.ts';
import { PausedSpeaker } from './paused-speaker.ts';
import type { WrittenCaptions } from '../../captions/caption-files.ts';
import type { DeliveredItem, ItemSpeaker } from './publish-audio.ts';
import { OutputFolders } from './publish-audio.ts';
import { AudioReuse } from './reuse-audio.ts';

export interface ItemResult {
  readonly item: BatchItem;
  readonly status: 'done' | 'failed' | 'skipped';
  /** Path relative to the output folder; null if the item has no audio file. */
  readonly output: string | null;
  /** Cost of delivered audio in credits: 0 if foley already had the audio. Null if unknown or nothing was delivered. */
  readonly creditsUsed: number | null;
  /** The fields about reuse; undefined without `--reuse`, and for items that were not delivered. */
  readonly reuse?: ReuseFields | undefined;
  readonly error: Failure | undefined;
  /** The caption files that this command wrote. */
  readonly captions?: readonly WrittenCaptions[];
  /** The words that the audio leaves out, because the voice cannot speak them. */
  readonly unspoken: readonly LeftOutWord[];
}

interface JournaledItem {
  readonly classified: ClassifiedItem;
  readonly status: ItemStatus;
}

interface ReadyItem extends JournaledItem {
  readonly reserved: number;
  readonly isFetch: boolean;
}

const WINDOW = 64;

export class Batch {
  readonly #options: BatchOptions;
  readonly #folders: OutputFolders;
  readonly #speaker: ItemSpeaker;
  readonly #paused: PausedSpeaker;
  readonly #copies: AudioCopies;
  readonly #reuse: AudioReuse;
  readonly #items: ReturnType<typeof retainItems>;
  #onResult: (result: ItemResult) => Promise<void> = async () => {};
  readonly #limit = new AbortController();
  #stopped: { readonly reason: unknown } | undefined;
  #unreached = 0;
  #reporting: Promise<void> = Promise.resolve();
  readonly #placed = new Set<number>();
  // Items that wait for the audio of an equal item, by the number of that item.
  readonly #sharing = new Map<number, ClassifiedItem[]>();
  #hasReuse = false;

  constructor(options: BatchOptions) {
    this.#options = options;
    const { captions, client, folder, origin, rerun, system } = options;
    const { copyFolder, index, redoToken } = folder;
    const { notice } = options;
    const folders = new OutputFolders(system, folder.temporaries, rerun.outputFlag, notice);
    const copies = new AudioCopies(system, copyFolder, captions);
    this.#folders = folders;
    this.#copies = copies;
    this.#speaker =
      captions === undefined
        ? new JobSpeaker(options, folders, (reason) => this.#stop(reason))
        : new AlignedSpeaker(options, folders, captions, copies);
    const partSpeaker =
      captions === undefined
        ? this.#speaker
        : new AlignedSpeaker(options, folders, { ...captions, formats: ['json'] }, undefined);
    const isStopped = (): boolean => this.#stopped !== undefined;
    this.#paused = new PausedSpeaker(options, folders, partSpeaker, isStopped);
    const { sidecars } = this.#speaker;
    const lookup = { system, rerun, index, sidecars, copies };
    this.#reuse = new AudioReuse(lookup, folder, folders);
    const bodies = itemBodies(client, captions);
    this.#items = retainItems(() =>
      classifyItems(options.items(), { ...lookup, ...bodies, origin, redoToken }),
    );
  }

  /**
   * Decides for each item how `run` will get the audio, and yields the item with this decision. Sends nothing.
   * @throws Failure of kind `output` or `usage`, or of kind `exists` for an output file that the batch did not make
   */
  async *classify(): AsyncGenerator<ClassifiedItem, void, undefined> {
    for await (const classified of this.#items.first()) {
      const { kind } = classified.decision;
      this.#hasReuse ||= kind === 'reuse' || kind === 'share';
      yield classified;
    }
  }

  /**
   * Speaks several items at a time. If the user stops the batch or an error affects all items (such as no credits),
   * running items finish and no further request is sent. Never rejects.
   * @param onResult called with each result, one at a time
   * @returns the reason why some items were not tried; undefined if all items were tried
   */
  async run(onResult: (result: ItemResult) => Promise<void>): Promise<unknown> {
    const { concurrency, graceMs, signal, system } = this.#options;
    this.#onResult = onResult;
    let cancel: (() => void) | undefined;
    const onAbort = (): void => {
      this.#stop(signal.reason);
      cancel = system.clock.after(graceMs, () => this.#limit.abort(signal.reason));
    };
    // Every request listens to this signal; the many listeners are not a leak.
    setMaxListeners(0, this.#limit.signal);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      if (this.#hasReuse) await this.#reuseAll();
      const ready = this.#ready();
      await Promise.all(Array.from({ length: concurrency }, () => this.#work(ready)));
      await this.#reporting;
      await this.#folders.sync();
      if (this.#stopped === undefined) {
        await this.#reuse.tidy();
        await this.#paused.tidy();
      }
    } catch (error) {
      this.#stop(error);
    } finally {
      signal.removeEventListener('abort', onAbort);
      cancel?.();
    }
    return this.#stopped?.reason;
  }

  #stop(reason: unknown): void {
    this.#stopped ??= { reason };
  }

  async #work(ready: AsyncGenerator<ReadyItem, void, undefined>): Promise<void> {
    // While one item is downloaded the service can make the next one, but not a third.
    let download: Promise<void> = Promise.resolve();
    try {
      for (;;) {
        const next = await ready.next();
        if (next.done === true) return;
        const before = download;
        await new Promise<void>((onMade) => {
          download = this.#performOrStop(next.value, onMade).finally(onMade);
        });
        await before;
      }
    } catch (error) {
      // An error of the plan or the journal; those of items are caught below.
      this.#stop(error);
    } finally {
      await download;
    }
  }

  async #performOrStop(ready: ReadyItem, onMade: () => void): Promise<void> {
    try {
      const outcome = await this.#perform(ready, onMade);
      await this.#share(ready.classified, outcome);
    } catch (error) {
      // An error of `onResult`.
      this.#stop(error);
    }
  }

  async #reuseAll(): Promise<void> {
    let waiting: ClassifiedItem[] = [];
    for await (const classified of this.#items.again()) {
      if (this.#stopped !== undefined) return;
      const { decision } = classified;
      if (decision.kind === 'share') {
        const sharing = this.#sharing.get(decision.of) ?? [];
        this.#sharing.set(decision.of, sharing);
        sharing.push(classified);
      }
      if (decision.kind !== 'reuse') continue;
      waiting.push(classified);
      if (waiting.length < WINDOW) continue;
      await this.#placeAll(waiting);
      waiting = [];
    }
    await this.#placeAll(waiting);
  }

  async #placeAll(window: readonly ClassifiedItem[]): Promise<void> {
    await this.#claim(window);
    for (const classified of window) {
      if (this.#stopped !== undefined) return;
      const { decision } = classified;
      if (decision.kind === 'reuse') await this.#place(classified, decision.status);
    }
  }

  #claim(window: readonly ClassifiedItem[]): Promise<void> {
    const outputs = window.map(({ item }) => item.output);
    const { sidecars } = this.#speaker;
    return this.#options.folder.claim(outputs.flatMap((output) => [output, ...sidecars(output)]));
  }

  async #place({ displaced, isNew, item }: ClassifiedItem, status: ItemStatus): Promise<boolean> {
    const { changes, output, tags } = item;
    try {
      const placed = await this.#reuse.place(status, { changes, output, tags, isNew, displaced });
      if (placed === undefined) return false;
      this.#placed.add(item.index);
      await this.#reportDelivered(item, { status: placed }, 0);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.#placed.add(item.index);
      if (endsBatch(error)) this.#stop(error);
      await this.#reportFailed(item, error);
    }
    return true;
  }

  async #share({ item }: ClassifiedItem, outcome: ItemStatus | Failure): Promise<void> {
    const sharing = this.#sharing.get(item.index) ?? [];
    if (sharing.length > 0 && !(outcome instanceof Failure)) await this.#claim(sharing);
    for (const classified of sharing) {
      this.#placed.add(classified.item.index);
      if (outcome instanceof Failure) await this.#reportFailed(classified.item, outcome);
      else if (!(await this.#place(classified, outcome))) {
        await this.#reportFailed(classified.item, endedFailure('lost', outcome));
      }
    }
  }

  // Yields items whose idempotency keys are on disk.
  async *#ready(): AsyncGenerator<ReadyItem, void, undefined> {
    const windows = this.#journaled();
    const take = (): ReturnType<typeof windows.next> => {
      const window = windows.next();
      // Nothing awaits the last window after a stop.
      window.catch(() => undefined);
      return window;
    };
    try {
      for (let coming = take(); ;) {
        const window = await coming;
        if (window.done === true) return;
        // The next items are classified and journaled while these are sent.
        coming = take();
        for (const { classified, status } of window.value) {
          if (this.#stopped !== undefined) return;
          const isFetch = classified.decision.kind === 'fetch';
          const reserved = isFetch ? 0 : await this.#estimate(classified);
          if (!this.#options.budget.reserve(reserved)) return this.#stop(budgetFailure());
          yield { classified, status, reserved, isFetch };
        }
      }
    } finally {
      await windows.return();
    }
  }

  async #estimate(classified: ClassifiedItem): Promise<number> {
    const { estimate } = this.#options;
    let sum = 0;
    for (const { characters } of (await textsToBuy(classified, this.#options)).values()) {
      sum += estimate({ ...classified.item, characters });
    }
    return sum;
  }

  // The first group has one item per worker, so that the first requests start early.
  async *#journaled(): AsyncGenerator<readonly JournaledItem[], void, undefined> {
    const { concurrency, origin } = this.#options;
    let size = concurrency;
    let waiting: ClassifiedItem[] = [];
    for await (const classified of this.#items.again()) {
      const { decision, item } = classified;
      if (this.#placed.has(item.index) || decision.kind === 'share') continue;
      if (this.#stopped !== undefined) return;
      // The audio that was to be reused is missing now.
      const isMissing = decision.kind === 'reuse';
      const next = isMissing
        ? { ...classified, decision: fetchFrom(origin, decision.status) }
        : classified;
      const { kind } = next.decision;
      if (kind === 'skip' || kind === 'ended') {
        await this.#reportUnsent(next);
        continue;
      }
      waiting.push(next);
      if (waiting.length < size) continue;
      yield await this.#journal(waiting);
      waiting = [];
      size = WINDOW;
    }
    yield await this.#journal(waiting);
  }

  async #journal(items: readonly ClassifiedItem[]): Promise<readonly JournaledItem[]> {
    if (this.#stopped !== undefined) return [];
    const all = items.map((classified) => ({ classified, ...this.#statusOf(classified) }));
    const unknown = all.filter(({ isKnown }) => !isKnown);
    await this.#options.folder.plan(unknown.map(({ status }) => status));
    return all;
  }

  #statusOf({ body, decision, item }: ClassifiedItem): { status: ItemStatus; isKnown: boolean } {
    const { folder, origin, rerun } = this.#options;
    const { status: known } = decision;
    const before = known?.about?.origin === origin ? known.about : undefined;
    if (known !== undefined && before?.output === item.output) {
      return { status: known, isKnown: true };
    }
    const isNew = decision.kind === 'speak';
    const generation = isNew ? decision.generation : (known?.generation ?? 0);
    const { output } = item;
    const besides = this.#speaker.sidecars(output);
    const about = {
      ...before,
      output,
      ...(besides.length === 0 ? {} : { besides }),
      key: before?.key ?? this.#speaker.keyOf(body, generation),
      origin,
      ...(isNew && decision.isAgain && rerun.isRedone(item.id) ? { redo: folder.redoToken } : {}),
    };
    const state = isNew ? 'planned' : (known?.state ?? 'planned');
    const request = { item: known?.item ?? item.id, body, generation };
    return { isKnown: false, status: { ...request, state, about, facts: known?.facts ?? {} } };
  }

  async #perform(ready: ReadyItem, onMade: () => void): Promise<ItemStatus | Failure> {
    const { budget, concurrency } = this.#options;
    const { displaced, item } = ready.classified;
    let isSettled = false;
    const settle = (credits: number): void => {
      if (!isSettled) budget.settle(ready.reserved, credits);
      isSettled = true;
    };
    try {
      if (displaced !== undefined) await this.#reuse.keepDisplaced(item.output, displaced);
      const delivered = await this.#speak(ready, (cost) => {
        // Before the next item reserves credits.
        settle(costOf(ready, cost) ?? ready.reserved);
        onMade();
      });
      this.#unreached = 0;
      const creditsUsed = costOf(ready, delivered.creditsUsed);
      settle(creditsUsed ?? ready.reserved);
      const file = path.join(this.#options.rerun.outputDir, item.output);
      await this.#copies.add(file, delivered.status.facts);
      await this.#reportDelivered(item, delivered, creditsUsed);
      return delivered.status;
    } catch (error) {
      // A request that may have been billed counts with its estimate, unless more is known.
      const isFree = error instanceof Failure && error.billed === 'no';
      settle(Math.max(this.#paused.paidFor(item), isFree ? 0 : ready.reserved));
      if (!(error instanceof Failure)) throw error;
      this.#unreached = error.exit === 'network' ? this.#unreached + 1 : 0;
      // Each worker has failed to connect twice.
      if (endsBatch(error) || this.#unreached >= 2 * concurrency) this.#stop(error);
      await this.#reportFailed(item, error);
      return error;
    }
  }

  async #speak(
    { classified: { isNew, item }, status }: ReadyItem,
    onMade: (creditsUsed: number | undefined) => void,
  ): Promise<DeliveredItem> {
    const file = path.join(this.#options.rerun.outputDir, item.output);
    const speaker = item.parts === undefined ? this.#speaker : this.#paused;
    const work = { item, status, file, isNew, onMade };
    const delivered = await speaker.speak(work, this.#limit.signal);
    const published = this.#options.folder.notePublished(delivered.status, delivered.published);
    this.#paused.settle(item);
    return { ...delivered, status: published };
  }

  async #reportUnsent({ decision, item }: ClassifiedItem): Promise<void> {
    const result = { item, output: item.output, creditsUsed: null, unspoken: [] } as const;
    if (decision.kind === 'skip') {
      this.#paused.settle(item);
      const unspoken = unspokenOf(item, decision.status);
      await this.#report({ ...result, status: 'skipped', error: undefined, unspoken });
    } else if (decision.kind === 'ended') {
      const failure = endedFailure(decision.why, decision.status);
      const isPartial = decision.why === 'partial';
      const output = isPartial ? item.output : null;
      const error = isPartial ? failure : this.#paused.endedFailure(item, failure);
      if (!isPartial) this.#paused.keep(item);
      await this.#report({ ...result, status: 'failed', output, error });
    }
  }

  #reportDelivered(
    item: BatchItem,
    {
      captions = [],
      reused,
      status: made,
    }: Partial<DeliveredItem> & { readonly status: ItemStatus },
    creditsUsed: number | null,
  ): Promise<void> {
    const error = made.facts.isPartial === true ? endedFailure('partial', made) : undefined;
    const status = error === undefined ? 'done' : 'failed';
    const unspoken = unspokenOf(item, made);
    const reuse = this.#options.reuse === undefined ? undefined : reuseFields(reused);
    const result = { item, status, output: item.output, creditsUsed, reuse } as const;
    return this.#report({ ...result, error, captions, unspoken });
  }

  #reportFailed(item: BatchItem, error: Failure): Promise<void> {
    this.#paused.keep(item);
    const result = { item, status: 'failed', output: null, creditsUsed: null } as const;
    return this.#report({ ...result, error, unspoken: [] });
  }

  #report(result: ItemResult): Promise<void> {
    this.#reporting = this.#reporting.then(() => this.#onResult(result));
    return this.#reporting;
  }
}

function unspokenOf({ order }: BatchItem, { facts }: ItemStatus): readonly LeftOutWord[] {
  return unspokenWords(order.text, parseRanges(facts.unspoken ?? ''));
}

// Null if unknown; 0 if an earlier command had already received the audio.
function costOf({ isFetch, status }: ReadyItem, creditsUsed: number | undefined): number | null {
  return isFetch && status.state !== 'accepted' ? 0 : (creditsUsed ?? null);
}
