import type { ItemStatus, ItemStep } from './records.ts';
import { mergeStep, parseItemStep } from './records.ts';

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
    const key = keyOf(step.item, step.body);
    const status = mergeStep(this.#items.get(key), step);
    this.#items.set(key, status);
    const output = step.about?.output ?? status.about?.output;
    if (output === undefined) return;
    for (const beside of step.about?.besides ?? []) this.#filesOf(beside);
    const known = this.#filesOf(output);
    const { bytes, mtimeMs, sha256 } = step.facts ?? {};
    if (sha256 === undefined || bytes === undefined) return;
    const same = known.findIndex((file) => file.sha256 === sha256);
    if (same !== -1) known.splice(same, 1);
    known.push({ sha256, bytes, mtimeMs });
  }

  /** An item with this body; undefined when nothing was ever asked for it. */
  statusOf(item: string, body: string): ItemStatus | undefined {
    return this.#items.get(keyOf(item, body));
  }

  /** What was ever put under this name, the latest last; undefined when nothing was to be. */
  filesAt(output: string): readonly KnownFile[] | undefined {
    return this.#outputs.get(output);
  }

  statuses(): Iterable<ItemStatus> {
    return this.#items.values();
  }

  /** The token of the latest run, when it was to buy the same again and did not come to its end. */
  interruptedRedo(redo: string): string | undefined {
    const latest = Array.from(this.#runs.values()).at(-1);
    return latest?.redo === redo && !latest.hasEnded ? latest.token : undefined;
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
