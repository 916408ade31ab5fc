import path from 'node:path';
import type { SpeechOrder } from '../../api/resources/speech.ts';
import type { Cover } from '../../audio/encode/tags.ts';
import { JoinedMarks } from '../../audio/encode/tags.ts';
import { extensionOf } from '../../audio/formats.ts';
import { sha256 } from '../../durable/checksum.ts';
import { stateFailure, hasErrno, newerStateFailure } from '../../durable/file-failures.ts';
import { syncFolder } from '../../durable/files.ts';
import type { System } from '../../system/system.ts';
import type { LogRecord } from '../../durable/log.ts';
import { Log, logLine, ownerRecord, readLog, writerOf } from '../../durable/log.ts';
import { ensurePrivateFolder, readOwnText, RECORD_BYTES } from '../../durable/own-files.ts';
import { replaceFile } from '../../durable/publish.ts';
import type { Liveness } from '../../system/processes.ts';
import { Failure } from '../../errors/failure.ts';
import { display } from '../../text/display.ts';
import type { PurchaseMetadata, PurchaseState } from '../purchase.ts';
import { isMetadata, stateIn } from '../purchase.ts';
import type { LongTextPlan } from './plan.ts';
import { isPlan } from './plan.ts';

const PROGRESS = 'the saved progress of a long text';

/** The saved progress of all long texts. */
export interface LongTexts {
  readonly system: System;
  readonly folder: string;
}

/**
 * Saves a long text and its plan, so that an interrupted command can be resumed. Both are on disk when this resolves.
 * Requests may be sent only after that.
 * @throws Failure of kind `state`
 */
export async function beginRecord(
  plan: LongTextPlan,
  { cover, text }: { readonly text: string; readonly cover?: Cover | undefined },
  texts: LongTexts,
): Promise<LongTextRecord> {
  const folder = recordFolder(plan.id, texts);
  let log: Log | undefined;
  try {
    await ensurePrivateFolder(texts.folder, texts.system.files);
    await texts.system.files.mkdir(folder, { mode: 0o700 });
    const data = Buffer.from(text);
    await replaceFile(texts.system, { path: textFile(folder), data, mode: 0o600 });
    if (cover !== undefined) {
      await replaceFile(texts.system, { path: coverFile(folder), data: cover.data, mode: 0o600 });
    }
    const head = [ownerRecord(texts.system.processes.self), { plan, textSha256: sha256(text) }];
    log = await openLog(folder, head, texts);
    // A second copy of the plan: with it, a damaged journal loses no billed audio.
    const copy = Buffer.concat(head.map((record) => logLine(record)));
    await replaceFile(texts.system, { path: planFile(folder), data: copy, mode: 0o600 });
    await syncFolder(texts.system.files, folder);
    await syncFolder(texts.system.files, texts.folder);
    return new LongTextRecord({ plan, text, folder, log, states: new Map() }, texts.system);
  } catch (error) {
    await log?.close().catch(() => undefined);
    await texts.system.files.rm(folder, { recursive: true, force: true }).catch(() => undefined);
    throw stateFailure(PROGRESS, folder, error);
  }
}

interface RecordedText {
  readonly plan: LongTextPlan;
  readonly states: ReadonlyMap<number, PartState>;
  /** SHA-256 of the text; undefined if the text was saved by an early version of foley, which recorded no hash. */
  readonly textSha256?: string | undefined;
}

/**
 * Opens the saved progress of an interrupted long text, and records this process as the owner.
 * @throws Failure of kind `state` when the progress cannot be opened, or when its text is damaged and still needed
 */
export async function resumeRecord(
  { plan, states, textSha256 }: RecordedText,
  texts: LongTexts,
): Promise<LongTextRecord> {
  const folder = recordFolder(plan.id, texts);
  try {
    const text = await readOwnText(textFile(folder), RECORD_BYTES, texts.system.files);
    const isDamaged = textSha256 !== undefined && sha256(text) !== textSha256;
    const needsText =
      plan.via !== 'job' || !plan.parts.every((_, part) => isPaid(states.get(part)));
    if (isDamaged && needsText) throw damagedText(textFile(folder));
    const log = await openLog(folder, [ownerRecord(texts.system.processes.self)], texts);
    return new LongTextRecord({ plan, text, folder, log, states }, texts.system);
  } catch (error) {
    throw stateFailure(PROGRESS, folder, error);
  }
}

async function openLog(folder: string, head: readonly LogRecord[], texts: LongTexts): Promise<Log> {
  const log = new Log(texts.system, { path: journalFile(folder), head, isResumed: true });
  await log.append([], 'now');
  return log;
}

function isPaid(part: PartState | undefined): boolean {
  return part?.state === 'verified' || (part?.state === 'accepted' && part.jobId !== undefined);
}

function damagedText(file: string): Failure {
  return new Failure(`the stored copy of this long text was changed or damaged: ${display(file)}`, {
    code: 'state',
    exit: 'state',
    hint: 'Restore the original text, or use the finished audio files in the folder of the damaged file.',
    billed: 'yes',
  });
}

function recordFolder(id: string, { folder }: LongTexts): string {
  return path.join(folder, path.basename(id));
}

function journalFile(folder: string): string {
  return path.join(folder, 'journal.jsonl');
}

function planFile(folder: string): string {
  return path.join(folder, 'plan.jsonl');
}

function textFile(folder: string): string {
  return path.join(folder, 'text.txt');
}

function coverFile(folder: string): string {
  return path.join(folder, 'cover');
}

/**
 * The saved progress of a long text: a folder (0700) with the text, the plan, a log of the steps of each part and
 * the audio of finished parts. A later process can resume from it. Methods that write throw a Failure of kind `state`.
 */
export class LongTextRecord {
  readonly plan: LongTextPlan;
  readonly text: string;
  readonly #system: System;
  readonly #folder: string;
  readonly #log: Log;
  readonly #states: Map<number, PartState>;

  constructor(
    {
      folder,
      log,
      plan,
      states,
      text,
    }: {
      readonly plan: LongTextPlan;
      readonly states: ReadonlyMap<number, PartState>;
      readonly text: string;
      readonly folder: string;
      readonly log: Log;
    },
    system: System,
  ) {
    this.plan = plan;
    this.text = text;
    this.#system = system;
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

  /** Returns the order of a part: its text, and its voice. */
  partOrder(index: number): SpeechOrder {
    const { order, parts } = this.plan;
    const { voiceId = order.voiceId } = parts[index] ?? {};
    return { ...order, voiceId, text: this.partText(index) };
  }

  partFile(index: number): string {
    return this.#fileOf(index, extensionOf(this.plan.format));
  }

  /** Returns the path of the file with the word times of a part. */
  wordsFile(index: number): string {
    return this.#fileOf(index, 'words.json');
  }

  /** Returns the tags and chapters of the file that an interrupted command was about to write. */
  async marks(): Promise<JoinedMarks | undefined> {
    const { chapters = [], tags } = this.plan;
    if (tags === undefined && chapters.length === 0) return undefined;
    const { cover: mimeType, ...texts } = tags ?? {};
    // The audio is worth more than a cover that somebody removed.
    const data =
      mimeType === undefined
        ? undefined
        : await this.#system.files.readFile(coverFile(this.#folder)).catch(() => undefined);
    const cover = mimeType === undefined || data === undefined ? undefined : { mimeType, data };
    return new JoinedMarks(
      { ...texts, cover },
      chapters.map(({ title }) => title),
    );
  }

  /** Records the new state of a part. The record is on disk when this resolves. */
  note(step: PartStep): Promise<void> {
    this.#states.set(step.part, afterStep(this.part(step.part), step));
    return this.#write({ ...step });
  }

  /**
   * Records the name of the temporary file with the joined audio. After an interruption, a later command removes that
   * file.
   */
  recordTemporary(temporary: string): Promise<void> {
    return this.#write({ temporary });
  }

  /** Records the checksum of the joined audio after it was verified. The record is on disk when this resolves. */
  verified(checksum: string): Promise<void> {
    return this.#write({ whole: checksum });
  }

  /** Closes the journal and removes the folder of the text. Never throws. */
  async remove(): Promise<void> {
    await this.close();
    const options = { recursive: true, force: true };
    await this.#system.files.rm(this.#folder, options).catch(() => undefined);
  }

  /** Closes the journal, so that another process can resume the text. Never throws. */
  async close(): Promise<void> {
    await this.#log.close().catch(() => undefined);
  }

  #fileOf(index: number, ending: string): string {
    return path.join(this.#folder, `part-${String(index + 1).padStart(4, '0')}.${ending}`);
  }

  async #write(record: LogRecord): Promise<void> {
    try {
      await this.#log.append([record], 'now');
    } catch (error) {
      throw stateFailure(PROGRESS, this.#folder, error);
    }
  }
}

function plannedState({ parts }: LongTextPlan, index: number): PartState {
  return { state: 'planned', key: parts[index]?.key ?? undefined };
}

/** The state of a part, with its idempotency key and metadata. */
export interface PartState extends PurchaseMetadata {
  readonly state: PurchaseState;
  readonly key?: string | undefined;
}

interface PartStep extends PartState {
  // Index of the part, from 0.
  readonly part: number;
}

function afterStep(before: PartState, step: PartStep): PartState {
  const { part: _, ...known } = step;
  // A new key restarts the part.
  const kept = step.state === 'planned' ? {} : before;
  const added = Object.fromEntries(
    Object.entries(known).filter(([, value]) => value !== undefined),
  );
  return { ...kept, ...added, state: step.state };
}

function parsePartStep(record: LogRecord): PartStep | undefined {
  const { key, part } = record;
  const state = stateIn(record);
  if (state === undefined || typeof part !== 'number' || !isMetadata(record)) return undefined;
  return { ...record, part, state, key: typeof key === 'string' ? key : undefined };
}

/** A long text whose command was interrupted. */
export interface InterruptedText {
  readonly id: string;
  readonly plan: LongTextPlan;
  readonly states: ReadonlyMap<number, PartState>;
  /** Checksum of the joined audio; undefined until the audio was verified. */
  readonly checksum: string | undefined;
  /** Temporary files that interrupted commands left behind. */
  readonly temporaries: readonly string[];
  /** Whether the process that last wrote the progress is still running. */
  readonly writer: Liveness;
  /** SHA-256 of the text; undefined if the text was saved by an early version of foley, which recorded no hash. */
  readonly textSha256: string | undefined;
  /** True if lines of the journal are damaged or missing; `states` may then be out of date. */
  readonly isDamaged: boolean;
}

interface UnreadableText {
  readonly id: string;
  readonly folder: string;
  readonly parts: number;
  readonly bytes: number;
}

/**
 * Returns the saved progress of all long texts, oldest first. Skips a folder without a plan, because nothing was sent
 * yet.
 * @throws Failure of kind `state` when a file cannot be read, or a newer foley wrote it
 */
export async function listRecords(texts: LongTexts): Promise<readonly InterruptedText[]> {
  const found: InterruptedText[] = [];
  for (const id of await namesIn(texts)) {
    const left = await readRecord(id, texts);
    if (left !== undefined) found.push(left);
  }
  return found;
}

/**
 * Returns the long texts that cannot be resumed, because their plan is missing or damaged. Skips a folder with neither
 * audio nor damaged journal lines.
 * @throws Failure of kind `state` if the folders cannot be listed
 */
export async function listUnreadable(texts: LongTexts): Promise<readonly UnreadableText[]> {
  const found: UnreadableText[] = [];
  for (const id of await namesIn(texts)) {
    const folder = recordFolder(id, texts);
    const { garbled, isNewer, plan } = await readJournal(folder, texts);
    if (isNewer || plan !== undefined) continue;
    const names = await texts.system.files.readdir(folder).catch(() => []);
    const parts = names.filter((name) => /^part-\d+\.(?!words)/.test(name));
    if (parts.length === 0 && garbled === 0) continue;
    const sizes = parts.map(async (name) => {
      const stat = await texts.system.files.stat(path.join(folder, name)).catch(() => undefined);
      return stat?.size ?? 0;
    });
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    found.push({ id, folder, parts: parts.length, bytes });
  }
  return found;
}

/**
 * Removes folders of commands that were killed before they saved a plan. Such commands have sent no request.
 * @throws Failure of kind `state` if the folders cannot be listed
 */
export async function sweepRecords(texts: LongTexts): Promise<void> {
  const unreadable = await listUnreadable(texts);
  for (const id of await namesIn(texts)) {
    const folder = recordFolder(id, texts);
    const { isNewer, plan, records } = await readJournal(folder, texts);
    const isBegun = isNewer || plan !== undefined || unreadable.some((one) => one.id === id);
    if (
      isBegun ||
      writerOf(records, texts.system.processes) === 'alive' ||
      !(await isOld(folder, texts))
    )
      continue;
    await texts.system.files.rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

// A command writes its plan much sooner.
const BEGINS_WITHIN_MS = 60 * 60 * 1000;

async function isOld(folder: string, { system: { clock, files } }: LongTexts): Promise<boolean> {
  const found = await files.stat(folder).catch(() => undefined);
  return found !== undefined && clock.now() - found.mtimeMs > BEGINS_WITHIN_MS;
}

/**
 * Returns the saved progress of a long text; undefined if its folder or plan is missing.
 * @throws Failure of kind `state` if the progress is unreadable
 */
export async function readRecord(
  id: string,
  texts: LongTexts,
): Promise<InterruptedText | undefined> {
  const folder = recordFolder(id, texts);
  const { garbled, isNewer, isRestored, plan, records } = await readJournal(folder, texts);
  if (isNewer) throw newerStateFailure(PROGRESS, folder);
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
    writer: writerOf(records, texts.system.processes),
    textSha256: textsIn('textSha256').at(-1),
    isDamaged: garbled > 0 || isRestored,
  };
}

async function readJournal(folder: string, { system: { files } }: LongTexts) {
  const none = { records: [], garbled: 0, isNewer: false };
  const read = (await readLog(journalFile(folder), PROGRESS, files)) ?? none;
  const plan = planIn(read.records);
  if (plan !== undefined || read.isNewer) return { ...read, plan, isRestored: false };
  const copy = (await readLog(planFile(folder), PROGRESS, files)) ?? none;
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
  return records.map((record) => record['plan']).find(isPlan);
}

async function namesIn({ folder, system: { files } }: LongTexts): Promise<readonly string[]> {
  const names = await files.readdir(folder).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw stateFailure('the saved progress of long texts', folder, error);
  });
  return names.toSorted((a, b) => (a < b ? -1 : 1));
}
