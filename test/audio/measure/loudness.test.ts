import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LoudnessMeter } from '../../../src/audio/measure.ts';
import { independentMeter } from '../../harness/independent-meter.ts';

describe('loudness', () => {
  test.each([
    [48_000, 1, -3.01],
    [44_100, 1, -3.01],
    [16_000, 1, -3.01],
    [48_000, 2, 0],
  ])('of a tone at full scale, %i Hz and %i channels, is %f LUFS', (rate, channels, expected) => {
    const tone = sine({ rate, hertz: 997, seconds: 2, level: 1 });
    const meter = new LoudnessMeter(channels, rate);
    meter.write(Array.from({ length: channels }, () => tone));
    expect(meter.integrated).toBeCloseTo(expected, 1);
  });

  test('excludes pauses, and is undefined for silence', () => {
    const rate = 48_000;
    const tone = sine({ rate, hertz: 997, seconds: 4, level: 0.1 });
    const meter = new LoudnessMeter(1, rate);
    meter.write([tone]);
    const alone = meter.integrated;
    meter.write([new Float32Array(rate * 20)]);
    expect(meter.integrated).toBeCloseTo(alone ?? 0, 0);
    const silent = new LoudnessMeter(1, rate);
    silent.write([new Float32Array(rate)]);
    expect(silent.integrated).toBeUndefined();
  });

  test('agrees with an independent meter, for any chunks', async () => {
    const { mono, stereo } = await independentMeter();
    fc.assert(
      fc.property(sound(), fc.array(fc.integer({ min: 1, max: 9_000 })), (heard, cuts) => {
        const { channels, rate } = heard;
        const meter = new LoudnessMeter(channels.length, rate);
        let from = 0;
        for (const length of [...cuts, Infinity]) {
          meter.write(channels.map((samples) => samples.subarray(from, from + length)));
          from += length;
        }
        const [left = new Float32Array(0), right] = channels;
        const theirs = right === undefined ? mono(rate, left) : stereo(rate, left, right);
        if (Number.isFinite(theirs)) expect(meter.integrated).toBeCloseTo(theirs, 1);
        else expect(meter.integrated).toBeUndefined();
      }),
      { numRuns: 40 },
    );
  });
});

function sound(): fc.Arbitrary<{ readonly channels: Float32Array[]; readonly rate: number }> {
  const tone = fc.record({
    hertz: fc.integer({ min: 30, max: 7_000 }),
    level: fc.double({ min: 0, max: 1, noNaN: true }),
    seconds: fc.double({ min: 0.1, max: 2, noNaN: true }),
  });
  const tones = fc.array(tone, { minLength: 1, maxLength: 4 });
  return fc
    .record({
      tones,
      rate: fc.constantFrom(16_000, 22_050, 44_100, 48_000),
      count: fc.constantFrom(1, 2),
    })
    .map(({ count, rate, tones: parts }) => {
      const samples = Float32Array.from(parts.flatMap((part) => [...sine({ rate, ...part })]));
      const quieter = samples.map((sample) => sample * 0.3);
      return { rate, channels: [samples, quieter].slice(0, count) };
    });
}

function sine(tone: {
  readonly rate: number;
  readonly hertz: number;
  readonly seconds: number;
  readonly level: number;
}): Float32Array {
  const { hertz, level, rate, seconds } = tone;
  return Float32Array.from(
    { length: Math.round(seconds * rate) },
    (_, index) => level * Math.sin((2 * Math.PI * hertz * index) / rate),
  );
}
