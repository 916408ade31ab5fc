import type { ApiClient } from '../../api/client.ts';
import { basename, extname, join } from 'node:path';
import { checksumOf, kindOf } from '../../durable/checksum.ts';
import { stateFailure, hasErrno } from '../../durable/file-failures.ts';
import { removeQuietly, removeTemporary, isTemporaryName } from '../../durable/files.ts';
import type { FileDeps } from '../../durable/files.ts';
import type { IntentAbout, IntentJournal, OpenIntent } from '../intents.ts';
import type { Outcome, PurchaseMetadata } from '../purchase.ts';
import { nextStep } from '../decide.ts';
import { downloadName } from '../../durable/names.ts';
import { openSpeechOutput } from '../../audio/encode/encoded-output.ts';
import { isWavFile } from '../../audio/wav-stream.ts';
import type { Spool, SpoolEntry } from '../../durable/spool.ts';
import type { Clock } from '../../effects/clock.ts';
import { Failure } from '../../errors/failure.ts';
import type { InterruptedText } from '../parts/record.ts';

const COMMAND_RECORD = 'the record of an interrupted command';

export interface Recovery {
  readonly items: readonly Recovered[];
  // The failures that prevented the recovery of some results.
  readonly failures: readonly Failure[];
}

/**
 * Recovers the results of interrupted commands (docs/billing.md). If one recovery fails, continues with the next. Sends
 * unfinished requests again under their idempotency keys, so that each is billed at most once. Speaks the missing parts
 * of long texts, which are billed.
 * @param signal ends the recovery early; the results so far are returned
 */
export async function recoverAll(
  found: readonly Leftover[],
  deps: RecoverDeps,
  signal?: AbortSignal,
): Promise<Recovery> {
  const items: Recovered[] = [];
  const failures: Failure[] = [];
  for (const leftover of found) {
    if (signal?.aborted === true) break;
    try {
      const recovered = await recover(leftover, deps);
      if (!isLeftToText(leftover, recovered, found)) items.push(recovered);
    } catch (error) {
      if (signal?.aborted) break;
      if (!(error instanceof Failure)) throw error;
      failures.push(error);
      items.push(failed(leftover, error));
    }
  }
  return { items, failures };
}

// The long text, which follows, requests such a part again: a refunded one with a new key, an unknown one with the same.
function isLeftToText(
  leftover: Leftover,
  { outcome }: Recovered,
  found: readonly Leftover[],
): boolean {
  const about = leftover.kind === 'request' ? leftover.intent.about : undefined;
  if (about?.isPart !== true) return false;
  const { idempotencyKey } = about;
  if (outcome !== 'unknown' || idempotencyKey === null) return outcome === 'refunded';
  return found.some((one) => one.kind === 'text' && hasKey(one.left, idempotencyKey));
}

function hasKey({ plan, states }: InterruptedText, wanted: string): boolean {
  return plan.parts.some(({ key }, index) => (states.get(index)?.key ?? key) === wanted);
}

async function recover(leftover: Leftover, deps: RecoverDeps): Promise<Recovered> {
  switch (leftover.kind) {
    case 'audio':
      return recoverAudio(leftover.entry, leftover.intent, deps);
    case 'request':
      return recoverRequest(leftover.intent, deps);
    case 'text':
      return deps.recoverText(leftover.left);
    case 'damaged': {
      const { holds, id, paths } = leftover;
      const problem = `cannot read ${paths[0]}, which holds ${holds}`;
      return { ...detailsOf({}), id, outcome: 'damaged', problem };
    }
  }
}

interface ForgetDeps extends FileDeps {
  readonly spool: Spool;
  readonly journal: IntentJournal;
  readonly textFolder: string;
}

/**
 * Removes the files of an interrupted command without recovering the result.
 * @throws Failure of kind `state` when the command is still running, or the files cannot be removed
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
  await deps.journal.settle(intent, 'abandoned');
}

async function removeAll(paths: readonly string[], { files }: ForgetDeps): Promise<void> {
  for (const file of paths) {
    await files.rm(file, { recursive: true, force: true }).catch((error: unknown) => {
      throw stateFailure(COMMAND_RECORD, file, error);
    });
  }
}

function stillRunning(id: string): Failure {
  return new Failure(`a running command still uses request ${id}`, {
    code: 'state',
    exit: 'state',
    hint: 'Wait until that command has ended, or stop it.',
  });
}

function stillNeeded({ id, paths: [file] }: DamagedRecord): Failure {
  return new Failure(`${file} contains requests that have not ended`, {
    code: 'state',
    exit: 'state',
    hint: `Run \`foley recover\`, then \`foley recover --forget ${id}\`.`,
  });
}

/**
 * Converts recorded costs and ids to fields of {@link Recovered}.
 * @param newer values that replace the recorded ones
 */
export function detailsOf(
  { creditsUsed, jobId, requestId }: PurchaseMetadata,
  newer: {
    readonly creditsUsed?: number | null | undefined;
    readonly requestId?: string | null;
  } = {},
) {
  return {
    output: null,
    creditsUsed: newer.creditsUsed ?? creditsUsed ?? null,
    requestId: newer.requestId ?? requestId ?? null,
    jobId: jobId ?? null,
    idempotencyKey: null,
    problem: null,
  };
}

function failed(leftover: Leftover, { hint, message }: Failure): Recovered {
  const record = leftover.kind === 'audio' ? leftover.entry.record : undefined;
  const facts = 'intent' in leftover ? leftover.intent?.facts : undefined;
  return {
    ...detailsOf(facts ?? {}, record),
    id: leftover.id,
    outcome: 'failed',
    problem: hint === undefined ? message : `${message}; ${hint}`,
  };
}

async function recoverRequest(intent: OpenIntent, deps: RecoverDeps): Promise<Recovered> {
  const { about, facts, id } = intent;
  const details = {
    ...requestDetails(intent),
    ...(about?.endpoint.endsWith('/tts/live') === true ? { isRealtime: true as const } : {}),
    problem: facts.problem ?? whereToLook(intent),
  };
  if (mayRun(intent, deps.clock)) return { ...details, outcome: 'running' };
  // Audio stored on the service is complete; a temporary file may be incomplete.
  const isBegun = intent.state === 'accepted' && facts.jobId === undefined;
  const stored = isBegun ? await deps.resolveRequest(intent) : undefined;
  if (stored !== undefined) return stored;
  const entry = await adopt(intent, deps);
  if (entry !== undefined) return { ...(await recoverAudio(entry, intent, deps)), id };
  const output = about?.output ?? null;
  const isPresent = output !== null && (await hasChecksum(output, facts.checksum, deps));
  const { jobId } = facts;
  const next = nextStep({ state: intent.state, jobId, isPresent });
  if (next === 'use') {
    await deps.journal.resume(intent).markAs('published');
    return { ...details, outcome: 'recovered', output };
  }
  if (next === 'fetch' && jobId !== undefined) return deps.recoverJob(intent, jobId);
  const found = next === 'send' ? await deps.resolveRequest(intent) : undefined;
  if (found !== undefined) return found;
  await deps.journal.resume(intent).markAs('lost');
  // A request is charged when its response begins; before that the outcome is unknown.
  return { ...details, outcome: next === 'send' ? 'unknown' : 'lost' };
}

/** Returns the cost, ids and idempotency key that the journal records for a request, as fields of {@link Recovered}. */
export function requestDetails({ about, facts, id }: OpenIntent) {
  return {
    ...detailsOf(facts),
    id,
    requestId: facts.requestId ?? about?.requestId ?? null,
    idempotencyKey: about?.idempotencyKey ?? null,
  };
}

function whereToLook({ about }: OpenIntent): string | null {
  if (about === undefined || about.idempotencyKey !== null) return null;
  return WHERE_TO_LOOK.get(about.what) ?? null;
}

const WHERE_TO_LOOK: ReadonlyMap<string, string> = new Map([
  ['voice', '`foley voices list --type personal` shows whether the voice was made'],
  ['lipsync', '`foley lipsync list` shows whether the job was created'],
]);

async function adopt(intent: OpenIntent, deps: RecoverDeps): Promise<SpoolEntry | undefined> {
  const { about, facts, id } = intent;
  const temporary = about?.temporary ?? '';
  if (!isTemporaryName(basename(temporary))) return undefined;
  const found = await ifExists(temporary, deps.files.stat(temporary));
  if (found === undefined) return undefined;
  const { size } = found;
  const complete = await hasChecksum(temporary, facts.checksum, deps);
  // The complete result of a job can be downloaded.
  if (size === 0 || (facts.jobId !== undefined && !complete)) {
    await removeQuietly(temporary, deps);
    return undefined;
  }
  const writer = await deps.spool.adopt(
    { path: temporary, bytes: size, rest: [] },
    {
      what: about?.what ?? 'speech',
      // An output that foley encodes is saved as the service sends it.
      extension: (await isWavFile(temporary, deps.files))
        ? 'wav'
        : extname(about?.output ?? '').slice(1) || 'part',
      output: about?.output ?? null,
      requestId: facts.requestId ?? null,
      creditsUsed: facts.creditsUsed ?? null,
      operation: id,
      problem: 'the command was killed',
      changes: about?.changes,
    },
  );
  await writer.keep({ complete });
  const entries = await deps.spool.list();
  return entries.find((entry) => entry.id === writer.id);
}

/** Dependencies of a recovery. The functions throw a Failure or the signal's abort reason. */
export interface RecoverDeps extends FileDeps {
  readonly spool: Spool;
  readonly journal: IntentJournal;
  readonly notice: (line: string) => void;
  readonly recoverText: (left: InterruptedText) => Promise<Recovered>;
  readonly recoverJob: (intent: OpenIntent, jobId: string) => Promise<Recovered>;
  /** Finds out the outcome of a request that got no response. Returns undefined if that is impossible. */
  readonly resolveRequest: (intent: OpenIntent) => Promise<Recovered | undefined>;
}

async function recoverAudio(
  entry: SpoolEntry,
  intent: OpenIntent | undefined,
  deps: RecoverDeps,
): Promise<Recovered> {
  const { record } = entry;
  const details = {
    ...detailsOf(intent?.facts ?? {}, record),
    id: entry.id,
    problem: record?.problem ?? null,
  };
  const settle = async (outcome: Outcome): Promise<void> => {
    if (intent === undefined) return;
    await deps.journal.resume(intent).markAs(outcome, { spoolId: entry.id });
  };
  if (intent !== undefined && mayRun(intent, deps.clock)) {
    return { ...details, outcome: 'running', output: entry.path };
  }
  const isWhole =
    record?.complete === true || (await hasChecksum(entry.path, intent?.facts.checksum, deps));
  if (!isWhole) {
    await settle('spooled');
    const lost = { ...details, outcome: 'lost', output: entry.path } as const;
    if (record?.reported === true) return { ...lost, isReported: true };
    await deps.spool.markReported(entry);
    return lost;
  }
  const extension = record?.extension ?? extname(entry.path).slice(1);
  const known = record?.output ?? intent?.about?.output ?? undefined;
  const output = await publishCopy(entry, known ?? downloadName(entry.id, extension), deps);
  await deps.spool.remove(entry);
  await settle('published');
  return { ...details, outcome: 'recovered', output };
}

/**
 * Returns true if a file exists and has the checksum `wanted`. If `wanted` is undefined, returns false.
 * @throws Failure of kind `state` when the file cannot be read
 */
export async function hasChecksum(
  file: string,
  wanted: string | undefined,
  { files }: Pick<FileDeps, 'files'>,
): Promise<boolean> {
  if (wanted === undefined) return false;
  return (await ifExists(file, checksumOf(file, kindOf(wanted), files))) === wanted;
}

/**
 * Returns the result of `work`; undefined if the file does not exist.
 * @throws Failure of kind `state` for other errors
 */
export async function ifExists<T>(file: string, work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw stateFailure(COMMAND_RECORD, file, error);
  });
}

async function publishCopy(entry: SpoolEntry, wanted: string, deps: RecoverDeps): Promise<string> {
  const made = (await isWavFile(entry.path, deps.files)) ? 'wav' : 'mp3';
  const changes = made === 'wav' ? entry.record?.changes : undefined;
  const output = await openSpeechOutput(
    { ...deps, changes, path: wanted, existing: 'number', warn: deps.notice },
    made,
  );
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

/** A leftover of an interrupted command: audio, an open request, a long text, or a damaged file. */
export type Leftover =
  /**
   * Audio in the spool. `intent` is the request for this audio; undefined if the journal lists no open request for it.
   */
  | {
      readonly kind: 'audio';
      readonly id: string;
      readonly entry: SpoolEntry;
      readonly intent: OpenIntent | undefined;
    }
  | { readonly kind: 'request'; readonly id: string; readonly intent: OpenIntent }
  | { readonly kind: 'text'; readonly id: string; readonly left: InterruptedText }
  | DamagedRecord;

/** A damaged file of foley's state. foley keeps it until the user runs `foley recover --forget ID`. */
export interface DamagedRecord {
  readonly kind: 'damaged';
  readonly id: string;
  /** Path of the damaged file or folder, followed by the other files to remove together with it. */
  readonly paths: readonly string[];
  /** Description of the file's content for messages, such as `80 bytes of audio without their metadata`. */
  readonly holds: string;
  /** True if the file still lists requests that have not ended. Such a file cannot be removed. */
  readonly isInUse?: boolean;
}

/** The result of recovering one request, job or long text. */
export interface Recovered {
  readonly id: string;
  /**
   * Outcome of the recovery.
   * - `recovered`: the file `output` is complete.
   * - `partial`: `output` lacks some of the text.
   * - `refunded`: the request or job failed and cost nothing.
   * - `lost`: the request was billed, but `output` is incomplete or missing.
   * - `unknown`: the request may have been billed.
   * - `rejected`: the service refused the request and billed nothing.
   * - `running`: a command is still processing the request.
   * - `failed`: the recovery failed and changed nothing; `problem` says why.
   * - `damaged`: a file of foley is unreadable; `problem` says which.
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
  readonly jobId: string | null;
  /** The id of the voice or design that the request created. */
  readonly madeId?: string;
  /** The idempotency key with which the command can be repeated without being billed again. */
  readonly idempotencyKey: string | null;
  /** True for a realtime conversation. Its request id serves as `idempotencyKey`. */
  readonly isRealtime?: true;
  /** True if an earlier `foley recover` has already reported that the audio is lost. */
  readonly isReported?: true;
  readonly problem: string | null;
}

/**
 * Lists the leftovers of interrupted commands: audio in the spool, open requests without audio, long texts and damaged
 * files.
 */
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
      const holds = `${bytes} bytes of audio without their metadata`;
      return { kind: 'damaged', id, paths: [path, sidecar], holds };
    }),
    ...intents
      .filter(({ id }) => !withAudio.has(id))
      .map((intent) => ({ kind: 'request', id: intent.id, intent }) as const),
    ...texts.map((left) => ({ kind: 'text', id: left.id, left }) as const),
    ...damaged,
  ];
}

// A command whose process cannot be examined counts as running for this time after its last journal record.
const ASSUMED_RUNNING_MS = 60 * 60 * 1000;

/** Returns whether the command that began an operation may still be running. */
export function mayRun({ at, writer }: Pick<OpenIntent, 'at' | 'writer'>, clock: Clock): boolean {
  if (writer !== 'unknown') return writer === 'alive';
  return clock.now() - Date.parse(at) < ASSUMED_RUNNING_MS;
}

/**
 * Checks that a request, job or long text belongs to the selected service. Idempotency keys and job ids are valid on
 * one service only.
 * @param jobOrRequest name for the message, such as `job 7`
 * @param id id to add to the suggested command `foley recover`
 * @throws Failure of kind `usage` if it belongs to another service
 */
export function requireSameService(
  { origin, target }: Pick<IntentAbout, 'origin' | 'target'>,
  jobOrRequest: string,
  { address }: Pick<ApiClient, 'address'>,
  id?: string,
): void {
  // The embedded service has another port in each command.
  const isEmbedded = target === 'embedded';
  if (target === address.kind && (isEmbedded || origin === address.baseUrl.origin)) return;
  const service = isEmbedded ? 'the embedded service' : origin;
  const command = id === undefined ? 'foley recover' : `foley recover ${id}`;
  throw new Failure(`${jobOrRequest} is on ${service}, not on the selected service`, {
    code: 'usage',
    exit: 'usage',
    hint: `Run \`${command} ${isEmbedded ? '--local' : `--base-url ${origin}`}\`.`,
    billed: id === undefined ? 'yes' : 'unknown',
  });
}
