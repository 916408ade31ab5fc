import path from 'node:path';
import type { FileSystem } from '../effects/file-system.ts';
import type { Liveness, Processes } from '../effects/processes.ts';
import { stateFailure } from './file-failures.ts';
import type { FileDeps } from './files.ts';
import { randomHex, removeQuietly, removeTemporary } from './files.ts';
import type { Durability, LogFile, LogRecord } from './log.ts';
import {
  CORRUPT_EXTENSION,
  hasShape,
  Log,
  LOG_EXTENSION,
  logLine,
  ownerRecord,
  readLogs,
  retireLog,
  writerOf as ownerLiveness,
} from './log.ts';
import { ensurePrivateFolder } from './own-files.ts';

/**
 * Records the operations of this process that may cost credits in one log file. `folder` (0700) is created with
 * the first operation.
 */
export class IntentJournal {
  readonly #options: FileDeps & IntentFolder;
  readonly #log: Log;
  readonly #path: string;
  readonly #intents: Intent[] = [];
  #hasResumed = false;

  constructor(options: FileDeps & IntentFolder) {
    const { folder, clock, files, processes } = options;
    const time = new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '');
    this.#options = options;
    this.#path = path.join(folder, `${time}-${processes.self.pid}-${randomHex(options, 4)}.jsonl`);
    this.#log = new Log({
      ...options,
      path: this.#path,
      head: [ownerRecord(processes.self)],
      // Nothing may be sent when a newer foley uses the folder.
      prepare: () =>
        Promise.all([readIntentFiles(folder, options), ensurePrivateFolder(folder, files)]),
    });
  }

  /**
   * Records an operation; the record is on the disk when this resolves, so only then may the request be sent.
   * @param body JSON body of the request, which `foley recover` may send again; stored until the outcome is known
   * @throws Failure (state); nothing was sent then
   */
  async begin(about: IntentAbout, body?: Uint8Array): Promise<Intent> {
    const intent = new Intent(this, randomHex(this.#options, 8), 0, 'intent');
    await this.write(intent, { about }, 'now', body);
    this.#intents.push(intent);
    return intent;
  }

  /** Returns the stored body of an operation. @throws Failure (state) */
  async bodyOf({ id }: IntentStatus): Promise<Buffer | undefined> {
    const read = await readIntentFiles(this.#options.folder, this.#options);
    const [body] = read.flatMap((file) => file.bodies.get(id) ?? []);
    return body === undefined ? undefined : Buffer.from(body);
  }

  /** Overwrites a body in the file. If that fails, the body is removed with the file. */
  forgetBody({ body, id }: Intent): void {
    if (body !== undefined) this.#log.overwrite(blankLine(id, body.bytes), body.position);
  }

  /** Continues an operation of another process. */
  resume({ id, generation, state }: IntentStatus): Intent {
    const known = this.#intents.find((one) => one.id === id && one.generation === generation);
    if (known !== undefined) return known;
    const intent = new Intent(this, id, generation, state);
    this.#intents.push(intent);
    this.#hasResumed = true;
    return intent;
  }

  /**
   * Marks operations of ended processes as published if they were the same billed request as `done`, and
   * removes their temporary files.
   * @throws Failure (state)
   */
  async closeRepeated(done: Repetition): Promise<void> {
    const { open } = await listOpenIntents(this.#options);
    for (const intent of open) {
      if (intent.writer !== 'dead' || !isSameBilledRequest(intent, done)) continue;
      await removeTemporary(intent.about?.temporary, this.#options);
      await this.resume(intent).markAs('published');
    }
  }

  /** Closes the journal, and removes the file if all operations have ended. Never throws. */
  async close(): Promise<void> {
    await this.#log.close().catch(() => undefined);
    if (!this.#intents.every(({ state }) => isSettled(state))) return;
    // First the files in which resumed operations began: without this file they would be open again.
    if (this.#hasResumed && !(await this.#sweepResumed().catch(() => false))) return;
    if (this.#log.isBegun) await removeQuietly(this.#path, this.#options);
  }

  /** Removes finished files of other processes; returns whether none names an operation of this one. */
  async #sweepResumed(): Promise<boolean> {
    await sweepIntents(this.#options);
    const ended = new Set(this.#intents.map(({ id }) => id));
    const others = await readIntentFiles(this.#options.folder, this.#options);
    return others.every(
      ({ path: file, steps }) => file === this.#path || steps.every(({ id }) => !ended.has(id)),
    );
  }

  /** Appends a step of an operation, and the request body in the same write. */
  async write(
    intent: Intent,
    known: Pick<IntentStep, 'about' | 'facts'>,
    durability: Durability,
    body?: Uint8Array,
  ): Promise<void> {
    const { id, generation, state } = intent;
    const at = new Date(this.#options.clock.now()).toISOString();
    const step = { id, generation, state, at, ...known };
    const sent = body === undefined ? undefined : { id, body: Buffer.from(body).toString('utf8') };
    try {
      const end = await this.#log.append(sent === undefined ? [step] : [step, sent], durability);
      if (sent === undefined || Number.isNaN(end)) return;
      const bytes = logLine(sent).length;
      intent.body = { bytes, position: end - bytes };
    } catch (error) {
      throw stateFailure('the journal', this.#options.folder, error);
    }
  }
}

/** One operation that may cost credits. Methods throw a Failure (state) when a step cannot be recorded. */
export class Intent {
  readonly id: string;
  readonly generation: number;
  state: IntentState;
  /** Where the request body is in the file of this process. */
  body: { readonly bytes: number; readonly position: number } | undefined;
  readonly #journal: IntentJournal;

  constructor(journal: IntentJournal, id: string, generation: number, state: IntentState) {
    this.#journal = journal;
    this.id = id;
    this.generation = generation;
    this.state = state;
  }

  /**
   * Records progress. `verified`, and `accepted` with a job id, are on the disk when this resolves; `accepted`
   * alone soon after.
   */
  async advance(state: OpenState, facts?: IntentMetadata): Promise<void> {
    this.state = state;
    await this.#journal.write(this, { facts }, durabilityOf(state, facts));
    // `foley recover` looks up a job by id, without the body.
    if (facts?.jobId !== undefined) this.#forgetBody();
  }

  /** Records the outcome. */
  async markAs(state: SettledState, facts?: IntentMetadata): Promise<void> {
    this.state = state;
    await this.#journal.write(this, { facts }, 'later');
    this.#forgetBody();
  }

  #forgetBody(): void {
    this.#journal.forgetBody(this);
    this.body = undefined;
  }
}

function durabilityOf(state: OpenState, facts: IntentMetadata | undefined): Durability {
  if (state === 'verified') return 'now';
  if (state !== 'accepted') return 'later';
  // A job cannot be downloaded without the id; for a stream this records only the price.
  return facts?.jobId === undefined ? 'soon' : 'now';
}

/** An operation that may have cost credits and has not ended. */
export interface OpenIntent extends IntentStatus {
  /** Whether the command of the operation is still running. */
  readonly writer: Liveness;
}

interface IntentFolder {
  readonly folder: string;
  readonly files: FileSystem;
  readonly processes: Processes;
}

/**
 * Returns the open operations, the oldest first, and the number of damaged lines.
 * @throws Failure (state) when the journal cannot be read, or a newer foley wrote it
 */
export async function listOpenIntents(
  options: IntentFolder,
): Promise<{ readonly open: readonly OpenIntent[]; readonly garbled: number }> {
  const read = await readIntentFiles(options.folder, options);
  const open = openIn(read).map((status) => ({ ...status, writer: writerOf(status.id, read) }));
  return { open, garbled: read.reduce((sum, file) => sum + file.garbled, 0) };
}

/** A journal file with damaged lines, and how many operations in it are readable and open. */
interface DamagedJournal extends Pick<IntentFile, 'garbled' | 'path'> {
  readonly operations: number;
  readonly open: number;
}

/**
 * Returns the damaged files of ended processes, also those set aside as `.corrupt`. A last line that was cut off
 * when the process was killed is not damage.
 * @throws Failure (state) as above
 */
export async function listDamagedJournals(
  options: IntentFolder,
): Promise<readonly DamagedJournal[]> {
  const extensions = [LOG_EXTENSION, CORRUPT_EXTENSION];
  const read = await readIntentFiles(options.folder, options, extensions);
  const open = openIds(read);
  return read
    .filter(({ garbled, isTorn, writer }) => garbled > (isTorn ? 1 : 0) && writer !== 'alive')
    .map(({ garbled, path: file, steps }) => {
      const ids = [...new Set(steps.map(({ id }) => id))];
      const isLog = file.endsWith(LOG_EXTENSION);
      const stillOpen = ids.filter((id) => isLog && open.has(id));
      return { path: file, garbled, operations: ids.length, open: stillOpen.length };
    });
}

function openIn(read: readonly IntentFile[]): IntentStatus[] {
  return mergeSteps(read.flatMap((file) => file.steps)).filter(({ state }) => !isSettled(state));
}

function openIds(read: readonly IntentFile[]): ReadonlySet<string> {
  return new Set(openIn(read).map(({ id }) => id));
}

/**
 * Removes the finished files of ended processes; one with damaged lines becomes `….corrupt`. Throws the
 * system's error.
 */
export async function sweepIntents(options: FileDeps & IntentFolder): Promise<void> {
  const read = await readIntentFiles(options.folder, options);
  const open = openIds(read);
  // The oldest first: an operation that a later file ends may have begun in an earlier one.
  for (const file of read) {
    // An unknown process may be about to record its first operation.
    const mayBegin = file.writer === 'unknown' && file.steps.length === 0;
    const isOver = file.writer !== 'alive' && file.steps.every(({ id }) => !open.has(id));
    if (isOver && !mayBegin) await retireLog(file, options);
  }
}

function writerOf(id: string, read: readonly IntentFile[]): Liveness {
  const writers = read
    .filter((file) => file.steps.some((step) => step.id === id))
    .map((file) => file.writer);
  return (
    writers.find((one) => one === 'alive') ?? writers.find((one) => one === 'unknown') ?? 'dead'
  );
}

/** A finished operation that may have repeated earlier operations. */
export interface Repetition {
  readonly about: IntentAbout;
  readonly jobId: string | undefined;
  /** Whether the complete output was delivered; otherwise only the id is known. */
  readonly isDelivered: boolean;
  /** It resumed an earlier stream under the same key, and received the audio billed before. */
  readonly isResumed: boolean;
}

/**
 * Returns whether the service charged once for two operations (docs/billing.md, "Keys"). Before a response, the
 * same key is enough; after a response, the same job or a resumed stream is required.
 */
export function isSameBilledRequest(open: IntentStatus, done: Repetition): boolean {
  if (open.about === undefined || !isSameRequest(open.about, done.about)) return false;
  if (open.state === 'intent' || open.state === 'sent') return true;
  if (!done.isDelivered) return false;
  const { jobId } = open.facts;
  return jobId === undefined ? open.state === 'accepted' && done.isResumed : jobId === done.jobId;
}

/** Compares key, endpoint and account: a key is valid for one account of one service. */
function isSameRequest(open: IntentAbout, done: IntentAbout): boolean {
  const { endpoint, idempotencyKey, origin, payer, target } = done;
  if (idempotencyKey === null || open.idempotencyKey !== idempotencyKey) return false;
  if (open.endpoint !== endpoint || open.target !== target) return false;
  // The embedded service has one account, and another port each time.
  if (target === 'embedded') return true;
  return open.origin === origin && payer !== undefined && open.payer === payer;
}

/** The states of an operation that may cost credits, in order. */
export const OPEN_STATES = ['intent', 'sent', 'accepted', 'done', 'verified'] as const;

/** The states of an operation that has ended. */
export const SETTLED_STATES = [
  /** The output was renamed to the final name. */
  'published',
  /** The audio is in the spool. */
  'kept',
  /** The service refused the request and billed nothing. */
  'rejected',
  /** The request failed on the service. */
  'failed',
  /** The request was billed and its audio is not available; foley reported the loss and the cost. */
  'lost',
  /** The user discarded the result. */
  'abandoned',
] as const;

export type OpenState = (typeof OPEN_STATES)[number];
export type SettledState = (typeof SETTLED_STATES)[number];
export type IntentState = OpenState | SettledState;

/** The record of a billed request before it is sent. It contains no API key and no text. */
export interface IntentAbout {
  /** What the request creates, such as `speech` or `image`. */
  readonly what: string;
  /** Method and path, such as `POST /api/open/v3/text-to-speech`. */
  readonly endpoint: string;
  readonly origin: string;
  readonly target: 'embedded' | 'hosted';
  readonly idempotencyKey: string | null;
  /** The user chose the key, so foley must not replace it. */
  readonly isOwnKey?: true | undefined;
  /** A short hash of the API key that a hosted service bills. */
  readonly payer?: string | undefined;
  readonly requestId: string | null;
  /** The output file; null for stdout. */
  readonly output: string | null;
  readonly temporary: string | null;
}

/** Metadata that becomes known while an operation proceeds. */
export interface IntentMetadata {
  readonly jobId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly creditsUsed?: number | undefined;
  readonly bytes?: number | undefined;
  readonly checksum?: string | undefined;
  readonly spoolId?: string | undefined;
  readonly problem?: string | undefined;
}

/** An operation, merged from its steps. */
export interface IntentStatus {
  readonly id: string;
  /** Counts intentional repeated purchases, from 0. */
  readonly generation: number;
  readonly state: IntentState;
  /** When the operation reached the state, as an ISO date. */
  readonly at: string;
  /** Undefined if the line is damaged. */
  readonly about: IntentAbout | undefined;
  readonly facts: IntentMetadata;
}

/** A line of the journal: one step of an operation. */
interface IntentStep extends Omit<IntentStatus, 'about' | 'facts'> {
  readonly about?: IntentAbout | undefined;
  readonly facts?: IntentMetadata | undefined;
}

/** Returns whether an operation in this state has ended. */
export function isSettled(state: IntentState): state is SettledState {
  return SETTLED_STATES.some((settled) => settled === state);
}

function parseStep(record: LogRecord): IntentStep | undefined {
  const { id, generation, state, at, about, facts } = record;
  const known = ALL_STATES.find((one) => one === state);
  if (typeof id !== 'string' || typeof at !== 'string' || known === undefined) return undefined;
  if (typeof generation !== 'number' || !Number.isSafeInteger(generation)) return undefined;
  return {
    id,
    generation,
    state: known,
    at,
    about: isAbout(about) ? about : undefined,
    facts: isMetadata(facts) ? facts : undefined,
  };
}

/**
 * Merges the steps of operations, in any order and from any number of files: the last state of the highest
 * generation counts. Times do not matter.
 */
export function mergeSteps(steps: readonly IntentStep[]): IntentStatus[] {
  const merged = new Map<string, IntentStatus>();
  for (const step of steps.toSorted((a, b) => orderOf(a) - orderOf(b))) {
    const before = merged.get(step.id);
    merged.set(step.id, {
      ...step,
      about: step.about ?? before?.about,
      facts: { ...before?.facts, ...step.facts },
    });
  }
  return Array.from(merged.values());
}

const ALL_STATES: readonly IntentState[] = [...OPEN_STATES, ...SETTLED_STATES];

function orderOf({ generation, state }: IntentStep): number {
  return generation * ALL_STATES.length + ALL_STATES.indexOf(state);
}

function isAbout(value: unknown): value is IntentAbout {
  return hasShape(value, {
    what: 'string',
    endpoint: 'string',
    origin: 'string',
    target: 'string',
    idempotencyKey: 'string|null',
    requestId: 'string|null',
    output: 'string|null',
    temporary: 'string|null',
    payer: 'string|undefined',
  });
}

function isMetadata(value: unknown): value is IntentMetadata {
  return hasShape(value, {
    jobId: 'string|undefined',
    requestId: 'string|undefined',
    creditsUsed: 'number|undefined',
    bytes: 'number|undefined',
    checksum: 'string|undefined',
    spoolId: 'string|undefined',
    problem: 'string|undefined',
  });
}

/** A file of the journal; each process writes its own. */
export interface IntentFile extends Pick<LogFile, 'garbled' | 'isTorn' | 'path'> {
  readonly writer: Liveness;
  readonly steps: readonly IntentStep[];
  /** Stored request bodies, by operation id. */
  readonly bodies: ReadonlyMap<string, string>;
}

/** Returns a line of `bytes` bytes that overwrites a body. */
function blankLine(id: string, bytes: number): Buffer {
  const least = logLine({ id, body: '' }).length;
  return logLine({ id, body: ' '.repeat(bytes - least) });
}

/**
 * Reads the files of the journal, the oldest first; none when the folder does not exist.
 * @throws Failure (state) when a file cannot be read, or a newer foley wrote it
 */
export async function readIntentFiles(
  folder: string,
  { files, processes }: Pick<IntentFolder, 'files' | 'processes'>,
  extensions?: readonly string[],
): Promise<IntentFile[]> {
  const read: IntentFile[] = [];
  for await (const log of readLogs(folder, 'the journal', files, extensions)) {
    read.push(intentFile(log, processes));
  }
  return read;
}

function intentFile(
  { garbled, isTorn, path: file, records }: LogFile,
  processes: Processes,
): IntentFile {
  const steps = records.map((record) => parseStep(record)).filter((step) => step !== undefined);
  const bodies = new Map<string, string>();
  for (const { body, id } of records) {
    if (typeof body === 'string' && typeof id === 'string' && body.trim() !== '')
      bodies.set(id, body);
  }
  const others = records.filter((record) => 'owner' in record || 'body' in record).length;
  const unknown = records.length - others - steps.length;
  const writer = ownerLiveness(records, processes);
  return { path: file, writer, steps, bodies, garbled: garbled + unknown, isTorn };
}
