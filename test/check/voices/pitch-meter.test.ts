import { describe, expect, it } from 'vitest';
import { PitchMeter } from '../../../src/service/voices/listen/pitch-meter.ts';
import { referenceVoice } from '../../harness/reference-voice.ts';
import { seededSamples } from '../../service/engine/encode/sounds.ts';
import { measured } from '../../service/engine/measured-level.ts';
import { speak } from '../../harness/flite.ts';

async function medianOf(samples: Float32Array, sampleRate: number): Promise<number | undefined> {
  const meter = new PitchMeter();
  await meter.add(samples, sampleRate);
  meter.close();
  return meter.voice()?.medianHz;
}

describe('the pitch of a voice', () => {
  it.each([
    [70, 16_000],
    [110, 8_000],
    [110, 44_100],
    [200, 16_000],
    [200, 48_000],
    [320, 22_050],
  ])('is measured, %d Hz, at %d samples a second', async (medianHz, sampleRate) => {
    const voice = { medianHz, sampleRate, seconds: 3, rangeSemitones: 3 };
    const heard = await medianOf(referenceVoice(voice).samples, sampleRate);
    expect(Math.abs((heard ?? 0) / medianHz - 1)).toBeLessThan(0.03);
  });

  it('is the median over files of different rates', async () => {
    const meter = new PitchMeter();
    for (const sampleRate of [16_000, 44_100]) {
      await meter.add(referenceVoice({ medianHz: 150, sampleRate }).samples, sampleRate);
    }
    meter.close();
    expect(Math.abs((meter.voice()?.medianHz ?? 0) / 150 - 1)).toBeLessThan(0.03);
  });

  it.each([
    ['silence', () => 0],
    ['a click', (index: number) => (index === 5_000 ? 1 : 0)],
    ['noise', (index: number) => Math.sin(index * index * 0.37 + (index % 17)) * 0.3],
  ])('is undefined for %s', async (_what, sample) => {
    const samples = Float32Array.from({ length: 32_000 }, (_, index) => sample(index));
    expect(await medianOf(samples, 16_000)).toBeUndefined();
  });
});

const sine = (hertz: number) => (time: number) => Math.sin(2 * Math.PI * hertz * time);
const saw = (hertz: number) => (time: number) => 2 * ((time * hertz) % 1) - 1;
const noteAt = (time: number) => [196, 220, 247, 262, 294][Math.floor(time * 3) % 5] ?? 0;

describe('speech', () => {
  const RATE = 16_000;
  const SENTENCE = 'Good morning, everybody. The old man loved the yellow lemon.';
  const seconds = (count: number, level: (time: number, at: number) => number) =>
    Float32Array.from({ length: count * RATE }, (_, at) => level(at / RATE, at));
  const noise = seededSamples(4 * RATE, 1);

  async function isSpeech(samples: Float32Array, sampleRate = RATE): Promise<boolean> {
    const meter = new PitchMeter();
    await meter.add(samples, sampleRate);
    meter.close();
    return meter.isSpeech();
  }

  it.each([
    ['a tone', sine(220)],
    ['a deep tone', sine(80)],
    ['a tone that fades in and out', (t: number) => sine(200)(t) * (0.55 + 0.45 * sine(4)(t))],
    ['vibrato', (t: number) => Math.sin(2 * Math.PI * 220 * t + 3 * sine(5)(t))],
    ['a siren', (t: number) => Math.sin(2 * Math.PI * 300 * t - 60 * Math.cos(Math.PI * t))],
    ['beeps', (t: number) => (t % 0.4 < 0.2 ? sine(300)(t) : 0)],
    ['a sweep', (t: number) => Math.sin(2 * Math.PI * (80 * t + 80 * t * t))],
    ['a square wave', (t: number) => Math.sign(saw(150)(t))],
    ['a saw tooth wave', saw(120)],
    ['a chord', (t: number) => (sine(200)(t) + sine(250)(t) + sine(300)(t)) / 3],
    ['a melody', (t: number) => saw(noteAt(t))(t)],
    [
      'tones of a telephone',
      (t: number) => (sine(697)(t) + sine(t % 1 < 0.5 ? 1_209 : 1_336)(t)) / 2,
    ],
    ['the hum of a cable', (t: number) => (sine(50)(t) + sine(100)(t) / 2 + sine(150)(t) / 3) / 2],
    ['a tone in noise', (t: number, at: number) => (sine(220)(t) + (noise[at] ?? 0)) / 2],
    ['noise', (_t: number, at: number) => noise[at] ?? 0],
    ['silence', () => 0],
  ])('is not %s', async (_what, level) => {
    expect(await isSpeech(seconds(3, level))).toBe(false);
  });

  it.each(['slt', 'rms', 'awb', 'kal16'])(
    'is %s, also in noise, muffled or short',
    async (voice) => {
      for (const pitch of [-6, 0, 8]) {
        expect(await isSpeech(speak(SENTENCE, { voice, pitch }))).toBe(true);
      }
      const spoken = speak(SENTENCE, { voice });
      expect(await isSpeech(spoken.subarray(RATE / 2, 1.5 * RATE))).toBe(true);
      for (const share of [0.1, 0.3, 0.5]) {
        const loud = 0.1 * Math.sqrt(3) * share;
        expect(await isSpeech(spoken.map((one, at) => one + loud * (noise[at] ?? 0)))).toBe(true);
      }
      let [first, second] = [0, 0];
      const muffled = spoken.map((one) => {
        first += (one - first) / 2;
        second += (first - second) / 2;
        return second;
      });
      expect(await isSpeech(muffled)).toBe(true);
      const quiet = spoken.map((one) => one / 20);
      expect(await isSpeech(quiet)).toBe(true);
      // Half of it whispered: without the periods of a voice.
      const half = spoken.map((one, at) => (at < spoken.length / 2 ? one : one * (noise[at] ?? 0)));
      expect(await isSpeech(half)).toBe(true);
    },
  );

  it.each(['mp3', 'ogg', 'opus'] as const)('is speech in %s', async (format) => {
    for (const voice of ['clara', 'martin']) {
      const { samples, sampleRate } = await measured({ voice, pitch: 0, speed: 1, format });
      expect(await isSpeech(samples, sampleRate)).toBe(true);
    }
  });
});
