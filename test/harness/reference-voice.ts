import type { Sound } from './median-pitch.ts';

export interface ReferenceVoice {
  readonly medianHz: number;
  readonly seconds?: number;
  /** Semitones from the lowest to the highest. */
  readonly rangeSemitones?: number;
  readonly sampleRate?: number;
}

/** Resonances of a few vowels, in hertz. */
const VOWELS = [
  [730, 1090, 2440],
  [270, 2290, 3010],
  [300, 870, 2240],
  [530, 1840, 2480],
  [570, 840, 2410],
] as const;
const BANDWIDTHS = [80, 100, 140] as const;
const VOWEL_SECONDS = 0.18;

/**
 * An artificial voice: pulses at a pitch that swings around its median once a second, through the
 * resonances of vowels, with a pause each time. The same each time.
 */
export function referenceVoice(voice: ReferenceVoice): Sound {
  const { medianHz, seconds = 4, rangeSemitones = 6, sampleRate = 16_000 } = voice;
  const samples = new Float32Array(Math.round(seconds * sampleRate));
  const state = VOWELS[0].map(() => [0, 0]);
  let phase = 0;
  for (let index = 0; index < samples.length; index += 1) {
    const time = index / sampleRate;
    const swing = (rangeSemitones / 2) * Math.sin(2 * Math.PI * time);
    phase += (medianHz * 2 ** (swing / 12)) / sampleRate;
    const isPulse = phase >= 1;
    if (isPulse) phase -= 1;
    const vowel = VOWELS[Math.floor(time / VOWEL_SECONDS) % VOWELS.length] ?? VOWELS[0];
    let value = isPulse && time % 1 < 0.95 ? 1 : 0;
    for (const [place, hz] of vowel.entries()) {
      value = resonate(state[place] ?? [], value, {
        hz,
        bandwidth: BANDWIDTHS[place] ?? 100,
        sampleRate,
      });
    }
    samples[index] = value;
  }
  return { samples: normalized(samples), sampleRate };
}

interface Resonance {
  readonly hz: number;
  readonly bandwidth: number;
  readonly sampleRate: number;
}

/** A resonator of two poles with a gain of 1 at rest; `state` holds its last two values. */
function resonate(
  state: number[],
  input: number,
  { hz, bandwidth, sampleRate }: Resonance,
): number {
  const radius = Math.exp((-Math.PI * bandwidth) / sampleRate);
  const turn = 2 * radius * Math.cos((2 * Math.PI * hz) / sampleRate);
  const [last = 0, before = 0] = state;
  const output = input * (1 - turn + radius * radius) + turn * last - radius * radius * before;
  state.splice(0, 2, output, last);
  return output;
}

function normalized(samples: Float32Array): Float32Array {
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  return samples.map((sample) => (sample / peak) * 0.7);
}
