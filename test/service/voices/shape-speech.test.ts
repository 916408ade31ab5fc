import { describe, expect, it } from 'vitest';
import { shapeSpeech } from '../../../src/service/voices/shape-speech.ts';
import type {
  EngineRequest,
  SpeechChunk,
  SpeechEngine,
} from '../../../src/service/engine/speech-engine.ts';
import { medianPitch } from '../../harness/median-pitch.ts';

const RATE = 16_000;
const REQUEST = { text: 'text', voice: 'voice', speed: 1, pitch: 0 };

/** Speaks a rough tone of 200 Hz for a second, moved as it is asked to be, in ten chunks and a word. */
function engine(requests: EngineRequest[]): SpeechEngine {
  return {
    name: 'rough',
    voices: [],
    async warmUp() {},
    async close() {},
    async *synthesize(request) {
      requests.push(request);
      const hertz = 200 * 2 ** (request.pitch / 12);
      const length = Math.round(RATE / request.speed / 10);
      for (let part = 0; part < 10; part += 1) {
        yield { samples: tone(hertz, part * length, length), sampleRate: RATE };
      }
      const endMs = 1_000 / request.speed;
      yield {
        samples: new Float32Array(0),
        sampleRate: RATE,
        words: [{ start: 0, end: 4, startMs: endMs / 2, endMs }],
      };
    },
  };
}

function tone(hertz: number, from: number, length: number): Float32Array {
  return Float32Array.from({ length }, (_, index) => {
    const phase = (2 * Math.PI * hertz * (from + index)) / RATE;
    return 0.3 * (Math.sin(phase) + 0.5 * Math.sin(2 * phase) + 0.3 * Math.sin(3 * phase));
  });
}

async function spoken(speaker: SpeechEngine): Promise<readonly SpeechChunk[]> {
  const chunks: SpeechChunk[] = [];
  for await (const chunk of speaker.synthesize(REQUEST, new AbortController().signal))
    chunks.push(chunk);
  return chunks;
}

function joined(chunks: readonly SpeechChunk[]): Float32Array {
  return Float32Array.from(chunks.flatMap(({ samples }) => [...samples]));
}

describe('speech with other resonances', () => {
  it.each([0.87, 0.95, 1.05, 1.15])(
    'of %d times the frequency is as long and as high as before, and its words are where they were',
    async (formants) => {
      const requests: EngineRequest[] = [];
      const chunks = await spoken(shapeSpeech(engine(requests), { formants }));
      expect(requests).toMatchObject([{ speed: 1 / formants, pitch: -12 * Math.log2(formants) }]);
      expect(new Set(chunks.map(({ sampleRate }) => sampleRate))).toEqual(new Set([RATE]));
      const samples = joined(chunks);
      expect(Math.abs(samples.length / RATE - 1)).toBeLessThan(0.001);
      expect(Math.abs(medianPitch({ samples, sampleRate: RATE }) / 200 - 1)).toBeLessThan(0.01);
      const [word] = chunks.flatMap(({ words = [] }) => words);
      expect(word).toMatchObject({ start: 0, end: 4 });
      expect(word?.startMs).toBeCloseTo(500, 0);
      expect(word?.endMs).toBeCloseTo(1_000, 0);
    },
  );

  it('is the engine itself when nothing is to be moved', () => {
    const own = engine([]);
    expect(shapeSpeech(own, {})).toBe(own);
    expect(shapeSpeech(own, { melody: 1, formants: 1 })).toBe(own);
  });

  it('asks for another melody', async () => {
    const requests: EngineRequest[] = [];
    await spoken(shapeSpeech(engine(requests), { melody: 0.5 }));
    expect(requests).toMatchObject([{ speed: 1, pitch: 0, melody: 0.5 }]);
  });
});
