import { basename, extname, join } from 'node:path';
import { checksumOf, kindOf } from '../durable/checksum.ts';
import { stateFailure, hasErrno } from '../durable/file-failures.ts';
import { removeQuietly, isTemporaryName } from '../durable/files.ts';
import type { FileDeps } from '../durable/files.ts';
import type { IntentJournal, OpenIntent, SettledState } from '../durable/intents.ts';
import { downloadName } from '../durable/names.ts';
import { openOutput } from '../durable/publish.ts';
import type { Spool, SpoolEntry } from '../durable/spool.ts';
import type { Clock } from '../effects/clock.ts';
import { Failure } from '../errors/failure.ts';
import type { InterruptedText } from './long-text/record.ts';

/** What came of settling all that was left. */
export interface Recovery {
  readonly items: readonly Recovered[];
  /** Why some of it could not be settled. */
  readonly failures: readonly Failure[];
}

/**
 * Settles one leftover after the other (`foley recover`; docs/billing.md): whole
 * audio gets its name, or one like it where that is taken; the audio of jobs is fetched; a text in parts
 * is spoken to its end; of everything else it is told what is lost. One that cannot be settled keeps none
 * of the others from it. Nothing is paid for but the missing parts of a text.
 * @param signal ends it early; what was settled until then is given nevertheless
 */
export async function recoverAll(
  found: readonly Leftover[],
  deps: RecoverDeps,
  signal?: AbortSignal,
): Promise<Recovery> {
  const items: Recovered[] = [];
  const failures: Failure[] = [];
  const isStopped = (): boolean => signal?.aborted === true;
  for (const leftover of found) {
    if (isStopped()) break;
    try {
      items.push(await recover(leftover, deps));
    } catch (error) {
      if (isStopped()) break;
      if (!(error instanceof Failure)) throw error;
      failures.push(error);
      items.push(failed(leftover, error));
    }
  }
  return { items, failures };
}

/** @throws Failure (output, state) */
async function recover(leftover: Leftover, deps: RecoverDeps): Promise<Recovered> {
  switch (leftover.kind) {
    case 'audio':
      return recoverAudio(leftover.entry, leftover.intent, deps);
    case 'request':
      return recoverRequest(leftover.intent, deps);
    case 'text':
      return deps.recoverText(leftover.left);
    case 'damaged':
      return describeDamaged(leftover);
  }
}

interface ForgetDeps extends FileDeps {
  readonly spool: Spool;
  readonly journal: IntentJournal;
  /** The folder of all long texts. */
  readonly textFolder: string;
}

/**
 * Removes what is left of one thing, recovered or not, so that nothing is said about it any more.
 * @throws Failure (state) when a command still works on it, or when it cannot be removed
 */
export async function forget(leftover: Leftover, deps: ForgetDeps): Promise<void> {
  switch (leftover.kind) {
    case 'audio':
      if (leftover.intent !== undefined) await abandon(leftover.intent, deps);
      return deps.spool.remove(leftover.entry);
    case 'request':
      return abandon(leftover.intent, deps);
    case 'text': {
      const { id, plan, temporaries, writer } = leftover.left;
      if (mayRun({ at: plan.at, writer }, deps.clock)) throw stillRunning(id);
      for (const temporary of temporaries) await removeTemporary(temporary, deps);
      return removeAll([join(deps.textFolder, basename(id))], deps);
    }
    case 'damaged':
      if (leftover.isInUse === true) throw stillNeeded(leftover);
      return removeAll(leftover.paths, deps);
  }
}

async function abandon(intent: OpenIntent, deps: ForgetDeps): Promise<void> {
  if (mayRun(intent, deps.clock)) throw stillRunning(intent.id);
  await removeTemporary(intent.about?.temporary ?? '', deps);
  await deps.journal.resume(intent).markAs('abandoned');
}

async function removeTemporary(file: string, deps: ForgetDeps): Promise<void> {
  if (isTemporaryName(basename(file))) await removeQuietly(file, deps);
}

async function removeAll(paths: readonly string[], { files }: ForgetDeps): Promise<void> {
  for (const file of paths) {
    await files.rm(file, { recursive: true, force: true }).catch((error: unknown) => {
      throw stateFailure('what was left', file, error);
    });
  }
}

function stillRunning(id: string): Failure {
  return new Failure(`a command still works on ${id}`, {
    code: 'state',
    exit: 'state',
    hint: 'Wait until it has ended, or stop it.',
  });
}

function stillNeeded({ id, paths: [file] }: DamagedRecord): Failure {
  return new Failure(`${file} names operations that are still open`, {
    code: 'state',
    exit: 'state',
    hint: `Run \`foley recover\`, then \`foley recover --forget ${id}\`.`,
  });
}

function describeDamaged({ holds, id, paths: [where] }: DamagedRecord): Recovered {
  return {
    id,
    outcome: 'damaged',
    output: null,
    creditsUsed: null,
    requestId: null,
    jobId: null,
    idempotencyKey: null,
    problem: `${where} cannot be read; it holds ${holds}`,
  };
}

function failed(leftover: Leftover, { hint, message }: Failure): Recovered {
  const record = leftover.kind === 'audio' ? leftover.entry.record : undefined;
  const facts =
    leftover.kind === 'text' || leftover.kind === 'damaged' ? undefined : leftover.intent?.facts;
  return {
    id: leftover.id,
    outcome: 'failed',
    output: null,
    creditsUsed: record?.creditsUsed ?? facts?.creditsUsed ?? null,
    requestId: record?.requestId ?? facts?.requestId ?? null,
    jobId: facts?.jobId ?? null,
    idempotencyKey: null,
    problem: hint === undefined ? message : `${message}; ${hint}`,
  };
}

async function recoverRequest(intent: OpenIntent, deps: RecoverDeps): Promise<Recovered> {
  const { about, facts, id } = intent;
  const told = {
    id,
    output: null,
    creditsUsed: facts.creditsUsed ?? null,
    requestId: facts.requestId ?? about?.requestId ?? null,
    jobId: facts.jobId ?? null,
    idempotencyKey: about?.idempotencyKey ?? null,
    ...(about?.endpoint.endsWith('/tts/live') === true ? { isRealtime: true as const } : {}),
    problem: facts.problem ?? whereToLook(intent),
  };
  if (mayRun(intent, deps.clock)) return { ...told, outcome: 'running' };
  // Stored audio is worth more than the part of it that came.
  const isBegun = intent.state === 'accepted' && facts.jobId === undefined;
  const stored = isBegun ? await deps.resolveRequest(intent) : undefined;
  if (stored !== undefined) return stored;
  const entry = await adopt(intent, deps);
  if (entry !== undefined) return { ...(await recoverAudio(entry, intent, deps)), id };
  const output = about?.output ?? null;
  if (output !== null && (await isVerified(output, intent, deps))) {
    await deps.journal.resume(intent).markAs('published');
    return { ...told, outcome: 'recovered', output };
  }
  if (facts.jobId !== undefined) return deps.recoverJob(intent, facts.jobId);
  const found = isUnanswered(intent) ? await deps.resolveRequest(intent) : undefined;
  if (found !== undefined) return found;
  await deps.journal.resume(intent).markAs('lost');
  // Once an answer has begun it was charged; before that nobody can tell.
  return { ...told, outcome: isUnanswered(intent) ? 'unknown' : 'lost' };
}

function isUnanswered({ state }: OpenIntent): boolean {
  return state === 'intent' || state === 'sent';
}

/** What has no key can be found out about in one place only. */
function whereToLook({ about }: OpenIntent): string | null {
  if (about === undefined || about.idempotencyKey !== null) return null;
  return WHERE_TO_LOOK.get(about.what) ?? null;
}

const WHERE_TO_LOOK: ReadonlyMap<string, string> = new Map([
  ['voice', '`foley voices list --type personal` shows whether the voice was made'],
  ['lipsync', '`foley lipsync list` shows whether the job was created'],
]);

/** Brings into the spool what a command that was killed had in its temporary file, if anything. */
async function adopt(intent: OpenIntent, deps: RecoverDeps): Promise<SpoolEntry | undefined> {
  const { about, facts, id } = intent;
  const temporary = about?.temporary ?? '';
  if (!isTemporaryName(basename(temporary))) return undefined;
  const found = await ifExists(temporary, deps.files.stat(temporary));
  if (found === undefined) return undefined;
  const { size } = found;
  const complete = await isVerified(temporary, intent, deps);
  // A part of what a job made is worth nothing: all of it is there to be fetched.
  if (size === 0 || (facts.jobId !== undefined && !complete)) {
    await removeQuietly(temporary, deps);
    return undefined;
  }
  const writer = await deps.spool.adopt(
    { path: temporary, bytes: size, rest: [] },
    {
      what: about?.what ?? 'speech',
      extension: extname(about?.output ?? '').slice(1) || 'part',
      output: about?.output ?? null,
      requestId: facts.requestId ?? null,
      creditsUsed: facts.creditsUsed ?? null,
      operation: id,
      problem: 'the command was killed',
    },
  );
  await writer.keep({ complete });
  const entries = await deps.spool.list();
  return entries.find((entry) => entry.id === writer.id);
}

export interface RecoverDeps extends FileDeps {
  /** Goes on with a text that is spoken in parts. */
  readonly recoverText: (left: InterruptedText) => Promise<Recovered>;
  readonly spool: Spool;
  readonly journal: IntentJournal;
  /** Fetches what a job made whose command came to no end; throws Failures, or the signal's reason. */
  readonly recoverJob: (intent: OpenIntent, jobId: string) => Promise<Recovered>;
  /**
   * Asks the service what became of a request without an answer, and settles it; undefined where nothing
   * can tell. Throws as `recoverJob` does.
   */
  readonly resolveRequest: (intent: OpenIntent) => Promise<Recovered | undefined>;
}

/**
 * Whole audio in the spool gets the name it was meant to have, or one like it where that is taken; of a
 * part it is told what is lost.
 * @param intent its operation, where that has not ended
 * @throws Failure (output, state)
 */
async function recoverAudio(
  entry: SpoolEntry,
  intent: OpenIntent | undefined,
  deps: RecoverDeps,
): Promise<Recovered> {
  const { record } = entry;
  const told = {
    id: entry.id,
    creditsUsed: record?.creditsUsed ?? intent?.facts.creditsUsed ?? null,
    requestId: record?.requestId ?? intent?.facts.requestId ?? null,
    jobId: intent?.facts.jobId ?? null,
    idempotencyKey: null,
    problem: record?.problem ?? null,
  };
  const settle = async (state: SettledState): Promise<void> => {
    if (intent === undefined) return;
    await deps.journal.resume(intent).markAs(state, { spoolId: entry.id });
  };
  if (intent !== undefined && mayRun(intent, deps.clock)) {
    return { ...told, outcome: 'running', output: entry.path };
  }
  const isWhole = record?.complete === true || (await isVerified(entry.path, intent, deps));
  if (!isWhole) {
    await settle('kept');
    const lost = { ...told, outcome: 'lost', output: entry.path } as const;
    if (record?.reported === true) return { ...lost, isReported: true };
    await deps.spool.markReported(entry);
    return lost;
  }
  const extension = record?.extension ?? extname(entry.path).slice(1);
  const known = record?.output ?? intent?.about?.output ?? undefined;
  const output = await publishCopy(entry, known ?? downloadName(entry.id, extension), deps);
  await deps.spool.remove(entry);
  await settle('published');
  return { ...told, outcome: 'recovered', output };
}

/**
 * Whether a file is there and is what the command had found whole before it came to its end.
 * @throws Failure (state) when that cannot be found out
 */
async function isVerified(
  file: string,
  intent: OpenIntent | undefined,
  { files }: Pick<FileDeps, 'files'>,
): Promise<boolean> {
  const wanted = intent?.facts.checksum;
  if (wanted === undefined) return false;
  return (await ifExists(file, checksumOf(file, kindOf(wanted), files))) === wanted;
}

/**
 * What was found out about a file; undefined when there is none.
 * @throws Failure (state) when that cannot be found out
 */
export async function ifExists<T>(file: string, work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw stateFailure('what was left', file, error);
  });
}

async function publishCopy(entry: SpoolEntry, wanted: string, deps: RecoverDeps): Promise<string> {
  const output = await openOutput({ ...deps, path: wanted, existing: 'number' });
  try {
    const kept = await deps.files.open(entry.path, 'r');
    for await (const chunk of kept.createReadStream({ highWaterMark: 1 << 20 })) {
      await output.write(chunk);
    }
    return (await output.publish()).path;
  } finally {
    await output.abandon();
  }
}

/** One thing that an interrupted command left behind. */
export type Leftover =
  /** Audio in the spool, with its operation where that has not ended. */
  | {
      readonly kind: 'audio';
      readonly id: string;
      readonly entry: SpoolEntry;
      readonly intent: OpenIntent | undefined;
    }
  | { readonly kind: 'request'; readonly id: string; readonly intent: OpenIntent }
  /** A text that is spoken in parts. */
  | { readonly kind: 'text'; readonly id: string; readonly left: InterruptedText }
  | DamagedRecord;

/** Something of foley's own that cannot be read; it stays until `foley recover --forget ID`. */
export interface DamagedRecord {
  readonly kind: 'damaged';
  readonly id: string;
  /** The folder or file first, then what goes with it. */
  readonly paths: readonly string[];
  /** What it is, and what is in it. */
  readonly holds: string;
  /** Parts of it can be read and are still needed, so that it cannot be forgotten. */
  readonly isInUse?: boolean;
}

/** What became of it. */
export interface Recovered {
  readonly id: string;
  /**
   * `recovered`: it is in `output` now; `partial`: so is what could be spoken of it; `refunded`: its
   * job failed and cost nothing; `lost`: paid for, and at most a part of it is in `output`; `unknown`:
   * nobody can tell whether it was paid for; `rejected`: the service did not take it, and billed nothing; `running`: a command works on it, or has just settled it;
   * `failed`: it is where it was, for the reason in `problem`; `damaged`: foley cannot read its record, which
   * is where `problem` says.
   */
  readonly outcome:
    | 'recovered'
    | 'partial'
    | 'refunded'
    | 'lost'
    | 'unknown'
    | 'rejected'
    | 'running'
    | 'failed'
    | 'damaged';
  readonly output: string | null;
  readonly creditsUsed: number | null;
  readonly requestId: string | null;
  /** Of the job, where it was one. */
  readonly jobId: string | null;
  /** Of the voice or the design that was made, where it was one. */
  readonly madeId?: string;
  /** With it the same command can be run again without paying twice. */
  readonly idempotencyKey: string | null;
  /** It was a realtime conversation, whose key is its request id. */
  readonly isRealtime?: true;
  /** The loss was reported by an earlier `foley recover`. */
  readonly isReported?: true;
  readonly problem: string | null;
}

/** What is left behind: audio in the spool, requests without a known end and without audio, long texts. */
export function leftovers(
  entries: readonly SpoolEntry[],
  intents: readonly OpenIntent[],
  texts: readonly InterruptedText[] = [],
  damaged: readonly DamagedRecord[] = [],
): readonly Leftover[] {
  const intentOf = (entry: SpoolEntry): OpenIntent | undefined =>
    intents.find(({ id }) => id === entry.record?.operation);
  const withAudio = new Set(entries.map(({ record }) => record?.operation));
  return [
    ...entries.map((entry): Leftover => {
      const { bytes, id, path, record, sidecar } = entry;
      if (record !== undefined) return { kind: 'audio', id, entry, intent: intentOf(entry) };
      const holds = `${bytes} bytes of audio, without what is known about it`;
      return { kind: 'damaged', id, paths: [path, sidecar], holds };
    }),
    ...intents
      .filter(({ id }) => !withAudio.has(id))
      .map((intent) => ({ kind: 'request', id: intent.id, intent }) as const),
    ...texts.map((left) => ({ kind: 'text', id: left.id, left }) as const),
    ...damaged,
  ];
}

/**
 * How long after its last note a command is believed to run of which nothing can be known: on another
 * machine or in another container, or where the system tells no start times.
 */
const BELIEVED_MS = 60 * 60 * 1000;

/** Whether the command that began it may still work on it, so that nobody else may. */
export function mayRun({ at, writer }: Pick<OpenIntent, 'at' | 'writer'>, clock: Clock): boolean {
  if (writer !== 'unknown') return writer === 'alive';
  return clock.now() - Date.parse(at) < BELIEVED_MS;
}
