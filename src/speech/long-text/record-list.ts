import { hasErrno } from '../../files/errno.ts';
import { parseIdentity } from '../../files/intent-files.ts';
import { parseJournal } from '../../files/journal-lines.ts';
import { newerStateFailure, stateFailure } from '../../files/state-failures.ts';
import type { Liveness } from '../../effects/processes.ts';
import type { PartState } from './part-steps.ts';
import { afterStep, parsePartStep } from './part-steps.ts';
import type { LongTextPlan } from './plan.ts';
import { parsePlan } from './plan.ts';
import type { RecordOptions } from './record.ts';
import { journalFile, plannedState, recordFolder } from './record.ts';

/** A long text that a command left before it was spoken to its end. */
export interface LeftText {
  readonly id: string;
  readonly plan: LongTextPlan;
  readonly states: ReadonlyMap<number, PartState>;
  /** SHA-256 of the whole, once that was there and was checked. */
  readonly sha256: string | undefined;
  /** Whether the command that worked on it last still runs. */
  readonly writer: Liveness;
}

/**
 * What is there, the oldest first; a folder without a plan is of a command that has sent nothing yet. Throws exit 32 when a record cannot be read, or a
 * newer foley wrote it.
 */
export async function listRecords(options: RecordOptions): Promise<readonly LeftText[]> {
  const names = await options.files.readdir(options.folder).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw stateFailure('the records of long texts', options.folder, error);
  });
  const found: LeftText[] = [];
  for (const id of names.toSorted((a, b) => (a < b ? -1 : 1))) {
    const left = await readRecord(id, options);
    if (left !== undefined) found.push(left);
  }
  return found;
}

async function readRecord(id: string, options: RecordOptions): Promise<LeftText | undefined> {
  const folder = recordFolder(id, options);
  const content = await contentOf(journalFile(folder), options);
  const { isNewer, records } = parseJournal(content ?? '');
  if (isNewer) throw newerStateFailure('the record of a long text', folder);
  const plan = records.map((record) => parsePlan(record['plan'])).find((one) => one !== undefined);
  if (plan === undefined) return undefined;
  const states = new Map<number, PartState>();
  for (const record of records) {
    const step = parsePartStep(record);
    if (step === undefined) continue;
    states.set(step.part, afterStep(states.get(step.part) ?? plannedState(plan, step.part), step));
  }
  const sums = records.map((record) => record['whole']).filter((one) => typeof one === 'string');
  const owners = records
    .map((record) => parseIdentity(record['owner']))
    .filter((one) => one !== undefined);
  const owner = owners.at(-1);
  return {
    id,
    plan,
    states,
    sha256: sums.at(-1),
    writer: owner === undefined ? 'unknown' : options.processes.liveness(owner),
  };
}

/** Undefined for what is no record, or was removed meanwhile. */
async function contentOf(file: string, { files }: RecordOptions): Promise<string | undefined> {
  try {
    return await files.readFile(file, 'utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw stateFailure('the record of a long text', file, error);
  }
}
