import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineRegistry } from '../../../src/service/engine/speech-engine.ts';
import type { SpeechEngine } from '../../../src/service/engine/speech-engine.ts';
import { MeasuredVoices } from '../../../src/service/voices/voice-maker.ts';
import type { Sound } from '../../harness/median-pitch.ts';
import { medianPitch } from '../../harness/median-pitch.ts';
import { espeakEngine } from './espeak-under-test.ts';

const TEXT = 'Der Regen hat den ganzen Tag nicht aufgehört. Niemand ist mehr auf der Straße.';
const { signal } = new AbortController();
let engine: SpeechEngine;

beforeAll(async () => {
  engine = await espeakEngine();
});

afterAll(() => engine.close());

async function spoken(voice: string, pitch: number): Promise<Sound> {
  const samples: number[] = [];
  let sampleRate = 0;
  for await (const chunk of engine.synthesize({ text: TEXT, voice, pitch, speed: 1 }, signal)) {
    samples.push(...chunk.samples);
    sampleRate = chunk.sampleRate;
  }
  return { samples: Float32Array.from(samples), sampleRate };
}

describe('a German voice for a pitch', () => {
  it.each([110, 200])('of %d Hz speaks at that pitch', { timeout: 120_000 }, async (medianHz) => {
    const voices = new MeasuredVoices(new EngineRegistry([engine]));
    const nearest = await voices.nearest({ medianHz, language: 'de' }, signal);
    expect(nearest.language).toBe('de');
    const { voice, pitch } = nearest.engine;
    expect(Math.abs(medianPitch(await spoken(voice, pitch)) / medianHz - 1)).toBeLessThan(0.08);
  });
});
