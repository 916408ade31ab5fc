import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shapeSpeech } from '../../../src/service/voices/shape-speech.ts';
import { EngineRegistry } from '../../../src/service/engine/registry.ts';
import type { SpeechEngine } from '../../../src/service/engine/speech-engine.ts';
import { matchVoice } from '../../../src/service/voices/clone-voice.ts';
import { NaturalVoices, sampleSpeech } from '../../../src/service/voices/natural-voices.ts';
import { medianPitch } from '../../harness/median-pitch.ts';
import { referenceVoice } from '../../harness/reference-voice.ts';
import { listenHere } from '../../service/support/voice-sources.ts';
import { espeakEngine } from './espeak-under-test.ts';

let engine: SpeechEngine;

beforeAll(async () => {
  engine = await espeakEngine();
});

afterAll(() => engine.close());

describe('a voice of German that is matched', () => {
  it.each([110, 200])(
    'to a reference of %d Hz speaks at that median pitch',
    { timeout: 120_000 },
    async (medianHz) => {
      const { signal } = new AbortController();
      const listener = listenHere();
      const reference = referenceVoice({ medianHz, seconds: 2 });
      const wanted = medianPitch(reference);
      const profile = await listener.hearSamples(
        { samples: Float32Array.from(reference.samples), sampleRate: reference.sampleRate },
        signal,
      );
      if (profile === undefined) throw new Error('no voice is heard in the reference');
      const voices = new NaturalVoices(new EngineRegistry([engine]));
      const match = await matchVoice(voices, { profile, language: 'de' }, { listener, signal });
      if (match === undefined) throw new Error('nobody speaks German');
      expect(match.language).toBe('de');
      const { voice, pitch, speed } = match.engine;
      const text = 'Der Regen hat den ganzen Tag nicht aufgehört. Niemand ist mehr auf der Straße.';
      const speech = await sampleSpeech(
        shapeSpeech(engine, match.engine),
        { text, voice, pitch, speed },
        signal,
      );
      if (speech === undefined) throw new Error('nothing was said');
      expect(Math.abs(medianPitch(speech) / wanted - 1)).toBeLessThan(0.08);
    },
  );
});
