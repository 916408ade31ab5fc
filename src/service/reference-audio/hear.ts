import { createResampler } from '../engine/resample.ts';
import { listenToFile } from './listen-to-file.ts';
import type { FromListener, ToListener } from './messages.ts';
import { SoundProblem } from '../../audio/decode/sound-problem.ts';
import { ANALYSIS_RATE, VoiceAnalyser } from './voice-analyser.ts';

/** Does what the thread that listens is asked for. Never rejects. */
export async function hear(task: ToListener): Promise<FromListener> {
  const analyser = new VoiceAnalyser();
  let index = 0;
  try {
    if (task.kind === 'samples') await hearSamples(task, analyser);
    else {
      for (const file of task.files) {
        await listenToFile(file, analyser);
        index += 1;
      }
    }
    return { kind: 'heard', profile: analyser.profile() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof SoundProblem) return { kind: 'refused', index, problem: message };
    return { kind: 'failed', message };
  }
}

async function hearSamples(
  { samples, sampleRate }: Extract<ToListener, { kind: 'samples' }>,
  analyser: VoiceAnalyser,
): Promise<void> {
  const resampler = await createResampler(sampleRate, ANALYSIS_RATE);
  try {
    analyser.add(resampler.push(samples));
    analyser.add(resampler.finish());
  } finally {
    resampler.close();
  }
}
