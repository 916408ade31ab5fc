import type { DecodedAudio } from './decode-audio.ts';

/** So loud is a frame in which something is said, as the largest sample. */
const SOUND = 0.01;
const FRAME_MS = 5;

/**
 * Where sound begins after a silence, in milliseconds from the first decoded sample: a second opinion on
 * the times of words that follow a pause.
 * @param silenceMs how long it has to have been quiet before
 */
export function onsets(audio: DecodedAudio, silenceMs: number): readonly number[] {
  const [samples = new Float32Array()] = audio.channels;
  const frame = Math.round((audio.sampleRate * FRAME_MS) / 1000);
  const found: number[] = [];
  let quietFor = Infinity;
  for (let at = 0; at + frame <= samples.length; at += frame) {
    const isSound = samples.subarray(at, at + frame).some((sample) => Math.abs(sample) > SOUND);
    if (isSound && quietFor >= silenceMs) found.push((at / audio.sampleRate) * 1000);
    quietFor = isSound ? 0 : quietFor + FRAME_MS;
  }
  return found;
}

/** How far each time is from the nearest onset, on average. */
export function meanDistance(times: readonly number[], found: readonly number[]): number {
  const distances = times.map((time) => Math.min(...found.map((onset) => Math.abs(onset - time))));
  return distances.reduce((sum, one) => sum + one, 0) / distances.length;
}
