import type { FileSystem } from '../effects/file-system.ts';
import type { Liveness, Processes } from '../effects/processes.ts';
import type { LogFile, LogRecord } from './log.ts';
import { hasFieldTypes, logLine, readLogs, writerOf } from './log.ts';

/** How far an operation has got that may cost credits, in the order in which it goes on. */
export const OPEN_STATES = ['intent', 'sent', 'accepted', 'done', 'verified'] as const;

/** How it ended; nothing is left to be done. */
export const SETTLED_STATES = [
  /** The output has its final name. */
  'published',
  /** It is in the spool. */
  'kept',
  /** The service did not take it, and did not bill it. */
  'rejected',
  /** It failed on the service. */
  'failed',
  /** It was paid for and cannot be had again; that was told, with its cost. */
  'lost',
  /** The person gave it up. */
  'abandoned',
] as const;

export type OpenState = (typeof OPEN_STATES)[number];
export type SettledState = (typeof SETTLED_STATES)[number];
export type IntentState = OpenState | SettledState;

/** What is written down before a request leaves that may cost credits. Never an API key; the text is in the body only. */
export interface IntentAbout {
  /** What is asked for, such as `speech` or `image`. */
  readonly what: string;
  /** Method and path, such as `POST /api/open/v3/text-to-speech`. */
  readonly endpoint: string;
  readonly origin: string;
  readonly target: 'embedded' | 'hosted';
  /** Chosen by us, and no secret: with it the service knows the request again. */
  readonly idempotencyKey: string | null;
  /** The person chose the key, so that no other may take its place. */
  readonly isOwnKey?: true | undefined;
  /** Marks the account that a hosted service bills; its API key cannot be told from it. */
  readonly payer?: string | undefined;
  readonly requestId: string | null;
  /** Where the result goes; null for stdout. */
  readonly output: string | null;
  /** The temporary file in which it grows. */
  readonly temporary: string | null;
}

/** What becomes known on the way. */
export interface IntentMetadata {
  readonly jobId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly creditsUsed?: number | undefined;
  readonly bytes?: number | undefined;
  /** Of the whole file. */
  readonly checksum?: string | undefined;
  /** The entry in the spool. */
  readonly spoolId?: string | undefined;
  /** Why it ended as it did. */
  readonly problem?: string | undefined;
}

/** One operation, as all that was written of it tells. */
export interface IntentStatus {
  readonly id: string;
  /** Counts the times it was paid for on purpose, from 0. */
  readonly generation: number;
  readonly state: IntentState;
  /** When it got there, as an ISO date. */
  readonly at: string;
  /** Undefined when that line is damaged. */
  readonly about: IntentAbout | undefined;
  readonly facts: IntentMetadata;
}

/** One line: a step of one operation. */
export interface IntentStep {
  readonly id: string;
  readonly generation: number;
  readonly state: IntentState;
  readonly at: string;
  readonly about?: IntentAbout | undefined;
  readonly facts?: IntentMetadata | undefined;
}

/** Whether nothing is left to be done. */
export function isSettled(state: IntentState): state is SettledState {
  return SETTLED_STATES.some((settled) => settled === state);
}

/** A line's step; undefined for a line that is something else. */
export function parseStep(record: LogRecord): IntentStep | undefined {
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
    facts: isFacts(facts) ? facts : undefined,
  };
}

/**
 * What became of each operation, from steps in any order and of any number of files: the highest
 * generation, and in it the state that lies furthest, win. The clock has no say.
 */
export function mergeSteps(steps: readonly IntentStep[]): IntentStatus[] {
  const merged = new Map<string, IntentStatus>();
  for (const step of steps.toSorted((a, b) => orderOf(a) - orderOf(b))) {
    const before = merged.get(step.id);
    merged.set(step.id, {
      id: step.id,
      generation: step.generation,
      state: step.state,
      at: step.at,
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
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  const texts = ['what', 'endpoint', 'origin', 'target'];
  const optional = ['idempotencyKey', 'requestId', 'output', 'temporary'];
  return (
    texts.every((name) => typeof fields.get(name) === 'string') &&
    optional.every((name) => fields.get(name) === null || typeof fields.get(name) === 'string') &&
    ['undefined', 'string'].includes(typeof fields.get('payer'))
  );
}

function isFacts(value: unknown): value is IntentMetadata {
  return hasFieldTypes(value, FACT_TYPES);
}

const FACT_TYPES = {
  jobId: 'string',
  requestId: 'string',
  creditsUsed: 'number',
  bytes: 'number',
  checksum: 'string',
  spoolId: 'string',
  problem: 'string',
} satisfies Record<keyof IntentMetadata, string>;

/** One file of the intent journal: what one process wrote. */
export interface IntentFile extends Pick<LogFile, 'garbled' | 'isTorn' | 'path'> {
  /** Whether its writer still runs; `unknown` when that cannot be told. */
  readonly writer: Liveness;
  readonly steps: readonly IntentStep[];
  /** What was sent, by the id of the operation, as long as that is needed. */
  readonly bodies: ReadonlyMap<string, string>;
}

/** The record that keeps what an operation sent. */
export function bodyRecord(id: string, body: Uint8Array): LogRecord {
  return { id, body: Buffer.from(body).toString('utf8') };
}

/** A line of so many bytes that takes the place of a body. */
export function blankLine(id: string, bytes: number): Buffer {
  const least = logLine({ id, body: '' }).length;
  return logLine({ id, body: ' '.repeat(bytes - least) });
}

/**
 * Reads every file of the journal, the oldest first; none when there is no folder.
 * @throws Failure (state) when a file cannot be read, or a newer foley wrote it
 */
export async function readIntentFiles(
  folder: string,
  { files, processes }: { readonly files: FileSystem; readonly processes: Processes },
  extensions?: readonly string[],
): Promise<IntentFile[]> {
  const read: IntentFile[] = [];
  for await (const log of readLogs(folder, 'the journal', files, extensions)) {
    read.push(intentFile(log, processes));
  }
  return read;
}

function intentFile({ garbled, isTorn, path, records }: LogFile, processes: Processes): IntentFile {
  const steps = records.map((record) => parseStep(record)).filter((step) => step !== undefined);
  const bodies = new Map<string, string>();
  for (const { body, id } of records) {
    if (typeof body === 'string' && typeof id === 'string' && body.trim() !== '')
      bodies.set(id, body);
  }
  const others = records.filter((record) => 'owner' in record || 'body' in record).length;
  const strange = records.length - others - steps.length;
  const writer = writerOf(records, processes);
  return { path, writer, steps, bodies, garbled: garbled + strange, isTorn };
}
