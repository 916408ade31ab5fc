import { describe, expect, test } from 'vitest';
import { variedVoice } from '../../../src/service/engine/hibari/cast.ts';
import { meanFrequency } from '../../harness/mean-frequency.ts';
import { medianPitch, type Sound } from '../../harness/median-pitch.ts';
import { measured } from '../../service/engine/measured-level.ts';
import {
  filtered,
  octaves,
  realVoices,
  recordingOf,
  TEXTS,
} from '../../service/voices/real-voices.ts';

describe('a clone', () => {
  test.each([
    ['rms', 0],
    ['awb', 0],
    ['kal16', 0],
    ['slt', 0],
    ['slt', 0.5],
    ['awb', -0.7],
  ])(
    'of %s, filtered by %d, has its pitch and its brightness in any text',
    async (voice, amount) => {
      const { clone, speak } = await realVoices();
      const recording = filtered(recordingOf(voice), amount);
      const { voiceId } = await clone(recording);
      for (const text of TEXTS) {
        const sound = await speak(voiceId, text);
        expect(Math.abs(medianPitch(sound) / medianPitch(recording) - 1)).toBeLessThan(0.06);
        expect(octaves(meanFrequency(sound), meanFrequency(recording))).toBeLessThan(0.5);
      }
    },
  );
});

describe('a design', () => {
  test.each([
    ['A young woman', 170, 260],
    ['A child', 215, 320],
    ['An old man', 70, 130],
  ])('%j has three candidates that fit and differ in pitch', async (prompt, lowest, highest) => {
    const { design } = await realVoices();
    const pitches = (await design(prompt)).map((sound) => medianPitch(sound));
    const [low = 0, middle = 0, high = 0] = pitches.toSorted((one, other) => one - other);
    expect(low).toBeGreaterThan(lowest);
    expect(high).toBeLessThan(highest);
    expect(middle / low).toBeGreaterThan(1.05);
    expect(high / middle).toBeGreaterThan(1.05);
  });

  test('is bright or dark, fast or slow, as its words say', async () => {
    const { design } = await realVoices();
    const bright = await design('A bright woman, fast');
    const dark = await design('A dark woman, slow');
    for (const [index, one] of bright.entries()) {
      const other = dark[index];
      if (other === undefined) throw new Error('no candidate');
      expect(meanFrequency(one) / meanFrequency(other)).toBeGreaterThan(1.5);
      expect(seconds(other) / seconds(one)).toBeGreaterThan(1.3);
    }
  });
});

describe('the loudness and the true peak of a variation', () => {
  test.each([
    { pitch: 0.38, stretch: 0.78, pace: 0.7, brightness: -3 },
    { pitch: 0.38, stretch: 0.78, pace: 0.7, brightness: 3 },
    { pitch: 0.58, stretch: 0.84, pace: 1, brightness: 2 },
    { pitch: 1, stretch: 1, pace: 1, brightness: -3 },
    { pitch: 1, stretch: 1, pace: 1, brightness: 3 },
    { pitch: 1.9, stretch: 1.18, pace: 1.5, brightness: -3 },
    { pitch: 1.9, stretch: 1.18, pace: 1.5, brightness: 3 },
  ])('$pitch, $stretch, $pace, $brightness are those of every voice', async (variation) => {
    const voice = variedVoice(variation);
    const { lufs, truePeakDb } = await measured({ voice, pitch: 0, speed: 1 });
    expect(Math.abs(lufs + 20), `${lufs} LUFS`).toBeLessThan(1);
    expect(truePeakDb).toBeLessThanOrEqual(-1);
  });
});

function seconds({ sampleRate, samples }: Sound): number {
  return samples.length / sampleRate;
}
