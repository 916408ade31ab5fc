import path from 'node:path';
import type { CaptionFiles } from '../../captions/caption-files.ts';
import { reviseFailure } from '../../api/failures.ts';
import { readTimings } from '../../captions/timings.ts';
import { audibleSpeech } from '../../paid/speakers/aligned-transport.ts';
import type { ReusedAudio } from '../../api/resources/speech.ts';
import { formatRanges } from '../../contract/unspoken.ts';
import { hasErrno, UnsafeFile } from '../../durable/file-failures.ts';
import type { Output } from '../../durable/output.ts';
import { removeQuietly } from '../../durable/files.ts';
import { readRegularFile } from '../../durable/regular-file.ts';
import { Failure } from '../../errors/failure.ts';
import type { PurchaseMetadata, PurchaseState } from '../../paid/purchase.ts';
import type { JoinedParts, SpokenPart } from '../../paid/parts/speak-parts.ts';
import { speakParts } from '../../paid/parts/speak-parts.ts';
import type { PartWords } from '../../paid/parts/whole-audio.ts';
import { WholeAudio, wholeRanges } from '../../paid/parts/whole-audio.ts';
import { reusedOf } from '../../paid/reuse/reused.ts';
import { wordRanges } from '../../paid/unspoken.ts';
import type { ItemStatus } from '../journal/journal.ts';
import { PART_ID } from '../journal/journal.ts';
import type { BatchItem } from '../plan/plan.ts';
import type { BatchOptions } from './batch-options.ts';
import { endedFailure } from './decide.ts';
import { captionNames, openItemCaptions, timingsOfItem } from './item-captions.ts';
import type { ItemPart } from './paused-items.ts';
import { classifyParts, isSilent, partDigests, partOutput, PARTS_FOLDER } from './paused-items.ts';
import type {
  DeliveredItem,
  ItemSpeaker,
  ItemWork,
  OnVerified,
  OutputFolders,
} from './publish-audio.ts';
import { publishItem } from './publish-audio.ts';

// Not `published`: the cost of a published part was counted with a finished item.
const PAID: ReadonlySet<PurchaseState> = new Set(['accepted', 'lost', 'verified']);

interface PausedPart extends ItemPart {
  /** Changes while the part is spoken. */
  status: ItemStatus;
}

interface PausedFiles {
  readonly captions: CaptionFiles | undefined;
  readonly output: Output;
}

/**
 * Speaks items with pauses. Each part is a separate request, and its audio is stored until the item is done. Then the
 * parts and the silences are joined.
 */
export class PausedSpeaker {
  readonly #batch: BatchOptions;
  readonly #folders: OutputFolders;
  readonly #speaker: ItemSpeaker;
  readonly #isStopped: () => boolean;
  readonly #slots: Slots;
  // Equal parts share one request, so that they are paid for once.
  readonly #speaking = new Map<string, Promise<ItemStatus>>();
  readonly #delivered = new Set<string>();
  readonly #kept = new Set<string>();

  /**
   * @param speaker speaks single parts
   * @param isStopped whether the batch is stopped; no further part is then sent
   */
  constructor(
    batch: BatchOptions,
    folders: OutputFolders,
    speaker: ItemSpeaker,
    isStopped: () => boolean,
  ) {
    this.#batch = batch;
    this.#folders = folders;
    this.#speaker = speaker;
    this.#isStopped = isStopped;
    this.#slots = new Slots(batch.concurrency);
  }

  /**
   * Speaks the missing parts of an item, joins all parts and writes the output file.
   * @throws Failure; the journal then records how to continue
   */
  async speak(work: ItemWork, signal: AbortSignal): Promise<DeliveredItem> {
    const { captions: wanted } = this.#batch;
    const captions =
      wanted === undefined ? undefined : await openItemCaptions(work.file, wanted, this.#folders);
    try {
      return await this.#speakParts(work, captions, signal);
    } finally {
      await captions?.abandon();
    }
  }

  /**
   * Adds a hint to the failure of an item that was not tried. The hint says how many of its parts are paid for and
   * stored.
   */
  endedFailure(item: BatchItem, failure: Failure): Failure {
    const parts = this.#recordedParts(item);
    return withPaidParts(failure, parts.filter(isAvailable), parts.length);
  }

  /**
   * Returns the cost in credits of the paid parts of an unfinished item. A part counts as 0 if the service did not
   * report its cost.
   */
  paidFor(item: BatchItem): number {
    // Equal parts are one purchase.
    const parts = new Map(this.#recordedParts(item).map((part) => [part.body, part]));
    const paid = [...parts.values()].filter(({ state }) => PAID.has(state));
    return paid.reduce((sum, { facts }) => sum + (facts.creditsUsed ?? 0), 0);
  }

  /**
   * Marks the parts of a published item as `published` in the journal. If a process was killed, the journal may contain
   * this state for the item but not for its parts.
   */
  settle(item: BatchItem): void {
    for (const part of this.#recordedParts(item)) {
      if (part.state !== 'verified') continue;
      this.#delivered.add(requestOf(part));
      this.#batch.folder.notePublished(part, {});
    }
  }

  #recordedParts(item: BatchItem): readonly ItemStatus[] {
    const { folder } = this.#batch;
    return partDigests(item, this.#speaker.bodyOf).flatMap(
      (body) => folder.index.statusOf(PART_ID, body) ?? [],
    );
  }

  /**
   * Prevents `tidy` from deleting the audio of the parts of an unfinished item. Finished items may contain the same
   * parts.
   */
  keep(item: BatchItem): void {
    for (const body of partDigests(item, this.#speaker.bodyOf)) this.#kept.add(body);
  }

  /**
   * Deletes the stored audio of parts that no unfinished item needs. Does nothing while other shards run. Never throws.
   */
  async tidy(): Promise<void> {
    const { folder, rerun, system } = this.#batch;
    const { files } = system;
    // Another shard may need the audio.
    if (!folder.isExclusive) return;
    const parts = path.join(rerun.outputDir, PARTS_FOLDER);
    const names = await files.readdir(parts).catch(() => undefined);
    if (names === undefined) return;
    const unused = names.filter((name) => {
      const [body = '', generation] = path.parse(name).name.split('-');
      if (this.#kept.has(body)) return false;
      const status = folder.index.statusOf(PART_ID, body);
      return status?.state === 'published' || (status?.generation ?? -1) > Number(generation);
    });
    for (const name of unused) await removeQuietly(system, path.join(parts, name));
    if (unused.length < names.length) return;
    await files.rm(parts, { recursive: true, force: true }).catch(() => undefined);
  }

  async #speakParts(
    work: ItemWork,
    captions: CaptionFiles | undefined,
    signal: AbortSignal,
  ): Promise<DeliveredItem> {
    const { item, status: planned } = work;
    const redo = planned.state === 'planned' ? planned.about?.redo : undefined;
    const parts = await this.#plan(item, redo);
    try {
      const [first] = parts;
      if (first !== undefined && parts.every(({ decision }) => decision.kind === 'silent')) {
        throw endedFailure('failed', first.status);
      }
      const output = await this.#folders.open(work);
      try {
        const joined = await this.#join(work, parts, output, signal);
        return await this.#publish(work, statesOf(parts), joined, { captions, output });
      } finally {
        // Does nothing after publication.
        await output.abandon();
      }
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      await this.#noteEnded(planned, statesOf(parts), error);
      throw withPaidParts(error, statesOf(parts));
    }
  }

  #join(
    { item, onMade }: ItemWork,
    parts: readonly PausedPart[],
    output: Output,
    signal: AbortSignal,
  ): Promise<JoinedParts> {
    const { client, concurrency, system } = this.#batch;
    const { format } = item.order;
    const whole = new WholeAudio({
      files: system.files,
      output,
      format,
      stream: output,
      sampleRate: () => undefined,
    });
    return speakParts(this.#partsOf(parts, signal), whole, {
      client,
      concurrency,
      signal,
      ahead: Infinity,
      silences: item.parts?.silences ?? [],
      inPart: (failure, index) =>
        reviseFailure(failure, { message: numbered(failure.message, index, parts.length) }),
      onSpoken: () => onMade?.(this.#costOf(statesOf(parts))),
    });
  }

  #partsOf(parts: readonly PausedPart[], signal: AbortSignal): readonly SpokenPart[] {
    const { captions } = this.#batch;
    return parts.map((part) => ({
      order: part.item.order,
      speak: async () => {
        part.status = await this.#speakOnce(part, signal);
        return !isSilent(part.status);
      },
      leaveOut: async (refusal) => {
        part.status = await this.#leaveOut(part, refusal);
      },
      join: (whole) => whole.add(this.#fileOf(part.status)),
      words: async () => (captions === undefined ? undefined : await this.#wordsOf(part.status)),
    }));
  }

  async #plan(item: BatchItem, redo: string | undefined): Promise<readonly PausedPart[]> {
    const { folder, origin, rerun, system } = this.#batch;
    const speaker = this.#speaker;
    const options = { index: folder.index, origin, rerun, system };
    const parts = (await classifyParts(item, redo, speaker.bodyOf, options)).map(
      (part): PausedPart => {
        const { body, decision } = part;
        const { status } = decision;
        if (decision.kind !== 'speak') return { ...part, status: decision.status };
        if (status?.about?.origin === origin) return { ...part, status };
        const { generation } = decision;
        const output = partOutput(body, generation, item);
        const key = speaker.keyOf(body, generation);
        const about = { output, key, origin, ...(redo === undefined ? {} : { redo }) };
        const id = status?.item ?? PART_ID;
        const planned = { item: id, body, generation, state: 'planned', about, facts: {} } as const;
        return { ...part, status: planned };
      },
    );
    const fresh = parts.filter(({ decision, status }) => decision.status !== status);
    await folder.plan(fresh.map(({ status }) => status));
    return parts;
  }

  async #speakOnce({ decision, item, status }: PausedPart, signal: AbortSignal) {
    if (decision.kind === 'ended' && decision.why !== 'partial') {
      throw endedFailure(decision.why, status, 'part');
    }
    if (decision.kind !== 'speak' && decision.kind !== 'fetch') return status;
    const request = requestOf(status);
    const speaking =
      this.#speaking.get(request) ??
      this.#slots.run(async () => {
        signal.throwIfAborted();
        if (this.#isStopped()) throw new Error('The batch was stopped.');
        const work = { item, status, file: this.#fileOf(status), isNew: false };
        const { published, status: made } = await this.#speaker.speak(work, signal);
        return { ...made, facts: { ...made.facts, ...published } };
      });
    this.#speaking.set(request, speaking);
    try {
      // A published part stays `published`, because an earlier item paid for it.
      return {
        ...(await speaking),
        state: status.state === 'published' ? 'published' : 'verified',
      } as const;
    } catch (error) {
      this.#speaking.delete(request);
      throw error;
    }
  }

  // Records a part whose text the service refused. Such a part is not billed, and is left out of the audio.
  #leaveOut({ item, status }: PausedPart, { message: problem }: Failure): Promise<ItemStatus> {
    const unspoken = formatRanges(wordRanges(item.order.text));
    const facts = { bytes: 0, creditsUsed: 0, unspoken, problem };
    return this.#batch.folder.note(status, 'failed', facts);
  }

  async #noteEnded(
    whole: ItemStatus,
    parts: readonly ItemStatus[],
    { message }: Failure,
  ): Promise<void> {
    const { folder } = this.#batch;
    if (whole.state !== 'planned') return;
    const isAllSilent = parts.every(isSilent);
    for (const [index, part] of parts.entries()) {
      const now = folder.index.statusOf(part.item, part.body);
      if (now?.item !== part.item || now.generation !== part.generation) continue;
      const isLost = now.state === 'lost';
      const isFailed = now.state === 'failed' && (isAllSilent || !isSilent(now));
      if (!isLost && !isFailed) continue;
      const { creditsUsed } = now.facts;
      const own = now.facts.problem;
      const problem = own === undefined ? message : numbered(own, index, parts.length);
      const facts = { problem, ...(isLost && creditsUsed !== undefined ? { creditsUsed } : {}) };
      // Errors are ignored: the next command decides again from the states of the parts.
      await folder.note(whole, isLost ? 'lost' : 'failed', facts).catch(() => undefined);
      return;
    }
  }

  #costOf(parts: readonly ItemStatus[]): number | undefined {
    const unpaid = new Map(
      parts
        .filter((part) => part.state === 'verified' && !this.#delivered.has(requestOf(part)))
        .filter(({ facts }) => !this.#batch.folder.index.isDelivered(facts.jobId))
        .map((part) => [requestOf(part), part.facts.creditsUsed]),
    );
    return sumOf([...unpaid.values()]);
  }

  // Equal parts are one purchase.
  #reusedIn(parts: readonly ItemStatus[]): ReusedAudio | undefined {
    const fresh = parts.filter((part) => !this.#delivered.has(requestOf(part)));
    return reusedOf([...new Map(fresh.map((part) => [requestOf(part), part.facts])).values()]);
  }

  #fileOf({ about }: ItemStatus): string {
    return path.join(this.#batch.rerun.outputDir, about?.output ?? '');
  }

  async #publish(
    { file, item, status }: ItemWork,
    parts: readonly ItemStatus[],
    { speech, verdict }: JoinedParts,
    { captions, output }: PausedFiles,
  ): Promise<DeliveredItem> {
    const { captions: wanted, folder, system } = this.#batch;
    const { parts: pieces = [] } = item.parts ?? {};
    const unspoken = wholeRanges(item.order.text, pieces, (index) => parts[index]?.facts.unspoken);
    let verified = status;
    let written: DeliveredItem['captions'];
    const onVerified: OnVerified = async (facts) => {
      if (wanted !== undefined) {
        const timings = timingsOfItem(item, audibleSpeech(speech, await output.audible?.()));
        await captions?.prepare({ timings, shape: wanted.shape });
      }
      verified = await folder.note(status, 'verified', { ...facts, ...factsOf(parts) }, 'now');
      written = await captions?.publish();
    };
    const made = { verdict, unspoken };
    const published = await publishItem(output, file, made, system.files, onVerified);
    const creditsUsed = this.#costOf(parts);
    return {
      status: verified,
      published,
      creditsUsed,
      reused: this.#reusedIn(parts),
      ...(written === undefined ? {} : { captions: written }),
    };
  }

  async #wordsOf(part: ItemStatus): Promise<PartWords> {
    const [file = ''] = captionNames(this.#fileOf(part), ['json']);
    try {
      const value: unknown = JSON.parse(
        (await readRegularFile(file, this.#batch.system.files)).toString(),
      );
      const { complete: isComplete, words } = readTimings(value, file);
      return { isComplete, words };
    } catch (error) {
      const isUnreadable = [SyntaxError, Failure, UnsafeFile].some((kind) => error instanceof kind);
      if (!isUnreadable && !hasErrno(error, 'ENOENT')) throw error;
      return { isComplete: false, words: [] };
    }
  }
}

function statesOf(parts: readonly PausedPart[]): readonly ItemStatus[] {
  return parts.map(({ status }) => status);
}

function numbered(message: string, index: number, count: number): string {
  return count === 1 ? message : `part ${index + 1} of ${count}: ${message}`;
}

// The audio of a published part without a job may be removed.
function isAvailable({ facts, state }: ItemStatus): boolean {
  return state === 'verified' || facts.jobId !== undefined;
}

function withPaidParts(
  failure: Failure,
  parts: readonly ItemStatus[],
  count = parts.length,
): Failure {
  const paid = parts.filter(
    ({ facts, state }) =>
      facts.isReused !== true && (state === 'verified' || state === 'published'),
  ).length;
  if (paid === 0) return failure;
  const kept = `${paid} of ${count} parts are paid for and stored: only the other parts are billed.`;
  const hint = failure.hint === undefined ? kept : `${failure.hint} ${kept}`;
  return reviseFailure(failure, { hint, billed: 'yes' });
}

function requestOf({ body, generation }: ItemStatus): string {
  return `${body} ${generation}`;
}

function factsOf(parts: readonly ItemStatus[]): PurchaseMetadata {
  const spoken = parts.filter((part) => !isSilent(part));
  const unique = new Map(spoken.map((part) => [requestOf(part), part.facts.creditsUsed]));
  const creditsUsed = sumOf([...unique.values()]);
  const first = spoken.find(({ facts }) => facts.jobId !== undefined) ?? spoken[0];
  const { jobId, requestId } = first?.facts ?? {};
  const isReused = spoken.length > 0 && spoken.every(({ facts }) => facts.isReused === true);
  return {
    isPartial: spoken.some(({ facts }) => facts.isPartial === true),
    ...(isReused ? { isReused } : {}),
    ...(jobId === undefined ? {} : { jobId }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(creditsUsed === undefined ? {} : { creditsUsed }),
  };
}

function sumOf(costs: readonly (number | undefined)[]): number | undefined {
  let sum = 0;
  for (const cost of costs) {
    if (cost === undefined) return undefined;
    sum += cost;
  }
  return sum;
}

class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
