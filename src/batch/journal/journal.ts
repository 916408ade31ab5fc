import type { LogFile, LogRecord } from '../../durable/log.ts';
import { hasShape, readLogs } from '../../durable/log.ts';
import type { FileSystem } from '../../system/file-system.ts';
import type {
  Purchase,
  PurchaseMetadata,
  PurchaseState,
  PurchaseStep,
} from '../../paid/purchase.ts';
import { PURCHASE_STATES, mergeStep, parseStep } from '../../paid/purchase.ts';

/** Name of the folder inside the output folder that contains the state of a batch. */
export const BATCH_FOLDER = '.foley';

/**
 * The item id in the journal records of all parts. It names no item, because several items can contain the same part.
 * Such a part is requested once, and its record is looked up while the batch runs.
 */
export const PART_ID = '';

/**
 * The fields of a journal record that are written before the request is sent. They never contain an API key or the
 * text.
 */
export interface ItemAbout {
  readonly output: string;
  readonly key: string;
  readonly origin: string;
  /** Token of the `--redo` command that requested the item again; undefined for other requests. */
  readonly redo?: string;
  readonly besides?: readonly string[];
}

/** A journal record: a new state of one billed request of an item. */
export interface ItemStep extends PurchaseStep<ItemAbout> {
  /** Id of the item for which the request was sent. Other items with the same request body may use the audio. */
  readonly item: string;
  /** Digest of the request body (`bodyDigest`). */
  readonly body: string;
}

/** Current state of one billed request, computed from its journal records. */
export type ItemStatus = ItemStep & Purchase<ItemAbout>;

function parseItemStep(record: LogRecord): ItemStep | undefined {
  const { item, body } = record;
  const step = parseStep(record, isAbout);
  if (typeof item !== 'string' || typeof body !== 'string' || step === undefined) return undefined;
  return { item, body, ...step };
}

/** Returns the status of a request after it changed to a new state. */
export function withState(
  status: ItemStatus,
  state: PurchaseState,
  facts: PurchaseMetadata,
): ItemStatus {
  return { ...status, state, facts: { ...status.facts, ...facts } };
}

function isWhole({ facts, state }: ItemStatus): boolean {
  const isChecked = state === 'verified' || state === 'published';
  return isChecked && facts.sha256 !== undefined && facts.isPartial !== true;
}

function isAbout(value: unknown): value is ItemAbout {
  const types = { output: 'string', key: 'string', origin: 'string', redo: 'string|undefined' };
  if (!hasShape(value, types)) return false;
  const { besides } = value;
  const isTexts = Array.isArray(besides) && besides.every((one) => typeof one === 'string');
  return besides === undefined || isTexts;
}

/** A file of the batch, as recorded in the journal. */
export interface KnownFile {
  readonly sha256: string;
  readonly bytes: number;
  /** Modification time; undefined if the journal does not contain it. */
  readonly mtimeMs: number | undefined;
}

interface KnownRun {
  readonly redo: string | null;
  readonly token: string;
  hasEnded: boolean;
}

/** The contents of a batch's journals in memory, indexed by item, request body, audio and output name. */
export class JournalIndex {
  readonly #items = new Map<string, ItemStatus>();
  readonly #itemsByBody = new Map<string, Set<string>>();
  // Superseded requests with complete audio, which an output file may still contain.
  readonly #superseded: ItemStatus[] = [];
  // For each request body, the hashes of all complete audio received for it, also for earlier generation numbers.
  readonly #audio = new Set<string>();
  // By SHA-256 of the audio: the names of all outputs that ever contained it.
  readonly #places = new Map<string, Set<string>>();
  readonly #outputs = new Map<string, KnownFile[]>();
  readonly #runs = new Map<string, KnownRun>();
  // Delivered requests of which the state folder has a record, by body and generation; of each body, the latest one.
  readonly #delivered = new Map<string, ItemStatus>();
  readonly #lastDelivered = new Map<string, ItemStatus>();
  readonly #deliveredJobs = new Set<string>();

  /** Adds a record from a journal to the index. Returns false for an unknown kind of record. */
  add(record: LogRecord): boolean {
    if ('owner' in record) return true;
    if (this.#addOutputs(record) || this.#addRun(record)) return true;
    const step = parseItemStep(record);
    if (step === undefined) return false;
    this.apply(step);
    return true;
  }

  /**
   * Adds a record from the state folder, which has output names and delivered requests. Returns false for an unknown kind
   * of record.
   */
  addCopied(record: LogRecord): boolean {
    if (this.#addOutputs(record)) return true;
    const step = parseItemStep(record);
    if (step === undefined) return false;
    const { body, facts, generation } = step;
    const key = keyOf(`${generation}`, body);
    this.#delivered.set(key, mergeStep(this.#delivered.get(key), step));
    this.#lastDelivered.set(body, mergeStep(this.#lastDelivered.get(body), step));
    if (facts?.jobId !== undefined) this.#deliveredJobs.add(facts.jobId);
    return true;
  }

  /** Adds a step to the index. Does not write to the journal. */
  apply(step: ItemStep): void {
    const { about, body, facts, item } = step;
    const key = keyOf(item, body);
    const before = this.#items.get(key);
    const status = mergeStep(before, step);
    if (before === undefined) addTo(this.#itemsByBody, body, item);
    else if (status.generation > before.generation && isWhole(before))
      this.#superseded.push(before);
    this.#items.set(key, status);
    if (isWhole(status)) this.#audio.add(keyOf(status.facts.sha256 ?? '', body));
    const output = about?.output ?? status.about?.output;
    if (output === undefined) return;
    for (const beside of about?.besides ?? []) this.#filesOf(beside);
    const known = this.#filesOf(output);
    const { bytes, mtimeMs, sha256 } = facts ?? {};
    if (sha256 === undefined || bytes === undefined) return;
    const same = known.findIndex((file) => file.sha256 === sha256);
    if (same !== -1) known.splice(same, 1);
    known.push({ sha256, bytes, mtimeMs });
    addTo(this.#places, sha256, output);
  }

  /** Whether no earlier command requested an item. */
  get isEmpty(): boolean {
    return this.#items.size === 0 && this.#lastDelivered.size === 0;
  }

  /**
   * Returns the request that supplies the audio of an item; undefined if no request with this body was recorded.
   * Prefers a request that has complete audio or may still get it. That request may have been sent for another item
   * with the same body.
   */
  statusOf(item: string, body: string): ItemStatus | undefined {
    const own = this.#items.get(keyOf(item, body));
    let best = own;
    for (const other of this.#itemsByBody.get(body) ?? []) {
      const status = other === item ? undefined : this.#items.get(keyOf(other, body));
      if (status === undefined) continue;
      const isLater = own === undefined || status.generation >= own.generation;
      if (best === undefined || (isLater && isBetter(status, best))) best = status;
    }
    return best;
  }

  /**
   * Returns the latest request with this body that an earlier command delivered, also if the journal does not contain it
   * because the output folder was deleted.
   */
  deliveredOf(body: string): ItemStatus | undefined {
    return this.#lastDelivered.get(body);
  }

  /** Returns whether an earlier command delivered the audio of this job, and reported its cost. */
  isDelivered(jobId: string | undefined): boolean {
    return jobId !== undefined && this.#deliveredJobs.has(jobId);
  }

  /** Returns the records that the state folder needs: delivered requests and output names. */
  copiedRecords(): readonly LogRecord[] {
    const delivered = Array.from(this.#delivered.values(), (status) => ({ ...status }));
    return [...delivered, { outputs: this.outputs() }];
  }

  /** Returns the highest `generation` of the requests with this body; -1 if there are none. */
  lastGeneration(body: string): number {
    let last = -1;
    for (const item of this.#itemsByBody.get(body) ?? []) {
      last = Math.max(last, this.#items.get(keyOf(item, body))?.generation ?? -1);
    }
    return last;
  }

  /** Returns whether complete audio with this hash was ever received for a request body. */
  isAudioOf(body: string, sha256: string): boolean {
    return this.#audio.has(keyOf(sha256, body));
  }

  /** Returns the names of all outputs that ever contained the audio with this hash. */
  outputsOf(sha256: string): readonly string[] {
    return [...(this.#places.get(sha256) ?? [])];
  }

  /** Returns all recorded versions of an output file, oldest first; undefined if the batch never used the name. */
  filesAt(output: string): readonly KnownFile[] | undefined {
    return this.#outputs.get(output);
  }

  /**
   * Returns the latest request for each pair of item and request body. Also returns earlier requests with complete
   * audio; these come first in the list.
   */
  statuses(): readonly ItemStatus[] {
    return [...this.#superseded, ...this.#items.values()];
  }

  /** Returns every output name that the batch used or planned to use. */
  outputs(): readonly string[] {
    return [...this.#outputs.keys()];
  }

  /**
   * Returns the token of an interrupted `--redo` command with the same items. Undefined if the latest command finished
   * or had other items.
   * @param redo digest of the item ids given to `--redo`
   */
  interruptedRedo(redo: string): string | undefined {
    const latest = Array.from(this.#runs.values()).at(-1);
    return latest?.redo === redo && !latest.hasEnded ? latest.token : undefined;
  }

  #filesOf(output: string): KnownFile[] {
    const files = this.#outputs.get(output) ?? [];
    this.#outputs.set(output, files);
    return files;
  }

  #addOutputs({ outputs }: LogRecord): boolean {
    if (!Array.isArray(outputs)) return false;
    for (const output of outputs) if (typeof output === 'string') this.#filesOf(output);
    return true;
  }

  #addRun({ ended, redo, run, token }: LogRecord): boolean {
    if (typeof run !== 'string') return false;
    const known = this.#runs.get(run);
    if (known !== undefined) known.hasEnded ||= ended === true;
    else if (typeof token === 'string') {
      this.#runs.set(run, { redo: typeof redo === 'string' ? redo : null, token, hasEnded: false });
    }
    return true;
  }
}

// Unique, because a digest contains no spaces.
function keyOf(item: string, body: string): string {
  return `${body} ${item}`;
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  const known = sets.get(key);
  if (known === undefined) sets.set(key, new Set([value]));
  else known.add(value);
}

function isBetter(one: ItemStatus, other: ItemStatus): boolean {
  if (isUsable(one) !== isUsable(other)) return isUsable(one);
  if (one.generation !== other.generation) return one.generation > other.generation;
  return PURCHASE_STATES.indexOf(one.state) > PURCHASE_STATES.indexOf(other.state);
}

function isUsable(status: ItemStatus): boolean {
  return status.state === 'planned' || status.state === 'accepted' || isWhole(status);
}

export interface ReadJournals {
  readonly index: JournalIndex;
  readonly files: readonly Omit<LogFile, 'isNewer' | 'records'>[];
}

/**
 * Reads the journals in these folders, oldest file first. Skips and counts damaged lines.
 * @param copyFolder the one of these folders that is inside the state folder
 * @throws Failure of kind `state` when a journal cannot be read, or a newer foley wrote it
 */
export async function readJournals(
  folders: readonly string[],
  files: FileSystem,
  copyFolder?: string,
): Promise<ReadJournals> {
  const index = new JournalIndex();
  const read: ReadJournals['files'][number][] = [];
  for (const folder of folders) {
    const add = (record: LogRecord): boolean =>
      folder === copyFolder ? index.addCopied(record) : index.add(record);
    for await (const log of readLogs(folder, 'the batch journal', files)) {
      const { bytes, isTorn, path, records } = log;
      const unknown = records.filter((record) => !add(record)).length;
      read.push({ path, bytes, isTorn, garbled: log.garbled + unknown });
    }
  }
  return { index, files: read };
}
