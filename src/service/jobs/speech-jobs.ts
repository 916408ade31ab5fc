import type { Static } from 'typebox';
import { Type } from 'typebox';
import { mapOf } from '../../contract/schemas.ts';
import type { SpeechFormat } from '../../contract/speech.ts';
import { Pronunciations, SPEECH_FORMATS } from '../../contract/speech.ts';
import type { Output } from '../../durable/output.ts';
import { Failure } from '../../errors/failure.ts';
import type { SpeechChunk } from '../engine/speech-engine.ts';
import { EngineError, engineMessageOf } from '../engine/speech-engine.ts';
import type { ServiceEvent } from '../running-service.ts';
import { storageFullError } from '../service-error.ts';
import type { AudioFolder, StoredAudio } from '../speech/audio-files.ts';
import { writeSpeech } from '../speech/audio-files.ts';
import type { EncodeSpeech } from '../speech/encode.ts';
import { pronouncedIn } from '../speech/pronunciations.ts';
import type { Catalogue } from '../voices/catalogue.ts';
import type { JobStep, JobType } from './work-on-job.ts';
import type { StoredJob, SegmentRecord } from './job-records.ts';
import { storedOrder } from './job-records.ts';

/** Stored parameters of a speech job. The text is stored with the segments. */
export const StoredSpeech = Type.Object({
  voiceId: Type.String(),
  modelId: Type.String(),
  format: Type.Enum([...SPEECH_FORMATS]),
  speed: Type.Number(),
  pitch: Type.Number(),
  /** False if the request turns off the reading of numbers and abbreviations as words; otherwise missing. */
  textNormalization: Type.Optional(Type.Boolean()),
  gainDb: Type.Number(),
  /**
   * Values of the engine's controls by name; missing if the request sets none. Speed and pitch have their own fields.
   */
  controls: Type.Optional(mapOf(Type.Union([Type.String(), Type.Number()]))),
  /** Pronunciations of words in the text; missing if the request has none. */
  pronunciations: Type.Optional(Pronunciations),
  /** Names of request parameters that were ignored because the model does not support them. */
  ignored: Type.Array(Type.String()),
  /** Ranges of the text that the voice leaves out, in the format of `X-Foley-Unspoken`. Older jobs lack this field. */
  unspoken: Type.Optional(Type.String()),
  textPreview: Type.String(),
  textFingerprint: Type.String(),
});
export type StoredSpeech = Static<typeof StoredSpeech>;

interface SpeechJobDeps {
  readonly catalogue: Catalogue;
  readonly encode: EncodeSpeech;
  readonly folder: AudioFolder;
  readonly report: (event: ServiceEvent) => void;
}

/** Creates the job type for speech. A speech job speaks its text segment by segment and then joins the segments. */
export function createSpeechJobs(deps: SpeechJobDeps): JobType {
  return {
    describeFailure: engineMessageOf,
    async work(job, signal) {
      if (job.attempts > 1) await deps.folder.sweep(job.id);
      const segment = job.segments.find(({ status }) => status === 'pending');
      if (segment !== undefined) return segmentStep(deps, job, segment, signal);
      await joinSegments(deps, job, signal);
      return { event: { type: 'finished' } };
    },
  };
}

async function segmentStep(
  deps: SpeechJobDeps,
  job: StoredJob,
  { index, text }: SegmentRecord,
  signal: AbortSignal,
): Promise<JobStep> {
  const stepTo = (outcome: 'success' | 'skipped' | 'fail') =>
    ({ type: 'segment_finished', index, outcome }) as const;
  if (job.fault === 'partial_fail' && index === job.segments.length - 1) {
    return { event: stepTo('fail') };
  }
  const {
    controls,
    format,
    gainDb,
    modelId,
    pitch,
    pronunciations,
    speed,
    textNormalization = true,
    voiceId,
  } = storedOrder(StoredSpeech, job);
  const voice = deps.catalogue.of(job.accountId).voice(voiceId);
  if (voice === undefined) throw new Error(`Voice not found: ${voiceId}`);
  signal.throwIfAborted();
  const output = await deps.folder.create(job.id, segmentFile(index, format));
  const outputs = [output];
  try {
    const isJoined = job.segments.length > 1;
    const samples = isJoined ? await deps.folder.create(job.id, samplesFile(index)) : undefined;
    if (samples !== undefined) outputs.push(samples);
    const request = {
      text,
      voice: voice.engine.voice,
      speed,
      pitch,
      textNormalization,
      pronounced: pronouncedIn(text, pronunciations),
      ...(voice.family === 'local' ? { model: modelId, controls: controls ?? {} } : {}),
    };
    const chunks = voice.speaker.synthesize(request, signal);
    const length = await writeSpeech(
      { output, encode: deps.encode, format, gainDb },
      samples === undefined ? chunks : copySamples(chunks, samples),
    );
    await samples?.publish();
    return { event: stepTo('success'), length };
  } catch (error) {
    for (const opened of outputs) await opened.abandon();
    signal.throwIfAborted();
    if (error instanceof Failure || storageFullError(error) !== undefined) throw error;
    if (error instanceof EngineError && error.reason === 'unspeakable') {
      return { event: stepTo('skipped') };
    }
    deps.report({ type: 'failure', requestId: job.id, error });
    return { event: stepTo('fail'), errorMessage: engineMessageOf(error) };
  }
}

// Repeatable: keeps an existing file. Deletes the raw samples of the segments.
async function joinSegments(
  { folder, encode }: SpeechJobDeps,
  job: StoredJob,
  signal: AbortSignal,
): Promise<void> {
  const spoken = job.segments.filter(({ status }) => status === 'success');
  if (spoken.length === 0 || job.segments.length === 1) return;
  const name = wholeFile(job);
  if ((await folder.find(job.id, name)) === undefined) {
    const output = await folder.create(job.id, name);
    const { format, gainDb } = storedOrder(StoredSpeech, job);
    try {
      await writeSpeech({ output, encode, format, gainDb }, readSegments(job, folder, signal));
    } catch (error) {
      await output.abandon();
      throw error;
    }
  }
  for (const { index } of spoken) await folder.remove(job.id, samplesFile(index));
}

async function* readSegments(
  job: StoredJob,
  folder: AudioFolder,
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk> {
  for (const { index, status, sampleRate } of job.segments) {
    if (status !== 'success' || sampleRate === undefined) continue;
    const file = await folder.find(job.id, samplesFile(index));
    if (file === undefined) throw new Error(`The samples of segment ${index} are missing`);
    for await (const chunk of readSamples(file, sampleRate)) {
      signal.throwIfAborted();
      yield chunk;
    }
  }
}

// The samples are in the byte order of this machine.
async function* copySamples(
  chunks: AsyncIterable<SpeechChunk>,
  output: Output,
): AsyncGenerator<SpeechChunk> {
  for await (const chunk of chunks) {
    const { buffer, byteOffset, byteLength } = chunk.samples.slice();
    await output.write(new Uint8Array(buffer, byteOffset, byteLength));
    yield chunk;
  }
}

const SAMPLE_BYTES = Float32Array.BYTES_PER_ELEMENT;

async function* readSamples(file: StoredAudio, sampleRate: number): AsyncGenerator<SpeechChunk> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const piece of file.read()) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const whole = bytes.length - (bytes.length % SAMPLE_BYTES);
    // A copy, since the numbers of a Float32Array have to be aligned.
    const samples = new Float32Array(new Uint8Array(bytes.subarray(0, whole)).buffer);
    yield { samples, sampleRate };
    rest = bytes.subarray(whole);
  }
}

/** Returns the file name of a segment's audio, in the folder of the job. */
export function segmentFile(index: number, format: SpeechFormat): string {
  return `segment-${index}.${format}`;
}

// Raw samples, which are deleted after the segments are joined.
function samplesFile(index: number): string {
  return `segment-${index}.f32`;
}

/** Returns the file name of a job's complete audio. If the job has one segment, this is the file of the segment. */
export function wholeFile(job: StoredJob): string {
  const { format } = storedOrder(StoredSpeech, job);
  return job.segments.length === 1 ? segmentFile(0, format) : `audio.${format}`;
}
