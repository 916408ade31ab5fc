import { array, assert, double, integer, property } from 'fast-check';
import { expect, test } from 'vitest';
import { PeakLimiter } from '../../../../src/audio/encode/peak-limiter.ts';
import { independentMeter } from '../../../harness/independent-meter.ts';
import { seededSamples } from './sounds.ts';

const RATE = 16_000;
const CEILING = 0.8;
const CEILING_DB = 20 * Math.log10(CEILING);

function limited(samples: Float32Array, lengths: readonly number[] = [samples.length]) {
  const limiter = new PeakLimiter(RATE, CEILING);
  const parts: number[] = [];
  for (let at = 0, turn = 0; at < samples.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    parts.push(...limiter.push(samples.subarray(at, at + length)));
    at += length;
  }
  return Float32Array.from([...parts, ...limiter.finish()]);
}

test('passes quiet sound on, sample for sample and in place', () => {
  const quiet = sine({ hertz: 440, level: 0.79, seconds: 1, rate: RATE });
  expect(limited(quiet)).toEqual(quiet);
  expect(limited(new Float32Array(0))).toHaveLength(0);
  expect(limited(Float32Array.of(0.5))).toEqual(Float32Array.of(0.5));
});

test('keeps true peaks below the ceiling, also those between samples', async () => {
  const { truePeakDb } = await independentMeter();
  // The samples of this tone have a peak of 0.71 of the level, because they miss its crests.
  const tone = sine({ hertz: 4_000, level: 1.1, seconds: 1, rate: RATE, phase: Math.PI / 4 });
  expect(Math.max(...tone)).toBeLessThan(CEILING);
  const before = truePeakDb(RATE, tone);
  expect(before).toBeGreaterThan(0);
  expect(truePeakDb(RATE, limited(tone))).toBeLessThan(CEILING_DB + 0.2);
  for (const gain of [1.5, 4, 20]) {
    const noise = seededSamples(RATE, gain);
    expect(truePeakDb(RATE, limited(noise))).toBeLessThan(CEILING_DB + 0.7);
  }
});

test('returns to full gain after a peak, without a step', () => {
  const sound = sine({ hertz: 200, level: 0.5, seconds: 2, rate: RATE });
  const loud = sound.map((sample, at) => (at > 8_000 && at < 9_000 ? sample * 8 : sample));
  const out = limited(loud);
  expect(out).toHaveLength(sound.length);
  expect(out.subarray(0, 7_900)).toEqual(sound.subarray(0, 7_900));
  expect(out.subarray(24_000)).toEqual(sound.subarray(24_000));
  const gains = [...out].map((sample, at) => sample / (sound[at] ?? 1));
  const audible = gains.filter((_, at) => at > 9_100 && Math.abs(sound[at] ?? 0) > 0.01);
  for (const [at, gain] of audible.entries()) {
    expect(gain - (audible[at - 1] ?? gain)).toBeLessThan(0.01);
  }
});

test('gives the same, however the sound is cut', () => {
  const noise = seededSamples(6_000, 2);
  const whole = limited(noise);
  assert(
    property(array(integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 6 }), (lengths) => {
      expect(limited(noise, lengths)).toEqual(whole);
    }),
    { numRuns: 20 },
  );
});

test('never exceeds the ceiling, whatever comes', () => {
  const level = double({ min: -30, max: 30, noNaN: true });
  assert(
    property(array(level, { maxLength: 400 }), (levels) => {
      const out = limited(Float32Array.from(levels));
      expect(out).toHaveLength(levels.length);
      for (const sample of out) expect(Math.abs(sample)).toBeLessThanOrEqual(CEILING + 1e-6);
    }),
  );
});

/** A tone; `phase` in radians. */
function sine(tone: {
  readonly hertz: number;
  readonly level: number;
  readonly seconds: number;
  readonly rate: number;
  readonly phase?: number;
}): Float32Array {
  const { hertz, level, phase = 0, rate, seconds } = tone;
  return Float32Array.from(
    { length: Math.round(seconds * rate) },
    (_, at) => level * Math.sin((2 * Math.PI * hertz * at) / rate + phase),
  );
}
