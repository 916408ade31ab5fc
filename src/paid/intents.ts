import path from 'node:path';
import type { Clock } from '../system/clock.ts';
import type { Liveness, Processes } from '../system/processes.ts';
import { stateFailure } from '../durable/file-failures.ts';
import type { System } from '../system/system.ts';
import type { SoundChanges } from '../durable/output.ts';
import { isSoundChanges } from '../durable/output.ts';
import { randomHex, removeQuietly, removeTemporary } from '../durable/files.ts';
import type { Durability, LogFile, LogRecord } from '../durable/log.ts';
import {
  hasShape,
  Log,
  logLine,
  ownerRecord,
  readLogs,
  retireLog,
  writerOf as ownerLiveness,
} from '../durable/log.ts';
import { ensurePrivateFolder } from '../durable/own-files.ts';
import type {
  Outcome,
  Purchase,
  PurchaseMetadata,
  PurchaseState,
  PurchaseStep,
} from './purchase.ts';
import { OUTCOMES, isSettled, mergeStep, parseStep } from './purchase.ts';

/** The journal of the billed requests of this process: one log file in a private folder (0700). */
export class IntentJournal {
  readonly #system: System;
  readonly #folder: string;
  readonly #log: Log;
  readonly #path: string;
  readonly #intents: Intent[] = [];
  #hasResumed = false;

  constructor(system: System, folder: string) {
    const { clock, files, processes } = system;
    const time = new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '');
    this.#system = system;
    this.#folder = folder;
    this.#path = path.join(
      folder,
      `${time}-${processes.self.pid}-${randomHex(system.random, 4)}.jsonl`,
    );
    this.#log = new Log(system, {
      path: this.#path,
      head: [ownerRecord(processes.self)],
      // Nothing may be sent if a newer version of foley uses the folder.
      prepare: () =>
        Promise.all([readIntentFiles(folder, system), ensurePrivateFolder(folder, files)]),
    });
  }

  /**
   * Records an operation before the request is sent. Resolves when the record is on the disk.
   * @param body JSON body of the request, stored until the outcome is known so that `foley recover` can send it again
   * @throws Failure of kind `state`; the request must not be sent then
   */
  async begin(about: IntentAbout, body?: Uint8Array): Promise<Intent> {
    const intent = new Intent(this, randomHex(this.#system.random, 8), 0, 'planned');
    await this.write(intent, { about }, 'now', body);
    this.#intents.push(intent);
    return intent;
  }

  /**
   * Returns the stored request body of an operation; undefined if no body is stored, such as after the outcome is
   * known.
   * @throws Failure of kind `state`
   */
  async bodyOf({ id }: IntentStatus): Promise<Buffer | undefined> {
    const read = await readIntentFiles(this.#folder, this.#system);
    const [body] = read.flatMap((file) => file.bodies.get(id) ?? []);
    return body === undefined ? undefined : Buffer.from(body);
  }

  /** Overwrites the request body in the journal file with blanks. Ignores errors, because the file is removed later. */
  forgetBody({ body, id }: Intent): void {
    if (body !== undefined) this.#log.overwrite(blankLine(id, body.bytes), body.position);
  }

  /**
   * Returns the intent of a recorded operation, so that this process can record its further states. Another process may
   * have begun the operation.
   */
  resume({ id, generation, state }: IntentStatus): Intent {
    const known = this.#intents.find((one) => one.id === id && one.generation === generation);
    if (known !== undefined) return known;
    const intent = new Intent(this, id, generation, state);
    this.#intents.push(intent);
    this.#hasResumed = true;
    return intent;
  }

  /**
   * Closes interrupted operations after a later operation has repeated their requests: marks them as `published`, and
   * removes their temporary files. Closes only operations that the service bills as one request with the later
   * operation.
   * @param done the later operation, which succeeded
   * @throws Failure of kind `state`
   */
  async closeRepeated(done: FinishedOperation): Promise<void> {
    const { open } = await listOpenIntents(this.#system, this.#folder);
    for (const intent of open) {
      if (intent.writer !== 'dead' || !isSameBilledRequest(intent, done)) continue;
      await this.settle(intent, 'published');
    }
  }

  /**
   * Records the outcome of an interrupted operation, and removes its temporary file.
   * @throws Failure of kind `state`
   */
  async settle(intent: IntentStatus, outcome: Outcome, facts?: PurchaseMetadata): Promise<void> {
    await removeTemporary(this.#system, intent.about?.temporary);
    await this.resume(intent).markAs(outcome, facts);
  }

  /** Closes the journal, and removes its file if all operations have ended. Never throws. */
  async close(): Promise<void> {
    await this.#log.close().catch(() => undefined);
    if (!this.#intents.every(({ state }) => isSettled(state))) return;
    // Remove the files in which resumed operations began before this one: only this file records that they have ended.
    if (this.#hasResumed && !(await this.#sweepResumed().catch(() => false))) return;
    if (this.#log.isBegun) await removeQuietly(this.#system, this.#path);
  }

  // Removes other processes' finished files. Returns true if no remaining one mentions a resumed operation.
  async #sweepResumed(): Promise<boolean> {
    await sweepIntents(this.#system, this.#folder);
    const ended = new Set(this.#intents.map(({ id }) => id));
    const others = await readIntentFiles(this.#folder, this.#system);
    return others.every(
      ({ path: file, steps }) => file === this.#path || steps.every(({ id }) => !ended.has(id)),
    );
  }

  /** Appends the current state of an operation to the journal, with the request body if given. */
  async write(
    intent: Intent,
    known: Pick<IntentStep, 'about' | 'facts'>,
    durability: Durability,
    body?: Uint8Array,
  ): Promise<void> {
    const { id, generation, state } = intent;
    const at = new Date(this.#system.clock.now()).toISOString();
    const step = { id, generation, state, at, ...known };
    const sent = body === undefined ? undefined : { id, body: Buffer.from(body).toString('utf8') };
    try {
      const end = await this.#log.append(sent === undefined ? [step] : [step, sent], durability);
      if (sent === undefined || Number.isNaN(end)) return;
      const bytes = logLine(sent).length;
      intent.body = { bytes, position: end - bytes };
    } catch (error) {
      throw stateFailure('the journal', this.#folder, error);
    }
  }
}

/**
 * One operation that may cost credits. The methods throw a Failure of kind `state` if they cannot write to the journal.
 */
export class Intent {
  readonly id: string;
  readonly generation: number;
  state: PurchaseState;
  /** Position and size of the request body in this process's journal file. */
  body: { readonly bytes: number; readonly position: number } | undefined;
  readonly #journal: IntentJournal;

  constructor(journal: IntentJournal, id: string, generation: number, state: PurchaseState) {
    this.#journal = journal;
    this.id = id;
    this.generation = generation;
    this.state = state;
  }

  /**
   * Records a new state of the operation, or more facts about its state. Waits until the record is on the disk in two
   * cases: for `verified`, and for the first `accepted` if `facts` contains a job id.
   */
  async advance(state: OpenState, facts?: PurchaseMetadata): Promise<void> {
    const durability = state === this.state ? 'later' : durabilityOf(state, facts);
    this.state = state;
    await this.#journal.write(this, { facts }, durability);
    // The stored body is no longer needed, because `foley recover` finds the job by its id.
    if (facts?.jobId !== undefined) this.#forgetBody();
  }

  /** Records the outcome of the operation. */
  async markAs(outcome: Outcome, facts?: PurchaseMetadata): Promise<void> {
    this.state = OUTCOMES[outcome];
    await this.#journal.write(this, { facts: { ...facts, outcome } }, 'later');
    this.#forgetBody();
  }

  #forgetBody(): void {
    this.#journal.forgetBody(this);
    this.body = undefined;
  }
}

function durabilityOf(state: OpenState, facts: PurchaseMetadata | undefined): Durability {
  if (state === 'verified') return 'now';
  if (state !== 'accepted') return 'later';
  // The job id is needed to download the job. Without an id the step contains only the price, which is not urgent.
  return facts?.jobId === undefined ? 'soon' : 'now';
}

/** An operation that may have cost credits and has not ended. */
export interface OpenIntent extends IntentStatus {
  /** Whether the process that recorded the operation is still running. */
  readonly writer: Liveness;
}

// A command whose process cannot be examined counts as running for this time after its last journal record.
const ASSUMED_RUNNING_MS = 60 * 60 * 1000;

/** Returns whether the command that began an operation may still be running. */
export function mayRun({ at, writer }: Pick<OpenIntent, 'at' | 'writer'>, clock: Clock): boolean {
  if (writer !== 'unknown') return writer === 'alive';
  return clock.now() - Date.parse(at) < ASSUMED_RUNNING_MS;
}

/**
 * Returns the operations that have not ended, oldest first, and the number of damaged lines in the journal.
 * @throws Failure of kind `state` if the journal cannot be read, or a newer version of foley wrote it
 */
export async function listOpenIntents(
  system: System,
  folder: string,
): Promise<{ readonly open: readonly OpenIntent[]; readonly garbled: number }> {
  const read = await readIntentFiles(folder, system);
  const open = openIn(read).map((status) => ({ ...status, writer: writerOf(status.id, read) }));
  return { open, garbled: read.reduce((sum, file) => sum + file.garbled, 0) };
}

function openIn(read: readonly IntentFile[]): IntentStatus[] {
  return mergeSteps(read.flatMap((file) => file.steps)).filter(({ state }) => !isSettled(state));
}

/** Returns the ids of the operations in these files that have not ended. */
export function openIds(read: readonly IntentFile[]): ReadonlySet<string> {
  return new Set(openIn(read).map(({ id }) => id));
}

/**
 * Removes the journal files whose operations have all ended, except those of running processes. If such a file has
 * damaged lines, renames it to `….corrupt` instead.
 * @throws the system error
 */
export async function sweepIntents(system: System, folder: string): Promise<void> {
  const read = await readIntentFiles(folder, system);
  const open = openIds(read);
  // The oldest first: an operation that ends in a later file may have begun in an earlier one.
  for (const file of read) {
    // A process that may be running and has recorded nothing is perhaps about to record its first operation.
    const mayBegin = file.writer === 'unknown' && file.steps.length === 0;
    const isOver = file.writer !== 'alive' && file.steps.every(({ id }) => !open.has(id));
    if (isOver && !mayBegin) await retireLog(system, file);
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

/**
 * A finished operation. Its request may have repeated an earlier request that was interrupted. {@link
 * isSameBilledRequest} returns whether the service bills both as one request.
 */
export interface FinishedOperation {
  readonly about: IntentAbout;
  readonly jobId: string | undefined;
  /**
   * Whether foley wrote the output. False if the request succeeded without output, for example if it only created a
   * job.
   */
  readonly isDelivered: boolean;
  /**
   * True if repeating the request with the same idempotency key resumes its stream. The audio is then billed only once.
   */
  readonly isResumed: boolean;
}

/** Returns whether the service billed two operations as one request (docs/billing.md, "Keys"). */
export function isSameBilledRequest(open: IntentStatus, done: FinishedOperation): boolean {
  if (open.about === undefined || !isSameRequest(open.about, done.about)) return false;
  if (open.state === 'planned' || open.state === 'sent') return true;
  if (!done.isDelivered) return false;
  const { jobId } = open.facts;
  return jobId === undefined ? open.state === 'accepted' && done.isResumed : jobId === done.jobId;
}

// The idempotency key is unique per account.
function isSameRequest(open: IntentAbout, done: IntentAbout): boolean {
  const { endpoint, idempotencyKey, origin, payer, target } = done;
  if (idempotencyKey === null || open.idempotencyKey !== idempotencyKey) return false;
  if (open.endpoint !== endpoint || open.target !== target) return false;
  // The embedded service has only one account, and a different port in every command.
  if (target === 'embedded') return true;
  return open.origin === origin && payer !== undefined && open.payer === payer;
}

type OpenState = 'sent' | 'accepted' | 'verified';

/** The description of a billed request, recorded before it is sent. Contains neither the API key nor the text. */
export interface IntentAbout {
  /** The kind of result, such as `speech` or `image`. */
  readonly what: string;
  /** Method and path, such as `POST /api/open/v3/text-to-speech`. */
  readonly endpoint: string;
  readonly origin: string;
  readonly target: 'embedded' | 'hosted';
  readonly idempotencyKey: string | null;
  /** True if the user chose the idempotency key. foley never replaces a key that the user chose. */
  readonly isOwnKey?: true | undefined;
  /** A short hash of the API key. The hash identifies the billed account, and is set only for hosted services. */
  readonly payer?: string | undefined;
  readonly requestId: string | null;
  /** True for a part of a long text, which `foley recover` completes. */
  readonly isPart?: true | undefined;
  /** Id of the refunded operation that this one repeats with a new idempotency key; that operation has ended. */
  readonly renews?: string | undefined;
  /** The path of the output file; null for stdout. */
  readonly output: string | null;
  readonly temporary: string | null;
  /** The changes of the sound that the output still needs. */
  readonly changes?: SoundChanges | undefined;
}

interface IntentStep extends PurchaseStep<IntentAbout> {
  readonly id: string;
  /** When the operation reached this state, as an ISO date. */
  readonly at: string;
}

/**
 * The current status of a billed operation. `about` is undefined if its line in the journal is damaged. Only older
 * versions of foley recorded a `generation` above 0.
 */
export type IntentStatus = IntentStep & Purchase<IntentAbout>;

function parseIntentStep(record: LogRecord): IntentStep | undefined {
  const { id, at } = record;
  const step = parseStep(record, isAbout);
  if (typeof id !== 'string' || typeof at !== 'string' || step === undefined) return undefined;
  // Version 1 recorded an outcome only as a state.
  const outcome = OUTCOME_OF.get(step.state);
  const facts = outcome === undefined ? step.facts : { outcome, ...step.facts };
  return { id, at, ...step, facts };
}

const OUTCOME_OF: ReadonlyMap<PurchaseState, Outcome> = new Map([
  ['failed', 'refunded'],
  ['lost', 'lost'],
  ['published', 'published'],
]);

/**
 * Returns the latest status of each operation, merged from its recorded steps. The steps may be in any order and from
 * several files.
 */
export function mergeSteps(steps: readonly IntentStep[]): IntentStatus[] {
  const merged = new Map<string, IntentStatus>();
  for (const step of steps) merged.set(step.id, mergeStep(merged.get(step.id), step));
  // The process may have been killed before it recorded that the refunded operation has ended.
  for (const { about } of merged.values()) {
    const renewed = merged.get(about?.renews ?? '');
    if (renewed === undefined || isSettled(renewed.state)) continue;
    merged.set(renewed.id, { ...renewed, state: 'failed' });
  }
  return Array.from(merged.values());
}

function isAbout(value: unknown): value is IntentAbout {
  const isRecorded = hasShape(value, {
    what: 'string',
    endpoint: 'string',
    origin: 'string',
    target: 'string',
    idempotencyKey: 'string|null',
    requestId: 'string|null',
    output: 'string|null',
    temporary: 'string|null',
    payer: 'string|undefined',
    renews: 'string|undefined',
  });
  return isRecorded && isSoundChanges(value['changes']);
}

/** A file of the journal of billed requests. Each process writes to its own file. */
export interface IntentFile extends Pick<LogFile, 'garbled' | 'isTorn' | 'path'> {
  readonly writer: Liveness;
  readonly steps: readonly IntentStep[];
  /** The stored request bodies by operation id. */
  readonly bodies: ReadonlyMap<string, string>;
}

function blankLine(id: string, bytes: number): Buffer {
  const least = logLine({ id, body: '' }).length;
  return logLine({ id, body: ' '.repeat(bytes - least) });
}

/**
 * Reads the files of the journal of billed requests, oldest first. Returns no files if the folder does not exist.
 * @throws Failure of kind `state` if a file cannot be read, or a newer version of foley wrote it
 */
export async function readIntentFiles(
  folder: string,
  { files, processes }: System,
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
  const steps = records
    .map((record) => parseIntentStep(record))
    .filter((step) => step !== undefined);
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
