import { constants } from 'node:fs';
import type { ApiClient } from '../../api/client.ts';
import { reviseFailure, isNotFound } from '../../api/failures.ts';
import { isAlignedWord } from '../../api/resources/aligned-events.ts';
import {
  fetchJobAudio,
  createSpeechJob,
  pollPace,
  pollSpeechJob,
} from '../../api/resources/jobs.ts';
import type { JobApi, SpeechJob } from '../../api/resources/jobs.ts';
import type { AudioResponse } from '../../api/resources/speech.ts';
import type { Verdict } from '../../audio/reader.ts';
import type { AudioFormat } from '../../contract/values.ts';
import type { AlignedWord } from '../../contract/speech.ts';
import { sha256 } from '../../durable/checksum.ts';
import { hasErrno, stateFailure } from '../../durable/file-failures.ts';
import type { FileDeps } from '../../durable/files.ts';
import { syncFile, FileWriter } from '../../durable/files.ts';
import { readOwnText, RECORD_BYTES, openOwnFile } from '../../durable/own-files.ts';
import { openOutput, replaceFile } from '../../durable/publish.ts';
import type { Clock } from '../../effects/clock.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import type { Random } from '../../effects/random.ts';
import { Failure } from '../../errors/failure.ts';
import { alignedStreamTransport } from '../aligned-transport.ts';
import type { AlignedSpeech } from '../aligned-transport.ts';
import { deliver } from '../deliver.ts';
import type { AudioStream, SpeakOptions, Spoken } from '../speak.ts';
import { NOWHERE, speak } from '../speak.ts';
import type { LongTextRecord } from './record.ts';

interface PartDeps {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly files: FileSystem;
  /** The person's own trace id. */
  readonly requestId?: string | undefined;
  /** The key came from the person: a refunded request is not sent again under another. */
  readonly hasOwnKey: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Tells the person something that is no failure. */
  readonly notice: (line: string) => void;
}

/**
 * Has one part spoken as a job, and fetches it; whatever was done for it before is not done again. Its key,
 * its id and that it is there are written down before anything is built on them.
 * @throws Failure; (rejected) when the job failed, which cost nothing: the next try has another key; (lost)
 *   when the service does not have the job, after which the next try buys the part again
 */
export async function speakJobPart(
  record: LongTextRecord,
  index: number,
  deps: PartDeps,
): Promise<void> {
  const before = record.part(index);
  const file = record.partFile(index);
  if (before.state === 'done' && (await isPartThere(file, before.bytes, deps.files))) return;
  // A job that failed stays as it is.
  const known = before.state === 'failed' ? undefined : before.jobId;
  if (known === undefined)
    return fetchPart(record, index, await createJob(record, index, deps), deps);
  try {
    await fetchPart(record, index, { id: known }, deps);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if (before.isGone !== true) {
      await record.note({ part: index, state: 'accepted', isGone: true });
      throw goneFailure(error, index, known);
    }
    deps.notice(`foley: part ${index + 1} is not there any more; it is spoken once more`);
    await record.note({ part: index, state: 'keyed', key: nextPartKey(before.key, deps.random) });
    await fetchPart(record, index, await createJob(record, index, deps), deps);
  }
}

async function fetchPart(
  record: LongTextRecord,
  index: number,
  begun: SpeechJob | { readonly id: string },
  { client, clock, files, random, signal }: PartDeps,
): Promise<void> {
  const api = apiOf(record);
  const file = record.partFile(index);
  const ref = { id: begun.id, api };
  const pace = pollPace(client, api);
  const known = 'phase' in begun ? begun : undefined;
  const job = await pollSpeechJob(client, ref, { known, clock, random, pace, signal });
  if (job.phase === 'failed') {
    await record.note({ part: index, state: 'failed', creditsUsed: 0 });
    throw partFailure(job, index, record.plan.parts.length);
  }
  const audio = await fetchJobAudio(client, ref, signal);
  const { bytes } = await downloadPart(audio, record.plan.format, {
    file,
    files,
    text: record.partText(index),
  });
  const isPartial = job.phase === 'partial' ? true : undefined;
  await record.note({ part: index, state: 'done', bytes, isPartial, ...factsOf(job) });
}

async function createJob(
  record: LongTextRecord,
  index: number,
  { client, hasOwnKey, random, requestId, signal }: PartDeps,
): Promise<SpeechJob> {
  const key = await freshKey(record, index, random);
  const order = { ...record.plan.order, text: record.partText(index) };
  const job = await createSpeechJob(client, order, {
    api: apiOf(record),
    idempotencyKey: { value: key, madeByTool: !hasOwnKey },
    requestId: requestId === undefined ? undefined : ownPartKey(requestId, index),
    signal,
    onNewKey: (next) => record.note({ part: index, state: 'keyed', key: next }),
  });
  await record.note({ part: index, state: 'accepted', jobId: job.id, ...factsOf(job) });
  return job;
}

/** The key to ask under: one under which a job failed gives that job again, whatever is asked. */
async function freshKey(
  record: LongTextRecord,
  index: number,
  random: Pick<Random, 'uuid'>,
): Promise<string> {
  const { key, state } = record.part(index);
  if (key !== undefined && state !== 'failed') return key;
  const next = nextPartKey(key, random);
  await record.note({ part: index, state: 'keyed', key: next });
  return next;
}

function apiOf({ plan }: LongTextRecord): JobApi {
  return plan.surface === 'v1' ? 'v1' : 'v3';
}

function factsOf({ creditsUsed, ignoredParameters, quotaRemaining, requestId }: SpeechJob) {
  return { creditsUsed, ignoredParameters, quotaRemaining, requestId };
}

function partFailure(job: SpeechJob, index: number, count: number): Failure {
  const said = job.error?.message === undefined ? '' : `: ${job.error.message}`;
  return new Failure(`part ${index + 1} of ${count} could not be spoken${said}`, {
    code: job.error?.code ?? 'ERR_JOB_FAILED',
    exit: 'rejected',
    hint: 'It was refunded. If it fails again, change its text, or choose another voice or model.',
    requestId: job.requestId,
    details: { jobId: job.id, status: job.status, part: index + 1 },
  });
}

function goneFailure(failure: Failure, index: number, jobId: string): Failure {
  return reviseFailure(failure, {
    message: `part ${index + 1} was paid for, and its job ${jobId} is not there: ${failure.message}`,
    exit: 'lost',
    billed: 'yes',
    hint: 'If it belongs to another account, name that with --account. Else go on all the same, which pays for that part again.',
  });
}

export interface StreamDeps
  extends PartDeps, FileDeps, Pick<SpeakOptions, 'journal' | 'spool' | 'notice'> {
  readonly cache?: boolean | undefined;
  /** Longest wait for the next event of an aligned stream, in milliseconds. */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * A part that was paid for and cannot be had again is bought once more; without it that is a failure.
   */
  readonly buysLost?: boolean | undefined;
}

/** Where a part goes that is heard while it comes; without it, into its file. */
type Direct = Pick<AudioStream, 'write' | 'memoryBytes'>;

/**
 * Has one part spoken as a stream, whose audio cannot be had again; one that is there already is not asked
 * for again.
 * @throws Failure, as `speak`
 */
export async function speakStreamPart(
  record: LongTextRecord,
  index: number,
  deps: StreamDeps,
  direct?: Direct,
): Promise<void> {
  const { bytes, isGone, state } = record.part(index);
  const file = record.partFile(index);
  if (state === 'done' && (await isPartThere(file, bytes, deps.files))) return;
  const attempt = (): Promise<Spoken> =>
    direct === undefined
      ? speakIntoFile(record, index, deps)
      : speak({ ...optionsOf(record, index, deps), output: undefined, stream: openEnded(direct) });
  const spoken = await attempt().catch(async (error: unknown) => {
    if (!isLost(error) || deps.buysLost !== true || record.plan.via !== 'aligned') throw error;
    if (isGone !== true) {
      await record.note({ part: index, state: 'accepted', isGone: true });
      throw lostStreamFailure(error, index, record);
    }
    const key = nextPartKey(record.part(index).key, deps.random);
    await record.note({ part: index, state: 'keyed', key });
    deps.notice(
      `foley: part ${index + 1} was paid for and cannot be had again; it is spoken once more`,
    );
    return attempt();
  });
  await record.note({
    part: index,
    state: direct === undefined ? 'done' : 'delivered',
    bytes: spoken.verdict.bytes,
    creditsUsed: spoken.response.creditsUsed,
    requestId: spoken.response.requestId,
    quotaRemaining: spoken.response.quotaRemaining,
    ignoredParameters: spoken.response.ignoredParameters,
  });
}

/** It was completed under its key, and what it said is gone. */
function isLost(error: unknown): error is Failure {
  return error instanceof Failure && error.exit === 'lost';
}

function lostStreamFailure(failure: Failure, index: number, { plan }: LongTextRecord): Failure {
  return reviseFailure(failure, {
    message: `part ${index + 1} of ${plan.parts.length} was paid for and cannot be had again: no stream is sent a second time`,
    hint: `\`foley recover ${plan.id}\`, run once more, speaks that part again, which costs again.`,
  });
}

async function speakIntoFile(
  record: LongTextRecord,
  index: number,
  deps: StreamDeps,
): Promise<Spoken> {
  const output = await openOutput({ ...deps, path: record.partFile(index), mode: 0o600 });
  try {
    return await speak({ ...optionsOf(record, index, deps), output, stream: NOWHERE });
  } finally {
    // After it was published or kept this does nothing.
    await output.abandon();
  }
}

function optionsOf(
  record: LongTextRecord,
  index: number,
  deps: StreamDeps,
): Omit<SpeakOptions, 'output' | 'stream'> {
  const { cache, client, hasOwnKey, journal, notice, requestId, signal, spool } = deps;
  const { format, order, surface, via } = record.plan;
  const { key } = record.part(index);
  const body = { ...order, text: record.partText(index) };
  const speech = {
    idempotencyKey: key === undefined ? undefined : { value: key, madeByTool: !hasOwnKey },
    requestId: requestId === undefined ? undefined : ownPartKey(requestId, index),
    signal,
  };
  return {
    client,
    body,
    speech: { ...speech, surface, cache },
    transport:
      via === 'aligned'
        ? alignedStreamTransport(client, body, { ...deps, ...speech }, (words) =>
            writePartWords(record.wordsFile(index), words, deps),
          )
        : undefined,
    format,
    journal,
    isPart: true,
    spool,
    notice,
  };
}

/** A part ends, and what it goes into does not. */
function openEnded({ memoryBytes, write }: Direct): AudioStream {
  return { write, memoryBytes, end: () => Promise.resolve() };
}

/** The words of one part, timed from the beginning of its own audio. */
export type PartWords = Pick<AlignedSpeech, 'isComplete' | 'words'>;

/**
 * Writes the words of a part down; they are on the disk when this resolves.
 * @throws Failure (state)
 */
async function writePartWords(
  file: string,
  { isComplete, words }: PartWords,
  deps: FileDeps,
): Promise<void> {
  const data = Buffer.from(JSON.stringify({ isComplete, words }));
  await replaceFile({ ...deps, path: file, data, mode: 0o600 }).catch((error: unknown) => {
    throw stateFailure('the times of a part', file, error);
  });
}

/**
 * The words of a part, as they were written down; undefined where they are not there.
 * @throws Failure (state) when they cannot be read
 */
export async function readPartWords(
  file: string,
  files: FileSystem,
): Promise<PartWords | undefined> {
  try {
    return parsed(JSON.parse(await readOwnText(file, RECORD_BYTES, files)));
  } catch (error) {
    if (hasErrno(error, 'ENOENT') || error instanceof SyntaxError) return undefined;
    throw stateFailure('the times of a part', file, error);
  }
}

function parsed(value: unknown): PartWords | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { isComplete, words }: Partial<Record<string, unknown>> = Object.fromEntries(
    Object.entries(value),
  );
  if (typeof isComplete !== 'boolean' || !Array.isArray(words)) return undefined;
  const all = words.filter((word: unknown) => isAlignedWord(word));
  return all.length === words.length ? { isComplete, words: all } : undefined;
}

/** The words of all parts, on the clock of the whole. */
export class WholeWords {
  readonly #parts: PartWords[] = [];

  /** Takes the words of the next part. */
  add(words: PartWords): void {
    this.#parts.push(words);
  }

  /**
   * All words, from the beginning of the whole.
   * @param starts where each part begins in it, in milliseconds
   */
  speech(starts: readonly number[], durationMs: number | undefined): AlignedSpeech {
    const words = this.#parts.flatMap((part, index) => shifted(part.words, starts[index] ?? 0));
    return {
      words,
      isComplete: this.#parts.every(({ isComplete }) => isComplete),
      durationMs: durationMs ?? words.at(-1)?.endMs ?? 0,
    };
  }
}

function shifted(words: readonly AlignedWord[], startMs: number): readonly AlignedWord[] {
  return words.map((word) => ({
    text: word.text,
    startMs: Math.max(0, word.startMs + startMs),
    endMs: Math.max(0, word.endMs + startMs),
  }));
}

/**
 * Takes the audio of a part into its file, and checks it on the way. What was there before is replaced.
 * @throws Failure (bad_answer) for what is not whole or not of the format, (state) when it cannot be written
 */
async function downloadPart(
  audio: AudioResponse,
  format: AudioFormat,
  {
    file,
    files,
    text,
  }: { readonly file: string; readonly files: FileSystem; readonly text: string },
): Promise<Verdict> {
  const failed = (error: unknown): never => {
    audio.discard();
    throw stateFailure('the audio of a part', file, error);
  };
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
  const handle = await openOwnFile(file, flags, files).catch(failed);
  const writer = new FileWriter(handle);
  try {
    const verdict = await deliver(
      audio,
      format,
      {
        write: (chunk) => writer.write(chunk).catch(failed),
        // It can be fetched again; what came is of no use.
        refuse: () => Promise.resolve(),
      },
      text,
    );
    await writer.flush().catch(failed);
    // That it is there is written down next, and stands after a power cut.
    await syncFile(handle).catch(failed);
    return verdict;
  } finally {
    writer.stop();
    await handle.close().catch(() => undefined);
  }
}

/** Whether the file of a part is there with all the bytes that it had when it was whole. */
async function isPartThere(
  file: string,
  bytes: number | undefined,
  files: FileSystem,
): Promise<boolean> {
  if (bytes === undefined) return false;
  try {
    return (await files.stat(file)).size === bytes;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return false;
    throw stateFailure('the audio of a part', file, error);
  }
}

/**
 * The keys under which the parts are asked for. Made from the person's own, they are the same each time, so
 * that the same command again is billed for nothing twice; otherwise random.
 */
export function partKeys(
  count: number,
  own: string | undefined,
  random: Pick<Random, 'uuid'>,
): readonly string[] {
  return Array.from({ length: count }, (_, index) =>
    own === undefined ? random.uuid() : ownPartKey(own, index),
  );
}

/**
 * The key under which a part is asked for after a job failed or was lost under `key`. It follows from that, so
 * that it is the same one when the journal that says so is damaged.
 */
function nextPartKey(key: string | undefined, random: Pick<Random, 'uuid'>): string {
  return key === undefined ? random.uuid() : sha256(`${key}\nagain`);
}

/** The id of one part under an id that the person chose, no longer than any id may be. */
function ownPartKey(own: string, index: number): string {
  return sha256(`${own}\n${index}`);
}
