import path from 'node:path';
import { extensionOf } from '../../audio/formats.ts';
import { sha256 } from '../../durable/checksum.ts';
import { stateFailure, hasErrno, newerStateFailure } from '../../durable/file-failures.ts';
import { syncFolder } from '../../durable/files.ts';
import type { FileDeps } from '../../durable/files.ts';
import type { LogRecord } from '../../durable/log.ts';
import { Log, logLine, ownerRecord, readLog, writerOf } from '../../durable/log.ts';
import { ensurePrivateFolder, readOwnText, RECORD_BYTES } from '../../durable/own-files.ts';
import { replaceFile } from '../../durable/publish.ts';
import type { Processes, Liveness } from '../../effects/processes.ts';
import { Failure } from '../../errors/failure.ts';
import { display } from '../../text/display.ts';
import type { LongTextPlan } from './plan.ts';
import { parsePlan } from './plan.ts';

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
    const head = [ownerRecord(options.processes.self), { plan, textSha256: sha256(text) }];
    const log = await openLog(folder, head, options);
    // A second copy: with it, a damaged journal loses no audio that is paid for.
    const copy = Buffer.concat(head.map((record) => logLine(record)));
    await replaceFile({ ...options, path: planFile(folder), data: copy, mode: 0o600 });
    await syncFolder(options.files, folder);
    await syncFolder(options.files, options.folder);
    return new OpenRecord({ plan, text, folder, log, states: new Map() }, options);
  } catch (error) {
    await options.files.rm(folder, { recursive: true, force: true }).catch(() => undefined);
    throw stateFailure('the record of a long text', folder, error);
  }
}

/** What a record says when it is opened again. */
interface RecordedText {
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
    const log = await openLog(folder, [ownerRecord(options.processes.self)], options);
    return new OpenRecord({ plan, text, folder, log, states }, options);
  } catch (error) {
    throw stateFailure('the record of a long text', folder, error);
  }
}

/** Opens the journal with records at its end that are on the disk when this resolves. */
async function openLog(
  folder: string,
  head: readonly LogRecord[],
  options: RecordOptions,
): Promise<Log> {
  const log = new Log({ ...options, path: journalFile(folder), head, isResumed: true });
  await log.append([], 'now');
  return log;
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

function recordFolder(id: string, { folder }: Pick<RecordOptions, 'folder'>): string {
  return path.join(folder, path.basename(id));
}

function journalFile(folder: string): string {
  return path.join(folder, 'journal.jsonl');
}

/** The first lines of the journal a second time: its owner and the plan. */
function planFile(folder: string): string {
  return path.join(folder, 'plan.jsonl');
}

function textFile(folder: string): string {
  return path.join(folder, 'text.txt');
}

interface Opened {
  readonly plan: LongTextPlan;
  readonly text: string;
  readonly folder: string;
  readonly log: Log;
  readonly states: ReadonlyMap<number, PartState>;
}

class OpenRecord implements LongTextRecord {
  readonly plan: LongTextPlan;
  readonly text: string;
  readonly #options: RecordOptions;
  readonly #folder: string;
  readonly #log: Log;
  readonly #states: Map<number, PartState>;

  constructor({ folder, log, plan, states, text }: Opened, options: RecordOptions) {
    this.plan = plan;
    this.text = text;
    this.#options = options;
    this.#folder = folder;
    this.#log = log;
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

  async remove(): Promise<void> {
    await this.close();
    // What tells of it last: until then it can be gone on with.
    const gone = { recursive: true, force: true };
    await this.#options.files.rm(this.#folder, gone).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#log.close().catch(() => undefined);
  }

  async #write(record: LogRecord): Promise<void> {
    try {
      await this.#log.append([record], 'now');
    } catch (error) {
      throw stateFailure('the record of a long text', this.#folder, error);
    }
  }
}

function plannedState({ parts }: LongTextPlan, index: number): PartState {
  return { state: 'planned', key: parts[index]?.key ?? undefined };
}

/** How far one part has got; written down as it goes on, the last word counts. */
interface PartStep {
  /** From 0. */
  readonly part: number;
  /**
   * `keyed`: it is asked for under another key from here on; `accepted`: charged for; `done`: its audio is
   * in its file; `failed`: the service could not do it and charged nothing under this key;
   * `delivered`: it went into the stream.
   */
  readonly state: 'keyed' | 'accepted' | 'done' | 'failed' | 'delivered';
  readonly key?: string | undefined;
  readonly jobId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly creditsUsed?: number | undefined;
  readonly quotaRemaining?: number | undefined;
  readonly ignoredParameters?: readonly string[] | undefined;
  /** Of its file. */
  readonly bytes?: number | undefined;
  /** Some of the text could not be spoken. */
  readonly isPartial?: boolean | undefined;
  /** The service does not have its job, which was told. */
  readonly isGone?: boolean | undefined;
}

/** A part as all that was written of it tells. */
type PartState = Omit<PartStep, 'part' | 'state'> & {
  readonly state: PartStep['state'] | 'planned';
};

/** What is known of a part after one more step. */
function afterStep(before: PartState, step: PartStep): PartState {
  const { part: _, ...known } = step;
  // Under another key everything begins anew.
  const kept = step.state === 'keyed' ? {} : before;
  const told = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
  return { ...kept, ...told, state: step.state };
}

const STATES = ['keyed', 'accepted', 'done', 'failed', 'delivered'] as const;

/** A step that was written down; undefined for what is none. */
function parsePartStep(record: LogRecord): PartStep | undefined {
  const { part, state } = record;
  const known = STATES.find((one) => one === state);
  if (known === undefined || typeof part !== 'number') return undefined;
  const text = (name: string): string | undefined => {
    const value = record[name];
    return typeof value === 'string' ? value : undefined;
  };
  const number = (name: string): number | undefined => {
    const value = record[name];
    return typeof value === 'number' ? value : undefined;
  };
  const ignored = record['ignoredParameters'];
  return {
    part,
    state: known,
    key: text('key'),
    jobId: text('jobId'),
    requestId: text('requestId'),
    creditsUsed: number('creditsUsed'),
    quotaRemaining: number('quotaRemaining'),
    ignoredParameters: Array.isArray(ignored) ? ignored.map((one) => String(one)) : undefined,
    bytes: number('bytes'),
    isPartial: record['isPartial'] === true ? true : undefined,
    isGone: record['isGone'] === true ? true : undefined,
  };
}

/** A long text that a command left before it was spoken to its end. */
export interface InterruptedText {
  readonly id: string;
  readonly plan: LongTextPlan;
  readonly states: ReadonlyMap<number, PartState>;
  /** SHA-256 of the whole, once that was there and was checked. */
  readonly checksum: string | undefined;
  /** Files in which it grew, when that was interrupted. */
  readonly temporaries: readonly string[];
  /** Whether the command that worked on it last still runs. */
  readonly writer: Liveness;
  /** SHA-256 of its text; undefined for a record of an earlier foley. */
  readonly textSha256: string | undefined;
  /** Lines of its journal are damaged or missing, so that parts may be further than `states` say. */
  readonly isDamaged: boolean;
}

/** A record whose plan cannot be read, so that nothing can be done with it but to look into its folder. */
interface UnreadableText {
  readonly id: string;
  readonly folder: string;
  /** Files with the audio of parts. */
  readonly parts: number;
  readonly bytes: number;
}

/**
 * What is there, the oldest first; a folder without a plan is of a command that has sent nothing yet. Throws exit 32 when a record cannot be read, or a
 * newer foley wrote it.
 */
export async function listRecords(options: RecordOptions): Promise<readonly InterruptedText[]> {
  const found: InterruptedText[] = [];
  for (const id of await namesIn(options)) {
    const left = await readRecord(id, options);
    if (left !== undefined) found.push(left);
  }
  return found;
}

/**
 * Records without a readable plan that are more than what a command leaves that was killed before it sent
 * anything. Throws exit 32 when they cannot be listed.
 */
export async function listUnreadable(options: RecordOptions): Promise<readonly UnreadableText[]> {
  const found: UnreadableText[] = [];
  for (const id of await namesIn(options)) {
    const folder = recordFolder(id, options);
    const { garbled, isNewer, plan } = await readJournal(folder, options);
    if (isNewer || plan !== undefined) continue;
    const names = await options.files.readdir(folder).catch(() => []);
    const parts = names.filter((name) => /^part-\d+\.(?!words)/.test(name));
    if (parts.length === 0 && garbled === 0) continue;
    const sizes = parts.map(async (name) => {
      const stat = await options.files.stat(path.join(folder, name)).catch(() => undefined);
      return stat?.size ?? 0;
    });
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    found.push({ id, folder, parts: parts.length, bytes });
  }
  return found;
}

/**
 * Removes the folders of commands that were killed before they had a plan: they have sent nothing. Throws
 * exit 32 when they cannot be listed.
 */
export async function sweepRecords(options: RecordOptions): Promise<void> {
  const unreadable = await listUnreadable(options);
  for (const id of await namesIn(options)) {
    const folder = recordFolder(id, options);
    const { isNewer, plan, records } = await readJournal(folder, options);
    const isBegun = isNewer || plan !== undefined || unreadable.some((one) => one.id === id);
    if (
      isBegun ||
      writerOf(records, options.processes) === 'alive' ||
      !(await isOld(folder, options))
    )
      continue;
    await options.files.rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Nobody takes as long from making a folder to writing down what for. */
const BEGINS_WITHIN_MS = 60 * 60 * 1000;

async function isOld(folder: string, { clock, files }: RecordOptions): Promise<boolean> {
  const found = await files.stat(folder).catch(() => undefined);
  return found !== undefined && clock.now() - found.mtimeMs > BEGINS_WITHIN_MS;
}

/** One of them as it is now; undefined when it is gone, or has no plan. Throws exit 32 as above. */
export async function readRecord(
  id: string,
  options: RecordOptions,
): Promise<InterruptedText | undefined> {
  const folder = recordFolder(id, options);
  const { garbled, isNewer, isRestored, plan, records } = await readJournal(folder, options);
  if (isNewer) throw newerStateFailure('the record of a long text', folder);
  if (plan === undefined) return undefined;
  const states = new Map<number, PartState>();
  for (const record of records) {
    const step = parsePartStep(record);
    if (step === undefined) continue;
    states.set(step.part, afterStep(states.get(step.part) ?? plannedState(plan, step.part), step));
  }
  const textsIn = (name: string): string[] =>
    records.map((record) => record[name]).filter((one) => typeof one === 'string');
  return {
    id,
    plan,
    states,
    checksum: textsIn('whole').at(-1),
    temporaries: [...(plan.temporary === null ? [] : [plan.temporary]), ...textsIn('temporary')],
    writer: writerOf(records, options.processes),
    textSha256: textsIn('textSha256').at(-1),
    isDamaged: garbled > 0 || isRestored,
  };
}

/** What the journal of a record says, with the second copy of the plan where its own is damaged. */
async function readJournal(folder: string, { files }: RecordOptions) {
  const what = 'the record of a long text';
  const none = { records: [], garbled: 0, isNewer: false };
  const read = (await readLog(journalFile(folder), what, files)) ?? none;
  const plan = planIn(read.records);
  if (plan !== undefined || read.isNewer) return { ...read, plan, isRestored: false };
  const copy = (await readLog(planFile(folder), what, files)) ?? none;
  const restored = planIn(copy.records);
  return {
    garbled: read.garbled + copy.garbled,
    isNewer: copy.isNewer,
    records: [...copy.records, ...read.records],
    plan: restored,
    isRestored: restored !== undefined,
  };
}

function planIn(records: readonly LogRecord[]): LongTextPlan | undefined {
  return records.map((record) => parsePlan(record['plan'])).find((one) => one !== undefined);
}

async function namesIn({ files, folder }: RecordOptions): Promise<readonly string[]> {
  const names = await files.readdir(folder).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw stateFailure('the records of long texts', folder, error);
  });
  return names.toSorted((a, b) => (a < b ? -1 : 1));
}
