import type { Sound } from './median-pitch.ts';

const FRAME_SECONDS = 0.03;
const HOP_SECONDS = 0.1;
const HIGHEST_HZ = 8_000;
const STEP_HZ = 40;
/** A frame this much below the loudest, in power, does not count. */
const QUIET = 0.01;

/**
 * The mean frequency of the spectrum of a voice, in hertz: the median over loud frames of the frequency of the middle of the
 * power, by a plain Fourier sum. Written for the tests alone, so that the program's own measuring has a witness.
 */
export function meanFrequency({ samples, sampleRate }: Sound): number {
  const length = Math.round(sampleRate * FRAME_SECONDS);
  const hop = Math.round(sampleRate * HOP_SECONDS);
  const frames: { readonly power: number; readonly hertz: number }[] = [];
  for (let start = 0; start + length < samples.length; start += hop) {
    frames.push(frameOf(samples.subarray(start, start + length), sampleRate));
  }
  const loudest = frames.reduce((most, { power }) => Math.max(most, power), 0);
  const heard = frames.filter(({ power }) => power > loudest * QUIET).map(({ hertz }) => hertz);
  return heard.toSorted((one, other) => one - other)[Math.floor(heard.length / 2)] ?? Number.NaN;
}

function frameOf(frame: Float32Array, sampleRate: number) {
  let [power, moment] = [0, 0];
  const windowed = frame.map(
    (sample, at) => sample * (0.5 - 0.5 * Math.cos((2 * Math.PI * at) / frame.length)),
  );
  for (let hertz = STEP_HZ; hertz < Math.min(HIGHEST_HZ, sampleRate / 2); hertz += STEP_HZ) {
    let [re, im] = [0, 0];
    const [turnRe, turnIm] = [
      Math.cos((2 * Math.PI * hertz) / sampleRate),
      Math.sin((2 * Math.PI * hertz) / sampleRate),
    ];
    let [unitRe, unitIm] = [1, 0];
    for (const sample of windowed) {
      re += sample * unitRe;
      im += sample * unitIm;
      [unitRe, unitIm] = [unitRe * turnRe - unitIm * turnIm, unitRe * turnIm + unitIm * turnRe];
    }
    const own = re * re + im * im;
    power += own;
    moment += own * hertz ** 2;
  }
  return { power, hertz: Math.sqrt(moment / power) };
}
