import type { ApiClient } from '../../api/client.ts';
import type { MediaJobKind } from '../../api/resources/models.ts';
import { openSpeechOutput } from '../../audio/encode/encoded-output.ts';
import type { Marks } from '../../audio/encode/tags.ts';
import type { Format } from '../../audio/formats.ts';
import { extensionOf } from '../../audio/formats.ts';
import { checksumOf, kindOf } from '../../durable/checksum.ts';
import { hasErrno, stateFailure } from '../../durable/file-failures.ts';
import type { System } from '../../system/system.ts';
import { downloadName } from '../../durable/names.ts';
import type { Output, SoundChanges } from '../../durable/output.ts';
import type { Spool } from '../../durable/spool.ts';
import { Failure } from '../../errors/failure.ts';
import type { IntentAbout, IntentJournal, OpenIntent } from '../intents.ts';
import type { JobSource, WaitedJob } from '../job.ts';
import type { LongTextPlan } from '../parts/plan.ts';
import type { LongTexts } from '../parts/record.ts';
import type { PurchaseMetadata } from '../purchase.ts';
import type { WordTimes } from '../speakers/aligned-transport.ts';
import { COMMAND_RECORD } from './leftovers.ts';

/** Dependencies of a recovery. The functions throw a Failure or the signal's abort reason. */
export interface RecoverDeps {
  readonly system: System;
  readonly texts: LongTexts;
  readonly spool: Spool;
  readonly journal: IntentJournal;
  readonly signal: AbortSignal;
  readonly notice: (line: string) => void;
  /** Called with what the recovery waits for, such as `waiting for job 7`. */
  readonly onWait: (what: string) => void;
  /** Connects to the service; called only if a recovery needs a request. */
  readonly connect: () => Promise<ApiClient>;
  /** Returns functions that query media jobs of a kind and download their results. */
  readonly mediaSource: (client: ApiClient, kind: MediaJobKind) => JobSource<WaitedJob>;
  /** Opens the caption files of a long text; undefined if it has none. */
  readonly openCaptions: (plan: LongTextPlan) => Promise<TextCaptions | undefined>;
  /** True to speak the lost parts of long texts again, at a second charge. */
  readonly buysLost: boolean;
  /** Returns the number of parts of a long text that are spoken at the same time. */
  readonly concurrency: () => Promise<number>;
  /** Maximum wait, in milliseconds, for the next event of an aligned stream. */
  readonly idleTimeoutMs?: number | undefined;
}

/** The open caption files of a long text. */
export interface TextCaptions {
  prepare(text: string, speech: WordTimes): Promise<void>;
  /**
   * Renames the files to their final names. Called after the audio file was renamed.
   * @param audio path of the audio file, for messages
   */
  publish(audio: string): Promise<{ readonly complete: boolean }>;
  /** Removes the temporary files. Never throws. */
  abandon(): Promise<void>;
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

/** Returns the cost, ids and idempotency key that the journal records for a request, as fields of {@link Recovered}. */
export function requestDetails({ about, facts, id }: OpenIntent) {
  return {
    ...detailsOf(facts),
    id,
    requestId: facts.requestId ?? about?.requestId ?? null,
    idempotencyKey: about?.idempotencyKey ?? null,
  };
}

/**
 * Connects to the service of a request, job or long text. Idempotency keys and job ids are valid on one service only.
 * @param purchased name for the message, such as `job 7`
 * @param id id to add to the suggested command `foley recover`
 * @throws Failure; of kind `usage` if another service is selected
 */
export async function connectTo(
  { origin, target }: IntentAbout | LongTextPlan,
  purchased: string,
  { connect }: RecoverDeps,
  id?: string,
): Promise<ApiClient> {
  const client = await connect();
  const { baseUrl, kind } = client.address;
  // The embedded service has another port in each command.
  const isEmbedded = target === 'embedded';
  if (target === kind && (isEmbedded || origin === baseUrl.origin)) return client;
  const service = isEmbedded ? 'the embedded service' : origin;
  const command = id === undefined ? 'foley recover' : `foley recover ${id}`;
  throw new Failure(`${purchased} is on ${service}, not on the selected service`, {
    code: 'usage',
    exit: 'usage',
    hint: `Run \`${command} ${isEmbedded ? '--local' : `--base-url ${origin}`}\`.`,
    billed: id === undefined ? 'yes' : 'unknown',
  });
}

interface RecordedOutput {
  readonly output?: string | null;
  readonly changes?: SoundChanges | undefined;
  readonly marks?: Marks | undefined;
}

/**
 * Opens the output that a command recorded, or else a file named after the id. If a file with that name exists, adds a
 * number to the name.
 * @param given format of the bytes that are written
 * @throws Failure like `openSpeechOutput`
 */
export function openRecorded(
  id: string,
  { changes, marks, output }: RecordedOutput,
  given: Format,
  deps: RecoverDeps,
): Promise<Output> {
  const path = output ?? downloadName(id, extensionOf(given));
  const { notice: warn } = deps;
  return openSpeechOutput(deps.system, { changes, marks, path, existing: 'number', warn }, given);
}

/**
 * Returns true if a file exists and has the checksum `wanted`. If `wanted` is undefined, returns false.
 * @throws Failure of kind `state` when the file cannot be read
 */
export async function hasChecksum(
  file: string,
  wanted: string | undefined,
  { files }: System,
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
