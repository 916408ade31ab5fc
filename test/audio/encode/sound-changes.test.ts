import { describe, expect, test } from 'vitest';
import type { StoredSound } from '../../../src/audio/encode/sound-changes.ts';
import { changedSound, planChanges } from '../../../src/audio/encode/sound-changes.ts';
import type { SoundChanges } from '../../../src/durable/output.ts';
import { concatSamples } from '../../../src/audio/resample.ts';
import { independentMeter } from '../../harness/independent-meter.ts';

const RATE = 24_000;
const meter = await independentMeter();

/** Bursts of a tone with sharp peaks, like speech, between silences. Lengths are in seconds. */
function speechLike(before: number, seconds: number, after: number, level: number): Float32Array {
  const [from, to] = [before * RATE, (before + seconds) * RATE];
  return Float32Array.from({ length: Math.round((before + seconds + after) * RATE) }, (_, at) => {
    if (at < from || at >= to) return 0;
    const syllable = 0.4 + 0.6 * Math.abs(Math.sin((Math.PI * 4 * at) / RATE));
    const pulse = at % 200 < 6 ? 4 : 1;
    return level * syllable * pulse * Math.sin((2 * Math.PI * 300 * at) / RATE + 0.5);
  });
}

function stored(samples: Float32Array): StoredSound {
  return {
    sampleRate: RATE,
    async *read() {
      for (let at = 0; at < samples.length; at += 1_000) yield samples.subarray(at, at + 1_000);
    },
  };
}

async function change(samples: Float32Array, changes: SoundChanges): Promise<Float32Array> {
  const sound = stored(samples);
  const plan = await planChanges(sound, 'wav', changes);
  const pieces: Float32Array[] = [];
  for await (const piece of changedSound(sound, 'wav', plan)) pieces.push(piece);
  return concatSamples(pieces);
}

describe('the loudness of a sound', () => {
  test.each([
    [0.02, -16],
    [0.02, -30],
    [0.2, -16],
    [0.2, -23],
  ])('at level %f reaches %i LUFS, and no true peak exceeds -1 dBTP', async (level, wanted) => {
    const changed = await change(speechLike(0.3, 6, 0.3, level), { loudness: wanted });
    expect(meter.mono(RATE, changed)).toBeGreaterThan(wanted - 0.2);
    expect(meter.mono(RATE, changed)).toBeLessThan(wanted + 0.2);
    expect(meter.truePeakDb(RATE, changed)).toBeLessThan(-1);
  });

  test('of a sound shorter than a measured block is raised too', async () => {
    const short = speechLike(0, 0.2, 0, 0.01);
    const changed = await change(short, { loudness: -16 });
    expect(changed).toHaveLength(short.length);
    expect(Math.max(...changed)).toBeGreaterThan(5 * Math.max(...short));
  });

  test('of silence stays unchanged', async () => {
    const silence = new Float32Array(RATE);
    expect(await change(silence, { loudness: -16, trim: true })).toEqual(silence);
    expect(await change(new Float32Array(0), { loudness: -16, trim: true })).toHaveLength(0);
  });
});

describe('the silence around a sound', () => {
  test('is shortened to 50 ms, and the samples between stay unchanged', async () => {
    const sound = speechLike(0.7, 2, 1.2, 0.2);
    const from = Math.round(0.65 * RATE);
    const changed = await change(sound, { trim: true });
    expect(changed).toEqual(sound.subarray(from, from + changed.length));
    expect(changed.length / RATE).toBeCloseTo(2.1, 2);
  });

  test('of less than 50 ms stays', async () => {
    const sound = speechLike(0.03, 1, 0.04, 0.2);
    expect(await change(sound, { trim: true })).toEqual(sound);
  });
});
