import path from 'node:path';
import type { FileSystem } from '../effects/file-system.ts';
import type { Processes, Liveness } from '../effects/processes.ts';
import { bodyRecord, blankLine, readIntentFiles, isSettled, mergeSteps } from './intent-records.ts';
import type {
  IntentFile,
  IntentAbout,
  IntentFacts,
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
  IntentFacts,
  IntentState,
  IntentStatus,
  OpenState,
  SettledState,
} from './intent-records.ts';

/** One operation that may cost credits. Its steps throw exit 32 when they cannot be written down. */
export interface Intent {
  readonly id: string;
  readonly state: IntentState;
  /**
   * Notes how far it got. `verified`, and `accepted` with a job's id, are on the disk when this resolves;
   * `accepted` alone soon after.
   */
  advance(state: OpenState, facts?: IntentFacts): Promise<void>;
  /** Notes how it ended. */
  settle(state: SettledState, facts?: IntentFacts): Promise<void>;
}

/**
 * What this process writes into the journal of operations that may cost credits: a file of its own, so
 * that no two write into one. When everything in it has come to its end, `close` removes it.
 */
export interface IntentJournal {
  /**
   * Writes an operation down; it is on the disk when this resolves, so only then may the request be
   * sent. Throws exit 32 when it cannot be, or when a newer foley uses the journal: nothing was sent.
   * @param body what is sent, JSON; in the same file, until it is known what came of it, so that `foley recover`
   *   can ask again
   */
  begin(about: IntentAbout, body?: Uint8Array): Promise<Intent>;
  /** What an operation asked for, as it was sent; undefined when it was not kept. @throws Failure (state) */
  bodyOf(status: IntentStatus): Promise<Buffer | undefined>;
  /** Goes on with an operation that another process left open. */
  resume(status: IntentStatus): Intent;
  /**
   * Notes that what dead commands left open of the very purchase that came to its end now is over with it.
   * @throws Failure (state)
   */
  settleRepeated(done: Repetition): Promise<void>;
  /** Closes the journal, and tidies up what has ended. Never throws. */
  close(): Promise<void>;
}

interface IntentJournalOptions extends FileDeps {
  readonly folder: string;
  readonly processes: Processes;
}

/** The journal in `folder`, which is made, 0700, with the first operation. */
export function createIntentJournal(options: IntentJournalOptions): IntentJournal {
  return new Journal(options);
}

class Journal implements IntentJournal {
  readonly #options: IntentJournalOptions;
  readonly #log: Log;
  readonly #path: string;
  readonly #intents: WrittenIntent[] = [];
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
      // A newer foley may be using the folder: then nothing may be sent.
      prepare: () =>
        Promise.all([readIntentFiles(folder, options), ensurePrivateFolder(folder, files)]),
    });
  }

  async begin(about: IntentAbout, body?: Uint8Array): Promise<Intent> {
    const intent = new WrittenIntent(this, randomHex(this.#options, 8), 0, 'intent');
    await this.write(intent, { about }, 'now', body);
    this.#intents.push(intent);
    return intent;
  }

  async bodyOf({ id }: IntentStatus): Promise<Buffer | undefined> {
    const read = await readIntentFiles(this.#options.folder, this.#options);
    const [body] = read.flatMap((file) => file.bodies.get(id) ?? []);
    return body === undefined ? undefined : Buffer.from(body);
  }

  /** Overwrites a body in the file; one that cannot be overwritten is removed with the file. */
  forgetBody({ body, id }: WrittenIntent): void {
    if (body !== undefined) this.#log.overwrite(blankLine(id, body.bytes), body.position);
  }

  resume({ id, generation, state }: IntentStatus): Intent {
    const known = this.#intents.find((one) => one.id === id && one.generation === generation);
    if (known !== undefined) return known;
    const intent = new WrittenIntent(this, id, generation, state);
    this.#intents.push(intent);
    this.#hasResumed = true;
    return intent;
  }

  async settleRepeated(done: Repetition): Promise<void> {
    for (const left of await leftOfTheSame(done, this.#options)) {
      await this.resume(left).settle('published');
    }
  }

  async close(): Promise<void> {
    await this.#log.close().catch(() => undefined);
    if (!this.#intents.every(({ state }) => isSettled(state))) return;
    // First what others began and we ended, then what says that it has ended.
    if (this.#hasResumed && !(await this.#isForgotten().catch(() => false))) return;
    if (this.#log.isBegun) await removeQuietly(this.#path, this.#options);
  }

  /** Removes the files of others that are over; whether none is left that tells of what we ended. */
  async #isForgotten(): Promise<boolean> {
    await sweepIntents(this.#options);
    const ended = new Set(this.#intents.map(({ id }) => id));
    const others = await readIntentFiles(this.#options.folder, this.#options);
    return others.every(
      ({ path: file, steps }) => file === this.#path || steps.every(({ id }) => !ended.has(id)),
    );
  }

  /** Writes one step of an operation, after those before it, and its body in the same go. */
  async write(
    intent: WrittenIntent,
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

class WrittenIntent implements Intent {
  readonly id: string;
  readonly generation: number;
  state: IntentState;
  /** Where what was sent is in the file of this process. */
  body: { readonly bytes: number; readonly position: number } | undefined;
  readonly #journal: Journal;

  constructor(journal: Journal, id: string, generation: number, state: IntentState) {
    this.#journal = journal;
    this.id = id;
    this.generation = generation;
    this.state = state;
  }

  async advance(state: OpenState, facts?: IntentFacts): Promise<void> {
    this.state = state;
    await this.#journal.write(this, { facts }, durabilityOf(state, facts));
    // From here on it is asked for by its id.
    if (facts?.jobId !== undefined) this.#forgetBody();
  }

  async settle(state: SettledState, facts?: IntentFacts): Promise<void> {
    this.state = state;
    await this.#journal.write(this, { facts }, 'later');
    this.#forgetBody();
  }

  #forgetBody(): void {
    this.#journal.forgetBody(this);
    this.body = undefined;
  }
}

function durabilityOf(state: OpenState, facts: IntentFacts | undefined): Durability {
  if (state === 'verified') return 'now';
  if (state !== 'accepted') return 'later';
  // Without its id a job cannot be fetched; of a stream it is the price that is noted.
  return facts?.jobId === undefined ? 'soon' : 'now';
}

/** An operation that may have cost credits and did not come to its end. */
export interface OpenIntent extends IntentStatus {
  /** Whether the command that began it still runs; one that does is not to be touched. */
  readonly writer: Liveness;
}

interface OpenIntents {
  /** The oldest first. */
  readonly open: readonly OpenIntent[];
  /** Lines of the journal that could not be read. */
  readonly garbled: number;
}

interface IntentFolder {
  readonly folder: string;
  readonly files: FileSystem;
  readonly processes: Processes;
}

/**
 * What interrupted commands left open. Torn and damaged lines are counted and passed over. Throws exit
 * 32 when the journal cannot be read, or when a newer foley wrote in it.
 */
export async function listOpenIntents(options: IntentFolder): Promise<OpenIntents> {
  const read = await readIntentFiles(options.folder, options);
  const open = mergeSteps(read.flatMap((file) => file.steps))
    .filter(({ state }) => !isSettled(state))
    .map((status) => withWriter(status, read));
  return { open, garbled: read.reduce((sum, file) => sum + file.garbled, 0) };
}

/** A file of the journal with damaged lines. */
interface DamagedJournal {
  readonly path: string;
  readonly garbled: number;
  /** Operations of which something can still be read. */
  readonly operations: number;
  /** Operations that did not come to their end. */
  readonly open: number;
}

/**
 * The files of ended processes with damaged lines, those that were put aside for it included; a line that was
 * cut off when its writer was killed is none. Throws exit 32 as above.
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
      const ids = new Set(steps.map(({ id }) => id));
      const isOpen = (id: string): boolean => file.endsWith(LOG_EXTENSION) && open.has(id);
      return {
        path: file,
        garbled,
        operations: ids.size,
        open: [...ids].filter((id) => isOpen(id)).length,
      };
    });
}

/** The ids of the operations that have not ended. */
function openIds(read: readonly IntentFile[]): ReadonlySet<string> {
  const merged = mergeSteps(read.flatMap((file) => file.steps));
  return new Set(merged.filter(({ state }) => !isSettled(state)).map(({ id }) => id));
}

/**
 * Removes the files, of processes that have ended, in which nothing is open any more. One with damaged
 * lines is kept as `….corrupt`: what they said may matter to somebody. Throws the system's error.
 */
export async function sweepIntents(options: FileDeps & IntentFolder): Promise<void> {
  const read = await readIntentFiles(options.folder, options);
  const open = openIds(read);
  // The oldest first: what a later file settles was begun in an earlier one, which must go before it.
  for (const file of read) {
    // Somebody of whom nothing is known may be about to write down the first.
    const mayBegin = file.writer === 'unknown' && file.steps.length === 0;
    const isOver = file.writer !== 'alive' && file.steps.every(({ id }) => !open.has(id));
    if (!isOver || mayBegin) continue;
    await retireLog(file, options);
  }
}

function withWriter(status: IntentStatus, read: readonly IntentFile[]): OpenIntent {
  return { ...status, writer: writerOf(status.id, read) };
}

function writerOf(id: string, read: readonly IntentFile[]): Liveness {
  const writers = read
    .filter((file) => file.steps.some((step) => step.id === id))
    .map((file) => file.writer);
  return (
    writers.find((one) => one === 'alive') ?? writers.find((one) => one === 'unknown') ?? 'dead'
  );
}

/** An operation that came to its end. */
export interface Repetition {
  readonly about: IntentAbout;
  /** Of the job, where it was one. */
  readonly jobId: string | undefined;
  /** All that it makes is where it was wanted; otherwise only its id is known. */
  readonly isDelivered: boolean;
  /** It went on where an earlier one under its key was, and got what that one had paid for as well. */
  readonly goesOn: boolean;
}

/**
 * What commands that are dead left open of the very purchase that came to its end now; their temporary
 * files are removed. Throws exit 32 when the journal cannot be read.
 */
async function leftOfTheSame(
  done: Repetition,
  options: FileDeps & IntentFolder,
): Promise<readonly OpenIntent[]> {
  const { open } = await listOpenIntents(options);
  const same = open.filter((left) => left.writer === 'dead' && isSamePurchase(left, done));
  for (const { about } of same) {
    const temporary = about?.temporary ?? '';
    if (isTemporaryName(path.basename(temporary))) await removeQuietly(temporary, options);
  }
  return same;
}

/**
 * Whether a service that knows keys can have charged for both only once (docs/billing.md, "Keys"). Before an
 * answer began the key alone says so. After it, only the same job does, or a conversation that went on.
 */
export function isSamePurchase(left: IntentStatus, done: Repetition): boolean {
  if (left.about === undefined || !isSameRequest(left.about, done.about)) return false;
  if (left.state === 'intent' || left.state === 'sent') return true;
  if (!done.isDelivered) return false;
  const { jobId } = left.facts;
  return jobId === undefined ? left.state === 'accepted' && done.goesOn : jobId === done.jobId;
}

/** A key means something to one service, and there to one account only. */
function isSameRequest(left: IntentAbout, done: IntentAbout): boolean {
  const { endpoint, idempotencyKey, origin, payer, target } = done;
  if (idempotencyKey === null || left.idempotencyKey !== idempotencyKey) return false;
  if (left.endpoint !== endpoint || left.target !== target) return false;
  // The embedded service has another port each time, and one account.
  if (target === 'embedded') return true;
  return left.origin === origin && payer !== undefined && left.payer === payer;
}
