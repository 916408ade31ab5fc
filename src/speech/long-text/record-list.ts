import path from 'node:path';
import { hasErrno } from '../../files/errno.ts';
import { parseIdentity } from '../../files/intent-files.ts';
import { parseJournal } from '../../files/journal-lines.ts';
import { readOwnText, RECORD_BYTES } from '../../files/own-files.ts';
import { newerStateFailure, stateFailure } from '../../files/state-failures.ts';
import type { Liveness } from '../../effects/processes.ts';
import type { PartState } from './part-steps.ts';
import { afterStep, parsePartStep } from './part-steps.ts';
import type { LongTextPlan } from './plan.ts';
import { parsePlan } from './plan.ts';
import type { RecordOptions } from './record.ts';
import { journalFile, plannedState, planFile, recordFolder } from './record.ts';

/** A long text that a command left before it was spoken to its end. */
export interface LeftText {
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
export interface UnreadableText {
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
export async function listRecords(options: RecordOptions): Promise<readonly LeftText[]> {
  const found: LeftText[] = [];
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
    if (isBegun || writerOf(records, options) === 'alive' || !(await isOld(folder, options)))
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
): Promise<LeftText | undefined> {
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
    writer: writerOf(records, options),
    textSha256: textsIn('textSha256').at(-1),
    isDamaged: garbled > 0 || isRestored,
  };
}

/** What the journal of a record says, with the second copy of the plan where its own is damaged. */
async function readJournal(folder: string, options: RecordOptions) {
  const read = parseJournal((await contentOf(journalFile(folder), options)) ?? '');
  const planIn = (records: typeof read.records): LongTextPlan | undefined =>
    records.map((record) => parsePlan(record['plan'])).find((one) => one !== undefined);
  const plan = planIn(read.records);
  if (plan !== undefined || read.isNewer) return { ...read, plan, isRestored: false };
  const copy = parseJournal((await contentOf(planFile(folder), options)) ?? '');
  const records = [...copy.records, ...read.records];
  const restored = planIn(copy.records);
  return {
    garbled: read.garbled + copy.garbled,
    isNewer: copy.isNewer,
    records,
    plan: restored,
    isRestored: restored !== undefined,
  };
}

async function namesIn({ files, folder }: RecordOptions): Promise<readonly string[]> {
  const names = await files.readdir(folder).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw stateFailure('the records of long texts', folder, error);
  });
  return names.toSorted((a, b) => (a < b ? -1 : 1));
}

/** Who wrote last. */
function writerOf(
  records: readonly Readonly<Record<string, unknown>>[],
  { processes }: RecordOptions,
): Liveness {
  const owner = records
    .map((record) => parseIdentity(record['owner']))
    .findLast((one) => one !== undefined);
  return owner === undefined ? 'unknown' : processes.liveness(owner);
}

/** Undefined for what is no record, or was removed meanwhile. */
async function contentOf(file: string, { files }: RecordOptions): Promise<string | undefined> {
  try {
    return await readOwnText(file, RECORD_BYTES, files);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw stateFailure('the record of a long text', file, error);
  }
}
