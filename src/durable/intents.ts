import path from 'node:path';
import type { FileSystem } from '../effects/file-system.ts';
import type { Processes, Liveness } from '../effects/processes.ts';
import { bodyRecord, blankLine, readIntentFiles, isSettled, mergeSteps } from './intent-records.ts';
import type {
  IntentFile,
  IntentAbout,
  IntentMetadata,
  IntentState,
  IntentStatus,
  IntentStep,
  OpenState,
  SettledState,
} from './intent-records.ts';
import type { Durability } from './log.ts';
import { CORRUPT_EXTENSION, Log, LOG_EXTENSION, logLine, ownerRecord, retireLog } from './log.ts';
import { ensurePrivateFolder } from './own-files.ts';
import { stateFailure } from './file-failures.ts';
import { removeQuietly, randomHex, isTemporaryName } from './files.ts';
import type { FileDeps } from './files.ts';

export type {
  IntentAbout,
  IntentMetadata,
  IntentState,
  IntentStatus,
  OpenState,
  SettledState,
} from './intent-records.ts';

interface IntentJournalOptions extends FileDeps {
  readonly folder: string;
  readonly processes: Processes;
}

/**
 * The operations of this process that may cost credits, in a log of its own. `folder` (0700) is created with
 * the first operation.
 */
export class IntentJournal {
  readonly #options: IntentJournalOptions;
  readonly #log: Log;
  readonly #path: string;
  readonly #intents: Intent[] = [];
  #hasResumed = false;

  constructor(options: IntentJournalOptions) {
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
   * Records an operation; it is on the disk when this resolves, so only then may the request be sent.
   * @param body JSON body of the request, stored until the outcome is known: `foley recover` may send it again
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

  /** Overwrites a body in the file; one that cannot be overwritten is removed with the file. */
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
   * Marks operations of dead processes as published that were the same billed request as a finished one, and
   * removes their temporary files.
   * @throws Failure (state)
   */
  async closeRepeated(done: Repetition): Promise<void> {
    const { open } = await listOpenIntents(this.#options);
    for (const intent of open) {
      if (intent.writer !== 'dead' || !isSameBilledRequest(intent, done)) continue;
      const temporary = intent.about?.temporary ?? '';
      if (isTemporaryName(path.basename(temporary))) await removeQuietly(temporary, this.#options);
      await this.resume(intent).markAs('published');
    }
  }

  /** Closes the journal, and removes its file when all operations have ended. Never throws. */
  async close(): Promise<void> {
    await this.#log.close().catch(() => undefined);
    if (!this.#intents.every(({ state }) => isSettled(state))) return;
    // The files in which resumed operations began go first: without this file they would be open again.
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

  /** Appends one step of an operation, with its body in the same write. */
  async write(
    intent: Intent,
    known: Pick<IntentStep, 'about' | 'facts'>,
    durability: Durability,
    body?: Uint8Array,
  ): Promise<void> {
    const { id, generation, state } = intent;
    const at = new Date(this.#options.clock.now()).toISOString();
    const step = { id, generation, state, at, ...known };
    const sent = body === undefined ? undefined : bodyRecord(id, body);
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
    // `foley recover` asks for a job by its id, and needs no body.
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
  // Without its id a job cannot be downloaded; for a stream this records only the price.
  return facts?.jobId === undefined ? 'soon' : 'now';
}

/** An operation that may have cost credits and has not ended. */
export interface OpenIntent extends IntentStatus {
  /** Whether its command is still running. */
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
  const open = mergeSteps(read.flatMap((file) => file.steps))
    .filter(({ state }) => !isSettled(state))
    .map((status) => ({ ...status, writer: writerOf(status.id, read) }));
  return { open, garbled: read.reduce((sum, file) => sum + file.garbled, 0) };
}

/** A journal file with damaged lines, and how many operations in it are readable and open. */
interface DamagedJournal extends Pick<IntentFile, 'garbled' | 'path'> {
  readonly operations: number;
  readonly open: number;
}

/**
 * Returns the damaged files of ended processes, also those set aside as `.corrupt`. A line that was cut off
 * when its writer was killed is not damage.
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

/** Returns the ids of the operations that have not ended. */
function openIds(read: readonly IntentFile[]): ReadonlySet<string> {
  const merged = mergeSteps(read.flatMap((file) => file.steps));
  return new Set(merged.filter(({ state }) => !isSettled(state)).map(({ id }) => id));
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

/** A finished operation that may have repeated earlier ones. */
export interface Repetition {
  readonly about: IntentAbout;
  readonly jobId: string | undefined;
  /** All of its output was delivered; otherwise only its id is known. */
  readonly isDelivered: boolean;
  /** It resumed an earlier stream under its key, and received what that one was billed for as well. */
  readonly isResumed: boolean;
}

/**
 * Returns whether a service with keys charged for both only once (docs/billing.md, "Keys"): before a response,
 * the same key says so; after it, only the same job or a resumed stream does.
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
