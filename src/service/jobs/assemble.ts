import type { AudioFolder } from '../speech/audio-files.ts';
import { writeSpeech } from '../speech/audio-files.ts';
import type { SpeechChunk } from '../engine/speech-engine.ts';
import type { EncodeSpeech } from '../speech/encode.ts';
import { samplesFile, wholeFile } from './job-files.ts';
import type { WholeJob } from './job-records.ts';
import { readSamples } from './samples.ts';

export interface Assembly {
  readonly job: WholeJob;
  readonly folder: AudioFolder;
  readonly encode: EncodeSpeech;
  readonly signal: AbortSignal;
}

/**
 * Makes the whole of a job's spoken segments, and removes their samples afterwards. What an earlier
 * owner finished is left as it is: the whole is published only when it is complete.
 * @throws the reason of the signal, once it is aborted
 * @throws Failure when a file cannot be written
 */
export async function assemble({ job, folder, encode, signal }: Assembly): Promise<void> {
  const spoken = job.segments.filter(({ status }) => status === 'success');
  if (spoken.length === 0 || job.segments.length === 1) return;
  const name = wholeFile(job);
  if ((await folder.find(job.id, name)) === undefined) {
    const output = await folder.create(job.id, name);
    const { format, gainDb } = job;
    try {
      const chunks = speechOf({ job, folder, signal });
      await writeSpeech({ output, encode, format, gainDb }, chunks);
    } catch (error) {
      await output.abandon();
      throw error;
    }
  }
  for (const { index } of spoken) await folder.remove(job.id, samplesFile(index));
}

async function* speechOf({
  job,
  folder,
  signal,
}: Omit<Assembly, 'encode'>): AsyncGenerator<SpeechChunk> {
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
