import type { LogFile, LogRecord } from '../../durable/log.ts';
import { hasFieldTypes, readLogs } from '../../durable/log.ts';
import type { FileSystem } from '../../effects/file-system.ts';

/** How far an item has got, in the order in which it goes on. */
export const ITEM_STATES = [
  /** Written down; it may have been sent, under the key that is written down with it. */
  'planned',
  /** About to be sent to what cannot be asked again: from here on it may be paid for. */
  'sent',
  /** The service has taken it as a job, whose id is known; it is paid for, or will be. */
  'accepted',
  /** Its job failed and was refunded. */
  'failed',
  /** It was paid for, and its audio cannot be had again. */
  'lost',
  /** Its audio is whole and checked, and about to get its name. */
  'verified',
  /** It has its name. */
  'published',
] as const;

export type ItemState = (typeof ITEM_STATES)[number];

/** What becomes known on the way. */
export interface ItemFacts {
  readonly jobId?: string;
  readonly requestId?: string;
  readonly creditsUsed?: number;
  readonly sha256?: string;
  readonly bytes?: number;
  /** Of the file, when it got its name: with it the file is known again without being read. */
  readonly mtimeMs?: number;
  /** Only a part of it is there: segments of its job failed, or words have no times. */
  readonly isPartial?: boolean;
  /** What was sent was refused, and not paid for; it may be sent again under its key. */
  readonly isRefused?: boolean;
  /** Why it failed or is lost. */
  readonly problem?: string;
}

/** What is written down before anything is sent. Never an API key, never the text. */
export interface ItemAbout {
  readonly output: string;
  /** Chosen by us, and no secret. */
  readonly key: string;
  readonly origin: string;
  /** The `--redo` that it was bought again for. */
  readonly redo?: string;
  /** Further files of the item, such as captions. */
  readonly besides?: readonly string[];
}

/** One line: a step of one purchase. */
export interface ItemStep {
  /** For which item it was made; any item with this body may use it. */
  readonly item: string;
  /** The content by which items are identified: see `bodyDigest`. */
  readonly body: string;
  readonly generation: number;
  readonly state: ItemState;
  readonly about?: ItemAbout | undefined;
  readonly facts?: ItemFacts | undefined;
}

/** One item with one body, as all that was written of it tells. */
export interface ItemStatus extends ItemStep {
  readonly about: ItemAbout | undefined;
  readonly facts: ItemFacts;
}

/** A line's step; undefined for a line that is something else. */
function parseItemStep(record: LogRecord): ItemStep | undefined {
  const { item, body, generation, state, about, facts } = record;
  const known = ITEM_STATES.find((one) => one === state);
  if (typeof item !== 'string' || typeof body !== 'string' || known === undefined) return undefined;
  if (typeof generation !== 'number' || !Number.isSafeInteger(generation)) return undefined;
  return {
    item,
    body,
    generation,
    state: known,
    about: isAbout(about) ? about : undefined,
    facts: isFacts(facts) ? facts : undefined,
  };
}

/** An item after one more step: the higher generation, and in it the state that lies further, wins. */
export function mergeStep(before: ItemStatus | undefined, step: ItemStep): ItemStatus {
  const { about, facts = {} } = step;
  if (before === undefined || step.generation > before.generation) return { ...step, about, facts };
  if (step.generation < before.generation) return before;
  const isFurther = ITEM_STATES.indexOf(step.state) >= ITEM_STATES.indexOf(before.state);
  return {
    ...before,
    state: isFurther ? step.state : before.state,
    about: isFurther ? (about ?? before.about) : (before.about ?? about),
    facts: isFurther ? { ...before.facts, ...facts } : { ...facts, ...before.facts },
  };
}

/** Whether all of its audio came, was checked, and is known by its hash. */
function isWhole({ facts, state }: ItemStatus): boolean {
  const isChecked = state === 'verified' || state === 'published';
  return isChecked && facts.sha256 !== undefined && facts.isPartial !== true;
}

function isAbout(value: unknown): value is ItemAbout {
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  const redo = fields.get('redo');
  const besides = fields.get('besides');
  return (
    ['output', 'key', 'origin'].every((name) => typeof fields.get(name) === 'string') &&
    (redo === undefined || typeof redo === 'string') &&
    (besides === undefined || isTexts(besides))
  );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

const FACT_TYPES = {
  jobId: 'string',
  requestId: 'string',
  creditsUsed: 'number',
  sha256: 'string',
  bytes: 'number',
  mtimeMs: 'number',
  isPartial: 'boolean',
  isRefused: 'boolean',
  problem: 'string',
} satisfies Record<keyof ItemFacts, string>;

function isFacts(value: unknown): value is ItemFacts {
  return hasFieldTypes(value, FACT_TYPES);
}

/** A file that a batch made, as the journal knows it. */
export interface KnownFile {
  readonly sha256: string;
  readonly bytes: number;
  /** Undefined when it was about to get its name. */
  readonly mtimeMs: number | undefined;
}

/** A run that is written down. */
interface KnownRun {
  /** For which items it was to buy again, as a digest; null for none. */
  readonly redo: string | null;
  /** Stays the same over runs that go on with an interrupted `--redo`. */
  readonly token: string;
  hasEnded: boolean;
}

/** Everything that the journals of a folder say, in any order of their lines but for equal states. */
export class JournalIndex {
  readonly #items = new Map<string, ItemStatus>();
  /** The items that were asked for with a body: one, but for equal items that were bought by themselves. */
  readonly #buyers = new Map<string, string | string[]>();
  /** Whole audio that was bought again since; it may be in a file still. */
  readonly #superseded: ItemStatus[] = [];
  /** The whole audio of each body, in any generation. */
  readonly #takes = new Set<string>();
  /** The outputs of each audio; made when it is first asked for. */
  #places: Map<string, Set<string>> | undefined;
  readonly #outputs = new Map<string, KnownFile[]>();
  readonly #runs = new Map<string, KnownRun>();

  /** Takes a line; false when it is none of ours. */
  add(record: LogRecord): boolean {
    if ('owner' in record) return true;
    if (this.#addOutputs(record) || this.#addRun(record)) return true;
    const step = parseItemStep(record);
    if (step === undefined) return false;
    this.apply(step);
    return true;
  }

  /** Takes a step that was written down. */
  apply(step: ItemStep): void {
    const { about, body, facts, item } = step;
    const key = keyOf(item, body);
    const before = this.#items.get(key);
    const status = mergeStep(before, step);
    if (before === undefined) this.#addBuyer(body, item);
    else if (status.generation > before.generation && isWhole(before))
      this.#superseded.push(before);
    this.#items.set(key, status);
    if (isWhole(status)) this.#takes.add(keyOf(status.facts.sha256 ?? '', body));
    const output = about?.output ?? status.about?.output;
    if (output === undefined) return;
    for (const beside of about?.besides ?? []) this.#filesOf(beside);
    const known = this.#filesOf(output);
    const { bytes, mtimeMs, sha256 } = facts ?? {};
    if (sha256 === undefined || bytes === undefined) return;
    const same = known.findIndex((file) => file.sha256 === sha256);
    if (same !== -1) known.splice(same, 1);
    known.push({ sha256, bytes, mtimeMs });
    if (this.#places !== undefined) addPlace(this.#places, sha256, output);
  }

  /**
   * The purchase that serves an item with this body, whatever item it was made for: the latest generation,
   * in it the one that got furthest, of equal ones the item's own. One that came to nothing counts only
   * where there is no other. Undefined when this body was never asked for.
   */
  statusOf(item: string, body: string): ItemStatus | undefined {
    const own = this.#items.get(keyOf(item, body));
    let best = own;
    for (const other of this.#buyersOf(body)) {
      const status = other === item ? undefined : this.#items.get(keyOf(other, body));
      if (status === undefined) continue;
      const isLater = own === undefined || status.generation >= own.generation;
      if (best === undefined || (isLater && isBetter(status, best))) best = status;
    }
    return best;
  }

  /** The highest generation in which a body was asked for; -1 when it never was. */
  lastGeneration(body: string): number {
    let last = -1;
    for (const item of this.#buyersOf(body)) {
      last = Math.max(last, this.#items.get(keyOf(item, body))?.generation ?? -1);
    }
    return last;
  }

  /** Whether this is the whole audio of a body, in any of its generations. */
  isTake(body: string, sha256: string): boolean {
    return this.#takes.has(keyOf(sha256, body));
  }

  /** The outputs that ever held this audio. */
  outputsOf(sha256: string): readonly string[] {
    if (this.#places === undefined) {
      this.#places = new Map();
      for (const [output, known] of this.#outputs) {
        for (const file of known) addPlace(this.#places, file.sha256, output);
      }
    }
    return [...(this.#places.get(sha256) ?? [])];
  }

  /** What was ever put under this name, the latest last; undefined when nothing was to be. */
  filesAt(output: string): readonly KnownFile[] | undefined {
    return this.#outputs.get(output);
  }

  /** Everything that was bought; what was bought again later comes first. */
  statuses(): readonly ItemStatus[] {
    return [...this.#superseded, ...this.#items.values()];
  }

  /** Every name that was given to a file, or was to be. */
  outputs(): readonly string[] {
    return [...this.#outputs.keys()];
  }

  /** The token of the latest run, when it was to buy the same again and did not come to its end. */
  interruptedRedo(redo: string): string | undefined {
    const latest = Array.from(this.#runs.values()).at(-1);
    return latest?.redo === redo && !latest.hasEnded ? latest.token : undefined;
  }

  #addBuyer(body: string, item: string): void {
    const known = this.#buyers.get(body);
    if (known === undefined) this.#buyers.set(body, item);
    else if (typeof known === 'string') this.#buyers.set(body, [known, item]);
    else known.push(item);
  }

  #buyersOf(body: string): readonly string[] {
    const known = this.#buyers.get(body) ?? [];
    return typeof known === 'string' ? [known] : known;
  }

  #filesOf(output: string): KnownFile[] {
    const known = this.#outputs.get(output);
    if (known !== undefined) return known;
    const none: KnownFile[] = [];
    this.#outputs.set(output, none);
    return none;
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

/** An item's id may hold anything, a digest only hexadecimal digits. */
function keyOf(item: string, body: string): string {
  return `${body} ${item}`;
}

function addPlace(places: Map<string, Set<string>>, sha256: string, output: string): void {
  const known = places.get(sha256);
  if (known === undefined) places.set(sha256, new Set([output]));
  else known.add(output);
}

function isBetter(one: ItemStatus, other: ItemStatus): boolean {
  if (isUsable(one) !== isUsable(other)) return isUsable(one);
  if (one.generation !== other.generation) return one.generation > other.generation;
  return ITEM_STATES.indexOf(one.state) > ITEM_STATES.indexOf(other.state);
}

/** Its audio is there, or may still come. */
function isUsable(status: ItemStatus): boolean {
  return status.state === 'planned' || status.state === 'accepted' || isWhole(status);
}

export interface ReadJournals {
  readonly index: JournalIndex;
  readonly files: readonly Omit<LogFile, 'isNewer' | 'records'>[];
}

/**
 * Everything that was written down in these folders, the oldest file first; a folder that is not there
 * holds nothing. Torn and damaged lines are counted and passed over.
 * @throws Failure (state) when a journal cannot be read, or a newer foley wrote in it
 */
export async function readJournals(
  folders: readonly string[],
  files: FileSystem,
): Promise<ReadJournals> {
  const index = new JournalIndex();
  const read: ReadJournals['files'][number][] = [];
  for (const folder of folders) {
    for await (const log of readLogs(folder, 'the journal of this batch', files)) {
      const { bytes, isTorn, path, records } = log;
      const strange = records.filter((record) => !index.add(record)).length;
      read.push({ path, bytes, isTorn, garbled: log.garbled + strange });
    }
  }
  return { index, files: read };
}
