import { EventEmitter, once } from 'node:events';
import type { Static } from 'typebox';
import { Type } from 'typebox';
import {
  BYTES_PER_SAMPLE,
  pcmBytes,
  samplesOf,
  WAV_HEADER_LENGTH,
  wavHeader,
} from '../../audio/encode/pcm.ts';
import type { SpeechLength } from '../../audio/encode/file-head.ts';
import { mapOf } from '../../contract/schemas.ts';
import type { SpeechFormat } from '../../contract/speech.ts';
import { Pronunciations, SPEECH_FORMATS } from '../../contract/speech.ts';
import type { Output } from '../../durable/output.ts';
import { Failure } from '../../errors/failure.ts';
import type { SpeechChunk } from '../engine/speech-engine.ts';
import { EngineError, engineMessageOf, SpeechLimit } from '../engine/speech-engine.ts';
import { abortable } from '../../system/concurrency.ts';
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
  readonly encode: EncodeSpeech;
  readonly audio: AudioFolder;
  readonly report: (event: ServiceEvent) => void;
}

/**
 * Creates the job type for speech. A job of one segment writes its audio. A job of several writes the samples of each
 * segment, and encodes the whole from them, beside the speaking.
 */
export function createSpeechJobs(deps: SpeechJobDeps, catalogue: Catalogue): JobType {
  const wholes = new Map<string, WholeSpeech>();
  return {
    describeFailure: engineMessageOf,
    async work(job, signal) {
      if (job.attempts > 1 && !wholes.has(job.id)) await deps.audio.sweep(job.id);
      const isSpoken = job.segments.some(({ status }) => status === 'success');
      if (job.segments.length > 1 && isSpoken) {
        const whole = wholes.get(job.id) ?? writeWhole(deps, job);
        wholes.set(job.id, whole);
        whole.add(job.segments);
      }
      const segment = job.segments.find(({ status }) => status === 'pending');
      if (segment !== undefined) {
        await wholes.get(job.id)?.approach(segment.index, signal);
        return segmentStep(deps, catalogue, job, segment, signal);
      }
      await abortable(wholes.get(job.id)?.published ?? Promise.resolve(), signal);
      if (storedOrder(StoredSpeech, job).format === 'wav') {
        for (const { index } of job.segments) await deps.audio.remove(job.id, samplesFile(index));
      }
      return { event: { type: 'finished' } };
    },
    async leave(jobId) {
      await wholes.get(jobId)?.stop();
      wholes.delete(jobId);
    },
  };
}

async function segmentStep(
  deps: SpeechJobDeps,
  catalogue: Catalogue,
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
  const voice = catalogue.of(job.accountId).voice(voiceId);
  if (voice === undefined) throw new Error(`Voice not found: ${voiceId}`);
  signal.throwIfAborted();
  const isWhole = job.segments.length === 1;
  const name = isWhole ? segmentFile(index, format) : samplesFile(index);
  const output = await deps.audio.create(job.id, name);
  try {
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
    const length = await (isWhole
      ? writeSpeech({ output, encode: deps.encode, format, gainDb }, chunks)
      : writeSamples(output, format, chunks));
    return { event: stepTo('success'), length };
  } catch (error) {
    await output.abandon();
    signal.throwIfAborted();
    if (error instanceof Failure || storageFullError(error) !== undefined) throw error;
    if (error instanceof EngineError && error.reason === 'unspeakable') {
      return { event: stepTo('skipped') };
    }
    deps.report({ type: 'failure', requestId: job.id, error });
    return { event: stepTo('fail'), errorMessage: engineMessageOf(error) };
  }
}

/** The complete audio of a job, which is encoded in the order of the segments while later segments are spoken. */
interface WholeSpeech {
  /** Settles when the file is complete. */
  readonly published: Promise<void>;
  /** Tells which segments are spoken by now. */
  add(segments: readonly SegmentRecord[]): void;
  /**
   * Resolves when only a few segments before `index` are not encoded yet. Otherwise the threads that speak would take
   * the processors from the encoder, and stand still while it encodes the rest at the end.
   */
  approach(index: number, signal: AbortSignal): Promise<void>;
  /** Ends the encoding of an incomplete file, and deletes the file. */
  stop(): Promise<void>;
}

/** Number of segments, of at most 1,000 characters each, that may wait for the encoder. */
const MOST_AHEAD = 3;

function writeWhole(deps: SpeechJobDeps, job: StoredJob): WholeSpeech {
  const stopping = new AbortController();
  const changes = new EventEmitter<{ spoken: []; encoding: [] }>();
  let { segments } = job;
  let encoding = 0;
  const moveTo = (index: number): void => {
    encoding = index;
    changes.emit('encoding');
  };
  async function* spoken(): AsyncGenerator<SpeechChunk> {
    for (const { index } of job.segments) {
      moveTo(index);
      while (segments[index]?.status === 'pending') {
        await abortable(once(changes, 'spoken'), stopping.signal);
      }
      yield* readSegment(deps.audio, job, segments[index], stopping.signal);
    }
  }
  const published = publishWhole(deps, job, spoken());
  // The step that waits for the file throws the failure.
  void published.catch(() => {}).then(() => moveTo(job.segments.length));
  return {
    published,
    add(changed) {
      segments = changed;
      changes.emit('spoken');
    },
    async approach(index, signal) {
      const isFar = (): boolean => index - encoding > MOST_AHEAD;
      while (isFar()) await abortable(once(changes, 'encoding'), signal);
    },
    async stop() {
      stopping.abort(new Error('the job was left'));
      await published.catch(() => {});
    },
  };
}

// Repeatable: keeps an existing file.
async function publishWhole(
  { audio: folder, encode }: SpeechJobDeps,
  job: StoredJob,
  chunks: AsyncIterable<SpeechChunk>,
): Promise<void> {
  const name = wholeFile(job);
  if ((await folder.find(job.id, name)) !== undefined) return;
  const output = await folder.create(job.id, name);
  const { format, gainDb } = storedOrder(StoredSpeech, job);
  try {
    await writeSpeech({ output, encode, format, gainDb }, chunks);
  } catch (error) {
    await output.abandon();
    throw error;
  }
}

/**
 * Returns the audio of a spoken segment of a job; undefined if its files were deleted. The first time, cuts it from the
 * complete audio if that is wav, or else encodes it from its samples.
 */
export async function findSegmentAudio(
  { audio: folder, encode }: SpeechJobDeps,
  job: StoredJob,
  segment: SegmentRecord,
): Promise<StoredAudio | undefined> {
  const { format, gainDb } = storedOrder(StoredSpeech, job);
  const name = segmentFile(segment.index, format);
  const found = await folder.find(job.id, name);
  if (found !== undefined) return found;
  const samples = await folder.find(job.id, samplesFile(segment.index));
  const whole = format === 'wav' ? await folder.find(job.id, wholeFile(job)) : undefined;
  if (samples === undefined && whole === undefined) return undefined;
  const output = await folder.create(job.id, name);
  try {
    if (whole === undefined) {
      const chunks = readSegment(folder, job, segment, new AbortController().signal);
      await writeSpeech({ output, encode, format, gainDb }, chunks);
    } else await writePart(output, whole, job, segment);
  } catch (error) {
    await output.abandon();
    throw error;
  }
  return folder.find(job.id, name);
}

/** Writes the wav file of a segment from the complete wav file. */
async function writePart(
  output: Output,
  whole: StoredAudio,
  { segments }: StoredJob,
  { index, sampleRate = 0, samples = 0 }: SegmentRecord,
): Promise<void> {
  const before = segments.slice(0, index).reduce((sum, segment) => sum + (segment.samples ?? 0), 0);
  const start = WAV_HEADER_LENGTH + before * BYTES_PER_SAMPLE;
  await output.write(wavHeader(sampleRate, samples));
  for await (const piece of whole.read(start, start + samples * BYTES_PER_SAMPLE)) {
    await output.write(piece);
  }
  await output.publish();
}

async function writeSamples(
  output: Output,
  format: SpeechFormat,
  chunks: AsyncIterable<SpeechChunk>,
): Promise<SpeechLength> {
  const limit = new SpeechLimit();
  const length = { samples: 0, sampleRate: 0 };
  for await (const chunk of chunks) {
    limit.add(chunk);
    length.samples += chunk.samples.length;
    length.sampleRate = chunk.sampleRate;
    const { buffer } = chunk.samples.slice();
    await output.write(format === 'wav' ? new Uint8Array(buffer) : pcmBytes(chunk.samples));
  }
  if (length.samples === 0) throw new EngineError('failed', 'The engine produced no audio.');
  await output.publish();
  return length;
}

async function* readSegment(
  folder: AudioFolder,
  job: StoredJob,
  segment: SegmentRecord | undefined,
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk> {
  if (segment?.status !== 'success' || segment.sampleRate === undefined) return;
  const { index, sampleRate } = segment;
  const { format } = storedOrder(StoredSpeech, job);
  const file = await folder.find(job.id, samplesFile(index));
  if (file === undefined) throw new Error(`The samples of segment ${index} are missing`);
  // Pieces have whole samples.
  for await (const piece of file.read()) {
    signal.throwIfAborted();
    const samples = format === 'wav' ? new Float32Array(piece.slice().buffer) : samplesOf(piece);
    yield { samples, sampleRate };
  }
}

/** Returns the file name of a segment's audio, in the folder of the job. */
function segmentFile(index: number, format: SpeechFormat): string {
  return `segment-${index}.${format}`;
}

// The samples of a segment, from which the whole is encoded, and the segment when it is requested: with 16 bits, or as
// floats in the byte order of this machine for a wav file, which is exact to its last bit and replaces them.
function samplesFile(index: number): string {
  return `segment-${index}.pcm`;
}

/** Returns the file name of a job's complete audio. If the job has one segment, this is the file of the segment. */
export function wholeFile(job: StoredJob): string {
  const { format } = storedOrder(StoredSpeech, job);
  return job.segments.length === 1 ? segmentFile(0, format) : `audio.${format}`;
}
