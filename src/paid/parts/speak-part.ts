import { constants } from 'node:fs';
import type { ApiClient } from '../../api/client.ts';
import { reviseFailure } from '../../api/failures.ts';
import { isAlignedWord } from '../../api/resources/aligned-events.ts';
import type { SpeechJob } from '../../api/resources/jobs.ts';
import type { AudioVerdict } from '../../audio/reader.ts';
import { sha256 } from '../../durable/checksum.ts';
import { hasErrno, stateFailure } from '../../durable/file-failures.ts';
import type { System } from '../../system/system.ts';
import { syncFile, FileWriter } from '../../durable/files.ts';
import { hasShape } from '../../durable/log.ts';
import { readOwnText, RECORD_BYTES, openOwnFile } from '../../durable/own-files.ts';
import { openOutput, replaceFile } from '../../durable/publish.ts';
import type { FileSystem } from '../../system/file-system.ts';
import type { Random } from '../../system/random.ts';
import { Failure } from '../../errors/failure.ts';
import type { NextStep } from '../decide.ts';
import { nextStep } from '../decide.ts';
import { alignedStreamTransport } from '../speakers/aligned-transport.ts';
import { buyJob } from '../speakers/speech-job.ts';
import type { Spool } from '../../durable/spool.ts';
import type { RequestRecorder } from '../billed-request.ts';
import type { AudioOutputStream, AudioSink } from '../deliver.ts';
import { saveFile } from '../job.ts';
import type { AudioStream, SpeakOptions, Spoken } from '../speakers/speak-stream.ts';
import { DISCARD, speak } from '../speakers/speak-stream.ts';
import type { PurchaseMetadata } from '../purchase.ts';
import type { ReuseStore } from '../reuse/reuse-store.ts';
import { reusedMetadata } from '../reuse/reused.ts';
import { recordedRanges } from '../unspoken.ts';
import type { LongTextRecord } from './record.ts';
import type { PartWords } from './whole-audio.ts';

const PART_WORDS = 'the word times of a part';
const PART_AUDIO = 'the audio of a part';

/** What all parts of a long text have in common. */
export interface PartDeps {
  readonly system: System;
  readonly client: ApiClient;
  readonly journal: RequestRecorder;
  readonly spool: () => Promise<Spool>;
  readonly cache?: boolean | undefined;
  /** Maximum wait, in milliseconds, for the next event of an aligned stream. */
  readonly idleTimeoutMs?: number | undefined;
  readonly requestId?: string | undefined;
  // True if the user chose the idempotency key. A refunded request is then not repeated with a new key.
  readonly hasOwnKey: boolean;
  // In a recovery: true to speak parts whose billed audio is lost again, at a second charge; false to fail.
  readonly buysLost?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The bought audio to reuse (`--reuse`); undefined to buy all audio. */
  readonly reuse?: ReuseStore | undefined;
  readonly notice: (line: string) => void;
  /** Called when a poll of a job fails but polling continues. */
  readonly onTrouble?: ((failure: Failure) => void) | undefined;
}

/**
 * Gets the audio of one part of a long text: speaks it as a job or as a stream, or continues with the last recorded step
 * of an interrupted command. Does nothing if the part is already saved.
 * @param direct destination of the audio of a stream; by default, the file of the part
 * @throws Failure. Kind `rejected`: nothing was billed; a retry of a failed job uses a new idempotency key. Kind `lost`:
 * the service does not have the audio any more, or does not send a stream twice; only `buysLost` speaks the part again.
 */
export async function speakPart(
  record: LongTextRecord,
  index: number,
  deps: PartDeps,
  direct?: Direct,
): Promise<void> {
  const isJob = record.plan.via === 'job';
  const next = await nextStepOf(record, index, deps.system.files);
  if (next === 'use') return;
  if (next === 'renew') await renewKey(record, index, deps.system.random);
  const speakOnce = (): Promise<void> =>
    isJob ? speakAsJob(record, index, deps) : speakAsStream(record, index, deps, direct);
  try {
    if (next === 'give up') throw lostStreamFailure(index, record);
    await speakOnce();
  } catch (error) {
    // A job that this command created is not bought again.
    const wasBought = next === 'fetch' || !isJob;
    if (!isLost(error) || !wasBought || deps.buysLost !== true) throw error;
    await renewKey(record, index, deps.system.random);
    deps.notice(
      `foley: the billed audio of part ${index + 1} is lost; the part is spoken and billed again`,
    );
    await speakOnce();
  }
}

async function speakAsJob(record: LongTextRecord, index: number, deps: PartDeps): Promise<void> {
  const { client, onTrouble, reuse } = deps;
  const { clock, files, random } = deps.system;
  const { format, parts } = record.plan;
  const recorded = record.part(index);
  const order = record.partOrder(index);
  const isBegun = recorded.jobId !== undefined;
  let file: PartFile | undefined;
  const placeFor = async () => ({ stream: (file = await openPart(record.partFile(index), files)) });
  try {
    const reused = isBegun ? undefined : await reuse?.find({ surface: record.plan.surface, order });
    if (reused !== undefined) {
      const result = { file: reused, format, text: order.text };
      const { verdict } = await saveFile(result, { id: record.plan.id }, { placeFor });
      return await record.note({ part: index, state: 'verified', ...factsOf(reused, verdict) });
    }
    const key = recorded.key ?? (isBegun ? '' : await renewKey(record, index, random));
    const { job, saved } = await buyJob({
      client,
      order,
      format,
      options: {
        ...callOptions(record, index, deps),
        idempotencyKey: renewableKey(key, deps),
        api: record.plan.surface === 'v1' ? 'v1' : 'v3',
      },
      recorded,
      reuse,
      polling: { clock, random, onTrouble },
      placeFor,
      missing: (failure, id) => missingJobFailure(failure, index, id, record),
      onCreated: (made) =>
        record.note({ part: index, state: 'accepted', jobId: made.id, ...metadataOf(made) }),
      async onEnded(ended) {
        if (ended.phase !== 'failed') return;
        await record.note({ part: index, state: 'failed', creditsUsed: 0 });
        throw partFailure(ended, index, parts.length);
      },
    });
    // The id of the request that created the job, not of its last poll.
    const { requestId = job.requestId } = record.part(index);
    await record.note({
      part: index,
      state: 'verified',
      bytes: saved.verdict.bytes,
      sampleRate: saved.verdict.sampleRate,
      unspoken: recordedRanges(saved.unspoken),
      isPartial: job.phase === 'partial' ? true : undefined,
      ...metadataOf(job),
      requestId,
    });
  } finally {
    await file?.close();
  }
}

function callOptions(record: LongTextRecord, index: number, { requestId, signal }: PartDeps) {
  return {
    requestId: requestId === undefined ? undefined : ownPartKey(requestId, index),
    signal,
    // A recovery must not buy the part under a third key.
    onNewKey: (key: string) => record.note({ part: index, state: 'planned', key }),
  };
}

function renewableKey(value: string, { hasOwnKey }: PartDeps) {
  return { value, madeByTool: !hasOwnKey, next: () => nextKey(value) };
}

function nextKey(key: string): string {
  return sha256(`${key}\nagain`);
}

async function renewKey(record: LongTextRecord, index: number, random: Random): Promise<string> {
  const { key } = record.part(index);
  const next = key === undefined ? random.uuid() : nextKey(key);
  await record.note({ part: index, state: 'planned', key: next });
  return next;
}

function metadataOf({ creditsUsed, ignoredParameters, quotaRemaining, requestId }: SpeechJob) {
  return { creditsUsed, ignoredParameters, quotaRemaining, requestId };
}

function partFailure(job: SpeechJob, index: number, count: number): Failure {
  const reason = job.error?.message === undefined ? '' : `: ${job.error.message}`;
  return new Failure(`part ${index + 1} of ${count} could not be spoken${reason}`, {
    code: job.error?.code ?? 'ERR_JOB_FAILED',
    exit: 'rejected',
    hint: 'This part was refunded. If it fails again, change its text, or choose another voice or model.',
    requestId: job.requestId,
    details: { jobId: job.id, status: job.status, part: index + 1 },
  });
}

function missingJobFailure(
  failure: Failure,
  index: number,
  jobId: string,
  { plan }: LongTextRecord,
): Failure {
  return reviseFailure(failure, {
    message: `part ${index + 1} was billed, but its job ${jobId} is missing: ${failure.message}`,
    exit: 'lost',
    billed: 'yes',
    hint: `If another account created the job, select it with --account. Otherwise ${buyHint(plan.id)}.`,
  });
}

/** Where the audio of a stream goes, if not into a file of its own. */
interface Direct extends AudioSink {
  readonly memoryBytes: number;
}

async function speakAsStream(
  record: LongTextRecord,
  index: number,
  deps: PartDeps,
  direct: Direct | undefined,
): Promise<void> {
  const speaking =
    direct === undefined
      ? speakIntoFile(record, index, deps)
      : speak({ ...optionsOf(record, index, deps), output: undefined, stream: openEnded(direct) });
  const spoken = await speaking.catch(async (error: unknown) => {
    if (!isLost(error) || deps.buysLost === undefined) throw error;
    // The service does not send a stream twice: later recoveries do not request it again.
    await record.note({ part: index, state: 'accepted' });
    throw lostStreamFailure(index, record, error);
  });
  await record.note({
    part: index,
    state: direct === undefined ? 'verified' : 'published',
    ...factsOf(spoken.response, spoken.verdict),
  });
}

function factsOf(
  response: Spoken['response'],
  { bytes, sampleRate }: AudioVerdict,
): PurchaseMetadata {
  const { creditsUsed, ignoredParameters, quotaRemaining, requestId } = response;
  return {
    bytes,
    sampleRate,
    creditsUsed,
    requestId,
    quotaRemaining,
    ignoredParameters,
    unspoken: recordedRanges(response.unspoken),
    ...reusedMetadata(response),
  };
}

function isLost(error: unknown): error is Failure {
  return error instanceof Failure && error.exit === 'lost';
}

function lostStreamFailure(index: number, { plan }: LongTextRecord, cause?: Failure): Failure {
  const message = `part ${index + 1} of ${plan.parts.length} was billed, but its audio is lost: the service does not send a stream twice`;
  const hint = `To pay again, ${buyHint(plan.id)}.`;
  return cause === undefined
    ? new Failure(message, { code: 'lost', exit: 'lost', billed: 'yes', hint })
    : reviseFailure(cause, { message, hint });
}

function buyHint(id: string): string {
  return `run \`foley recover ${id} --buy-lost\`: it speaks and bills this part, and all other lost parts, again`;
}

async function speakIntoFile(
  record: LongTextRecord,
  index: number,
  deps: PartDeps,
): Promise<Spoken> {
  const output = await openOutput(deps.system, {
    path: record.partFile(index),
    mode: 0o600,
  });
  try {
    return await speak({ ...optionsOf(record, index, deps), output, stream: DISCARD });
  } finally {
    // No effect after publication.
    await output.abandon();
  }
}

function optionsOf(
  record: LongTextRecord,
  index: number,
  deps: PartDeps,
): Omit<SpeakOptions, 'output' | 'stream'> {
  const { cache, client, idleTimeoutMs, journal, notice, reuse, spool } = deps;
  const { clock } = deps.system;
  const { format, surface, via } = record.plan;
  const { key } = record.part(index);
  const body = record.partOrder(index);
  const speech = {
    ...callOptions(record, index, deps),
    idempotencyKey: key === undefined ? undefined : renewableKey(key, deps),
  };
  return {
    client,
    body,
    speech: { ...speech, surface, cache },
    transport:
      via === 'aligned'
        ? alignedStreamTransport(client, body, { ...speech, clock, idleTimeoutMs }, (words) =>
            writePartWords(record.wordsFile(index), words, deps.system),
          )
        : undefined,
    format,
    journal,
    isPart: true,
    reuse,
    spool,
    notice,
  };
}

function openEnded(stream: Direct): AudioStream {
  return {
    write: (chunk) => stream.write(chunk),
    memoryBytes: stream.memoryBytes,
    end: () => Promise.resolve(),
  };
}

async function writePartWords(
  file: string,
  { isComplete, words }: PartWords,
  system: System,
): Promise<void> {
  const data = Buffer.from(JSON.stringify({ isComplete, words }));
  await replaceFile(system, { path: file, data, mode: 0o600 }).catch((error: unknown) => {
    throw stateFailure(PART_WORDS, file, error);
  });
}

/**
 * Reads the saved word times of a part; undefined if they are missing or damaged.
 * @throws Failure of kind `state` if the file cannot be read
 */
export async function readPartWords(
  file: string,
  files: FileSystem,
): Promise<PartWords | undefined> {
  try {
    return parsed(JSON.parse(await readOwnText(file, RECORD_BYTES, files)));
  } catch (error) {
    if (hasErrno(error, 'ENOENT') || error instanceof SyntaxError) return undefined;
    throw stateFailure(PART_WORDS, file, error);
  }
}

function parsed(value: unknown): PartWords | undefined {
  if (!hasShape(value, {})) return undefined;
  const { isComplete, words } = value;
  if (typeof isComplete !== 'boolean' || !Array.isArray(words)) return undefined;
  const all = words.filter((word: unknown) => isAlignedWord(word));
  return all.length === words.length ? { isComplete, words: all } : undefined;
}

type PartFile = AudioOutputStream & { close(): Promise<void> };

async function openPart(file: string, files: FileSystem): Promise<PartFile> {
  const failed = (error: unknown): never => {
    throw stateFailure(PART_AUDIO, file, error);
  };
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
  const handle = await openOwnFile(file, flags, files).catch(failed);
  const writer = new FileWriter(handle);
  return {
    write: (chunk) => writer.write(chunk).catch(failed),
    async end() {
      await writer.flush().catch(failed);
      // The caller records the file next: the file must survive a power cut.
      await syncFile(handle).catch(failed);
    },
    async close() {
      writer.stop();
      await handle.close().catch(() => undefined);
    },
  };
}

async function nextStepOf(
  record: LongTextRecord,
  index: number,
  files: FileSystem,
): Promise<NextStep> {
  const { bytes, isReused, jobId, state } = record.part(index);
  const file = record.partFile(index);
  const isPresent = state === 'verified' && (await isPartSaved(file, bytes, files));
  // A reused part was never requested.
  const isStored = record.plan.via === 'job' || isReused === true;
  return nextStep({ state, jobId, isPresent, isStored });
}

async function isPartSaved(
  file: string,
  bytes: number | undefined,
  files: FileSystem,
): Promise<boolean> {
  if (bytes === undefined) return false;
  try {
    return (await files.stat(file)).size === bytes;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return false;
    throw stateFailure(PART_AUDIO, file, error);
  }
}

/**
 * Returns an idempotency key for each part. If the user gave a key (`own`), derives all keys from it: repeating the
 * command with the same key is then not billed again. Otherwise, the keys are random.
 */
export function partKeys(
  count: number,
  own: string | undefined,
  random: Random,
): readonly string[] {
  return Array.from({ length: count }, (_, index) =>
    own === undefined ? random.uuid() : ownPartKey(own, index),
  );
}

function ownPartKey(own: string, index: number): string {
  return sha256(`${own}\n${index}`);
}
