import type { Output } from '../../durable/output.ts';
import { Failure } from '../../errors/failure.ts';
import type { SpeechLength } from '../engine/encode/mp3-file-head.ts';
import { EngineError } from '../engine/speech-engine.ts';
import { storageFullError } from '../service-error.ts';
import type { AudioFolder } from '../speech/audio-files.ts';
import { writeSpeech } from '../speech/audio-files.ts';
import type { EncodeSpeech } from '../speech/encode.ts';
import type { SpeakingVoice } from '../voices/catalogue.ts';
import { samplesFile, segmentFile } from './job-files.ts';
import type { SegmentRecord, WholeJob } from './job-records.ts';
import { keepSamples } from './samples.ts';

export type SegmentResult =
  | { readonly outcome: 'success'; readonly length: SpeechLength }
  | { readonly outcome: 'skipped' }
  | { readonly outcome: 'fail'; readonly error: unknown };

export interface SegmentWork {
  readonly job: WholeJob;
  readonly segment: SegmentRecord;
  readonly voice: SpeakingVoice;
  readonly folder: AudioFolder;
  readonly encode: EncodeSpeech;
  readonly signal: AbortSignal;
}

/**
 * Speaks one segment into its file, and into one with its samples where there are other segments.
 * @throws the reason of the signal, once it is aborted
 * @throws Failure when a file cannot be written
 */
export async function speakSegment(work: SegmentWork): Promise<SegmentResult> {
  const { job, segment, folder, signal } = work;
  signal.throwIfAborted();
  const outputs = [await folder.create(job.id, segmentFile(segment.index, job.format))];
  try {
    if (job.segments.length > 1) {
      outputs.push(await folder.create(job.id, samplesFile(segment.index)));
    }
    return { outcome: 'success', length: await speak(work, outputs) };
  } catch (error) {
    for (const output of outputs) await output.abandon();
    signal.throwIfAborted();
    if (error instanceof Failure || storageFullError(error) !== undefined) throw error;
    const isUnspeakable = error instanceof EngineError && error.reason === 'unspeakable';
    return isUnspeakable ? { outcome: 'skipped' } : { outcome: 'fail', error };
  }
}

async function speak(
  { job, segment, voice, encode, signal }: SegmentWork,
  [output, samples]: readonly Output[],
): Promise<SpeechLength> {
  if (output === undefined) throw new TypeError('a segment needs a file');
  const { format, gainDb, speed, pitch } = job;
  const request = { text: segment.text, voice: voice.engine.voice, speed, pitch };
  const chunks = voice.speaker.synthesize(request, signal);
  const length = await writeSpeech(
    { output, encode, format, gainDb },
    samples === undefined ? chunks : keepSamples(chunks, samples),
  );
  await samples?.publish();
  return length;
}
