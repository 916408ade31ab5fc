import type { ServiceErrorCode } from '../../contract/service-errors.ts';
import type { Clock } from '../../effects/clock.ts';
import type { SpeechLength } from '../engine/encode/mp3-file-head.ts';
import { engineMessageOf } from '../engine/speech-engine.ts';
import type { SpeechChunk } from '../engine/speech-engine.ts';
import type { Owner } from '../operations/owner.ts';
import type { ServiceEvent } from '../running-service.ts';
import { storageFullError } from '../service-error.ts';
import { writeSpeech } from '../speech/audio-files.ts';
import type { AudioFolder } from '../speech/audio-files.ts';
import type { EncodeSpeech } from '../speech/encode.ts';
import type { Store } from '../store/open-store.ts';
import { StoreError } from '../store/store-error.ts';
import type { Catalogue } from '../voices/catalogue.ts';
import { advanceJob } from './advance-job.ts';
import { samplesFile, wholeFile } from './job-files.ts';
import type { SegmentRecord, WholeJob } from './job-records.ts';
import type { JobEvent } from './lifecycle.ts';
import { isTerminal } from './lifecycle.ts';
import { readSamples } from './samples.ts';
import { speakSegment } from './speak-segment.ts';

export interface WorkDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly owner: Owner;
  readonly catalogue: Catalogue;
  readonly encode: EncodeSpeech;
  readonly folder: AudioFolder;
  readonly report: (event: ServiceEvent) => void;
}

/**
 * Takes a job and works on it to its end: segment by segment, each written down as soon as it is
 * spoken, so that whoever comes after a process that died goes on where it was. Once the signal is
 * aborted the job is given back. It stops as soon as the job turns out to be somebody else's.
 * @throws StoreError when something cannot be written down; the job is as it was then
 */
export async function workOnJob(deps: WorkDeps, jobId: string, signal: AbortSignal): Promise<void> {
  const { owner, report } = deps;
  let job = await note(deps, jobId, { event: { type: 'claimed' } });
  if (job !== undefined && isTerminal(job.status)) {
    const error = new Error(`job ${jobId} was given up after ${job.attempts} attempts`);
    report({ type: 'failure', requestId: jobId, error });
  }
  while (job?.ownerId === owner.id) {
    job = await note(deps, jobId, await nextStep(deps, job, signal));
  }
}

/** What was done, and what it is to the job. */
interface Step {
  readonly event: JobEvent;
  readonly length?: SpeechLength | undefined;
  readonly failure?: string | undefined;
  readonly errorCode?: ServiceErrorCode | undefined;
}

/** Does what comes next. Never rejects: a failure is a step too. */
async function nextStep(deps: WorkDeps, job: WholeJob, signal: AbortSignal): Promise<Step> {
  const { folder, report } = deps;
  const segment = job.segments.find(({ status }) => status === 'pending');
  try {
    if (job.fault === 'fail') return { event: { type: 'broken' } };
    if (job.attempts > 1) await folder.sweep(job.id);
    if (segment !== undefined) return await settleSegment(deps, job, segment, signal);
    await assemble(deps, job, signal);
    return { event: { type: 'finished' } };
  } catch (error) {
    if (signal.aborted) return { event: { type: 'released' } };
    report({ type: 'failure', requestId: job.id, error });
    const full = storageFullError(error);
    const failure = full?.message ?? engineMessageOf(error);
    return { event: { type: 'broken' }, failure, errorCode: full?.code };
  }
}

async function settleSegment(
  { catalogue, encode, folder, report }: WorkDeps,
  job: WholeJob,
  segment: SegmentRecord,
  signal: AbortSignal,
): Promise<Step> {
  const isLast = segment.index === job.segments.length - 1;
  if (job.fault === 'partial_fail' && isLast) {
    return { event: { type: 'segment_settled', index: segment.index, outcome: 'fail' } };
  }
  const voice = catalogue.of(job.accountId).voice(job.voiceId);
  if (voice === undefined) throw new Error(`the voice ${job.voiceId} is not here any more`);
  const result = await speakSegment({ job, segment, voice, encode, folder, signal });
  const { outcome } = result;
  const event = { type: 'segment_settled', index: segment.index, outcome } as const;
  if (outcome === 'success') return { event, length: result.length };
  if (outcome === 'skipped') return { event };
  report({ type: 'failure', requestId: job.id, error: result.error });
  return { event, failure: engineMessageOf(result.error) };
}

/**
 * Makes the whole of a job's spoken segments, and removes their samples afterwards. The whole is
 * published only when it is complete, so one that is there is kept.
 * @throws the reason of the signal, once it is aborted
 * @throws Failure when a file cannot be written
 */
async function assemble(
  { folder, encode }: WorkDeps,
  job: WholeJob,
  signal: AbortSignal,
): Promise<void> {
  const spoken = job.segments.filter(({ status }) => status === 'success');
  if (spoken.length === 0 || job.segments.length === 1) return;
  const name = wholeFile(job);
  if ((await folder.find(job.id, name)) === undefined) {
    const output = await folder.create(job.id, name);
    const { format, gainDb } = job;
    try {
      await writeSpeech({ output, encode, format, gainDb }, speechOf(job, folder, signal));
    } catch (error) {
      await output.abandon();
      throw error;
    }
  }
  for (const { index } of spoken) await folder.remove(job.id, samplesFile(index));
}

async function* speechOf(
  job: WholeJob,
  folder: AudioFolder,
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk> {
  for (const { index, status, sampleRate } of job.segments) {
    if (status !== 'success' || sampleRate === undefined) continue;
    const file = await folder.find(job.id, samplesFile(index));
    if (file === undefined) throw new Error(`the samples of segment ${index} are gone`);
    for await (const chunk of readSamples(file, sampleRate)) {
      signal.throwIfAborted();
      yield chunk;
    }
  }
}

/** How often and how long it waits for a database that is held, on top of what the store waits. */
const WRITES = 5;
const WRITE_RETRY_MS = 500;

async function note(
  { store, owner, clock }: WorkDeps,
  jobId: string,
  step: Step,
): Promise<WholeJob | undefined> {
  for (let turn = 1; ; turn += 1) {
    try {
      return store.write((db) => advanceJob(db, { jobId, owner, now: clock.now(), ...step }));
    } catch (error) {
      const isHeld = error instanceof StoreError && error.reason === 'locked';
      if (!isHeld || turn === WRITES) throw error;
      await clock.sleep(WRITE_RETRY_MS);
    }
  }
}
