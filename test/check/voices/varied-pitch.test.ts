import { describe, expect, it } from 'vitest';
import { meanFrequency } from '../../harness/mean-frequency.ts';
import { medianPitch } from '../../harness/median-pitch.ts';
import {
  filtered,
  octaves,
  realVoices,
  recordingOf,
  TEXTS,
} from '../../service/voices/real-voices.ts';

const TIMEOUT_MS = 90_000;
const [TEXT = ''] = TEXTS;

describe('a cloned voice', () => {
  it.each([
    ['a dark woman', 'slt', -0.7],
    ['a bright man', 'rms', 0.5],
  ])(
    'has the pitch and the brightness of %s',
    async (_, voice, amount) => {
      const { clone, speak } = await realVoices();
      const recording = filtered(recordingOf(voice), amount);
      const { notices, voiceId } = await clone(recording);
      expect(notices).toEqual([expect.stringMatching(/^Simulated, not a clone of the speaker: /)]);
      const sound = await speak(voiceId, TEXT);
      expect(Math.abs(medianPitch(sound) / medianPitch(recording) - 1)).toBeLessThan(0.06);
      expect(octaves(meanFrequency(sound), meanFrequency(recording))).toBeLessThan(0.5);
    },
    TIMEOUT_MS,
  );
});

describe('a designed voice', () => {
  it(
    'has three candidates that fit its words and differ in pitch',
    async () => {
      const { design } = await realVoices();
      const pitches = (await design('A man with a deep voice')).map((sound) => medianPitch(sound));
      const [low = 0, middle = 0, high = 0] = pitches.toSorted((one, other) => one - other);
      expect(low).toBeGreaterThan(70);
      expect(high).toBeLessThan(125);
      expect(middle / low).toBeGreaterThan(1.05);
      expect(high / middle).toBeGreaterThan(1.05);
    },
    TIMEOUT_MS,
  );
});
