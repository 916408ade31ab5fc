import type { ItemStatus, ItemStep } from './records.ts';
import { ITEM_STATES, isWhole, mergeStep, parseItemStep } from './records.ts';

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
  add(record: Readonly<Record<string, unknown>>): boolean {
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

  #addOutputs({ outputs }: Readonly<Record<string, unknown>>): boolean {
    if (!Array.isArray(outputs)) return false;
    for (const output of outputs) if (typeof output === 'string') this.#filesOf(output);
    return true;
  }

  #addRun({ ended, redo, run, token }: Readonly<Record<string, unknown>>): boolean {
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
