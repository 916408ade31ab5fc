import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { extensionOf } from '../../audio/formats.ts';
import type { Processes } from '../../effects/processes.ts';
import { syncFile, syncFolder } from '../../files/durability.ts';
import type { FileDeps } from '../../files/file-deps.ts';
import { writeAll } from '../../files/file-writer.ts';
import { ownerRecord } from '../../files/intent-files.ts';
import { journalLine } from '../../files/journal-lines.ts';
import { Failure } from '../../errors/failure.ts';
import {
  ensurePrivateFolder,
  openOwnFile,
  readOwnText,
  RECORD_BYTES,
} from '../../files/own-files.ts';
import { replaceFile } from '../../files/replace-file.ts';
import { sha256 } from '../../files/sha256.ts';
import { stateFailure } from '../../files/state-failures.ts';
import { display } from '../../text/display.ts';
import type { PartState, PartStep } from './part-steps.ts';
import { afterStep } from './part-steps.ts';
import type { LongTextPlan } from './plan.ts';

/**
 * A long text on its way, in a folder of its own (0700): the text, the plan and a line for each step of
 * a part, all on the disk before anything is sent, and the audio of the parts that are there. Whoever
 * opens it next goes on where it was. Everything throws exit 32 when it cannot be written.
 */
export interface LongTextRecord {
  readonly plan: LongTextPlan;
  readonly text: string;
  part(index: number): PartState;
  partText(index: number): string;
  /** Where the audio of a part is. */
  partFile(index: number): string;
  /** Where the times of its words are. */
  wordsFile(index: number): string;
  /** Writes a step down; it is on the disk when this resolves. */
  note(step: PartStep): Promise<void>;
  /** Where the whole grows from now on, so that it is removed when that is interrupted. */
  growsIn(temporary: string): Promise<void>;
  /** The whole was checked and is about to get its name; on the disk when this resolves. */
  verified(checksum: string): Promise<void>;
  /** Removes the folder: nothing is left to be done. Never throws. */
  remove(): Promise<void>;
  /** Leaves it to be gone on with. Never throws. */
  close(): Promise<void>;
}

export interface RecordOptions extends FileDeps {
  /** The folder of all long texts. */
  readonly folder: string;
  readonly processes: Processes;
}

/** Writes a new record; it is on the disk when this resolves, so only then may anything be sent. */
export async function beginRecord(
  plan: LongTextPlan,
  text: string,
  options: RecordOptions,
): Promise<LongTextRecord> {
  const folder = recordFolder(plan.id, options);
  try {
    await ensurePrivateFolder(options.folder, options.files);
    await options.files.mkdir(folder, { mode: 0o700 });
    const data = Buffer.from(text);
    await replaceFile({ ...options, path: textFile(folder), data, mode: 0o600 });
    const lines = [ownerRecord(options.processes.self), { plan, textSha256: sha256(text) }];
    const journal = await openJournal(folder, lines, options);
    // A second copy: with it, a damaged journal loses no audio that is paid for.
    const copy = Buffer.concat(lines.map((line) => journalLine(line)));
    await replaceFile({ ...options, path: planFile(folder), data: copy, mode: 0o600 });
    await syncFolder(options.files, folder);
    await syncFolder(options.files, options.folder);
    return new OpenRecord({ plan, text, folder, journal, states: new Map() }, options);
  } catch (error) {
    await options.files.rm(folder, { recursive: true, force: true }).catch(() => undefined);
    throw stateFailure('the record of a long text', folder, error);
  }
}

/** What a record says when it is opened again. */
export interface RecordedText {
  readonly plan: LongTextPlan;
  readonly states: ReadonlyMap<number, PartState>;
  /** SHA-256 of the text; undefined for a record of an earlier foley. */
  readonly textSha256?: string | undefined;
}

/**
 * Resumes a record that another process left, and writes down the new owner.
 * @throws Failure (state) when it cannot be opened, or when its text is damaged and parts still have to be spoken
 */
export async function resumeRecord(
  { plan, states, textSha256 }: RecordedText,
  options: RecordOptions,
): Promise<LongTextRecord> {
  const folder = recordFolder(plan.id, options);
  try {
    const text = await readOwnText(textFile(folder), RECORD_BYTES, options.files);
    const isDamaged = textSha256 !== undefined && sha256(text) !== textSha256;
    const needsText =
      plan.via !== 'job' || !plan.parts.every((_, part) => isPaid(states.get(part)));
    if (isDamaged && needsText) throw damagedText(textFile(folder));
    const journal = await openJournal(folder, [ownerRecord(options.processes.self)], options);
    return new OpenRecord({ plan, text, folder, journal, states }, options);
  } catch (error) {
    throw stateFailure('the record of a long text', folder, error);
  }
}

/** Opens the journal with lines at its end that are on the disk when this resolves. */
async function openJournal(
  folder: string,
  lines: readonly Readonly<Record<string, unknown>>[],
  { files }: RecordOptions,
): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
  const journal = await openOwnFile(journalFile(folder), flags, files);
  try {
    await writeAll(journal, Buffer.concat(lines.map((line) => journalLine(line))));
    await syncFile(journal);
    return journal;
  } catch (error) {
    await journal.close().catch(() => undefined);
    throw error;
  }
}

/** A part that is there, or that a job of the service has. */
function isPaid(part: PartState | undefined): boolean {
  return part?.state === 'done' || (part?.state === 'accepted' && part.jobId !== undefined);
}

function damagedText(file: string): Failure {
  return new Failure(`the text of this record was changed or damaged: ${display(file)}`, {
    code: 'state',
    exit: 'state',
    hint: 'Put the text back as it was, or use the parts in that folder as they are.',
    billed: 'yes',
  });
}

export function recordFolder(id: string, { folder }: Pick<RecordOptions, 'folder'>): string {
  return path.join(folder, path.basename(id));
}

export function journalFile(folder: string): string {
  return path.join(folder, 'journal.jsonl');
}

/** The first lines of the journal a second time: its owner and the plan. */
export function planFile(folder: string): string {
  return path.join(folder, 'plan.jsonl');
}

function textFile(folder: string): string {
  return path.join(folder, 'text.txt');
}

interface Opened {
  readonly plan: LongTextPlan;
  readonly text: string;
  readonly folder: string;
  readonly journal: FileHandle;
  readonly states: ReadonlyMap<number, PartState>;
}

class OpenRecord implements LongTextRecord {
  readonly plan: LongTextPlan;
  readonly text: string;
  readonly #options: RecordOptions;
  readonly #folder: string;
  readonly #journal: FileHandle;
  readonly #states: Map<number, PartState>;
  #isOpen = true;
  /** Settles when all that was to be written so far has been, or has failed. */
  #last: Promise<void> = Promise.resolve();

  constructor({ folder, journal, plan, states, text }: Opened, options: RecordOptions) {
    this.plan = plan;
    this.text = text;
    this.#options = options;
    this.#folder = folder;
    this.#journal = journal;
    this.#states = new Map(states);
  }

  part(index: number): PartState {
    return this.#states.get(index) ?? plannedState(this.plan, index);
  }

  partText(index: number): string {
    const part = this.plan.parts[index];
    return part === undefined ? '' : this.text.slice(part.start, part.end);
  }

  partFile(index: number): string {
    const number = String(index + 1).padStart(4, '0');
    return path.join(this.#folder, `part-${number}.${extensionOf(this.plan.format)}`);
  }

  wordsFile(index: number): string {
    return path.join(this.#folder, `part-${String(index + 1).padStart(4, '0')}.words.json`);
  }

  note(step: PartStep): Promise<void> {
    this.#states.set(step.part, afterStep(this.part(step.part), step));
    return this.#write({ ...step });
  }

  growsIn(temporary: string): Promise<void> {
    return this.#write({ temporary });
  }

  verified(checksum: string): Promise<void> {
    return this.#write({ whole: checksum });
  }

  #write(record: Readonly<Record<string, unknown>>): Promise<void> {
    const line = journalLine(record);
    const written = this.#last.then(() => this.#append(line));
    this.#last = written.catch(() => undefined);
    return written;
  }

  async remove(): Promise<void> {
    await this.close();
    // What tells of it last: until then it can be gone on with.
    const gone = { recursive: true, force: true };
    await this.#options.files.rm(this.#folder, gone).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#last;
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#journal.close().catch(() => undefined);
  }

  async #append(line: Uint8Array): Promise<void> {
    try {
      await writeAll(this.#journal, line);
      await syncFile(this.#journal);
    } catch (error) {
      throw stateFailure('the record of a long text', this.#folder, error);
    }
  }
}

export function plannedState({ parts }: LongTextPlan, index: number): PartState {
  return { state: 'planned', key: parts[index]?.key ?? undefined };
}
