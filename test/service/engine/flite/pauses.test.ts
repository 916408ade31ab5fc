import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFliteEngine } from '../../../../src/service/engine/flite/engine.ts';
import { FLITE_VOICES } from '../../../../src/service/engine/flite/voices.ts';
import type { SpeechChunk, SpeechEngine } from '../../../../src/service/engine/speech-engine.ts';
import { type Bundled, bundleEngine } from '../bundled.ts';

const RATE = 16_000;
const SILENCE = 10 ** (-50 / 20);
const VOICE_IDS = FLITE_VOICES.map(({ id }) => id);

let bundled: Bundled;
let engine: SpeechEngine;
beforeAll(async () => {
  bundled = await bundleEngine();
  engine = createFliteEngine({ workerFile: bundled.workerFile });
});
afterAll(async () => {
  await engine.close();
  await bundled.remove();
});

async function chunksOf(text: string, options: { voice?: string; speed?: number } = {}) {
  const request = { text, voice: 'slt', speed: 1, pitch: 0, isTimed: true, ...options };
  const chunks: SpeechChunk[] = [];
  for await (const chunk of engine.synthesize(request, new AbortController().signal)) {
    chunks.push(chunk);
  }
  return chunks;
}

const joined = (chunks: readonly SpeechChunk[]) =>
  Float32Array.from(chunks.flatMap(({ samples }) => [...samples]));

/** The longest silence between two sounds, in milliseconds. */
function longestPauseMs(samples: Float32Array): number {
  let longest = 0;
  let last: number | undefined;
  for (const [at, sample] of samples.entries()) {
    if (Math.abs(sample) < SILENCE) continue;
    longest = Math.max(longest, at - (last ?? at));
    last = at;
  }
  return (longest * 1000) / RATE;
}

async function pauseMs(text: string, options?: { voice?: string; speed?: number }) {
  return longestPauseMs(joined(await chunksOf(text, options)));
}

describe('the pause between paragraphs', () => {
  test.each(VOICE_IDS)('of %s has at least 600 ms, and a sentence has less', async (voice) => {
    for (const speed of [0.5, 1, 2]) {
      const paragraphs = await pauseMs('We came home.\n\nThe door was open.', { voice, speed });
      const sentences = await pauseMs('We came home.\nThe door was open.', { voice, speed });
      expect(paragraphs).toBeGreaterThanOrEqual(600);
      expect(paragraphs).toBeLessThan(1_000 / Math.min(1, speed));
      expect(paragraphs - sentences).toBeGreaterThan(200);
    }
  });

  test('is about as long for every voice', async () => {
    const pauses: number[] = [];
    for (const voice of VOICE_IDS) {
      pauses.push(await pauseMs('We came home.\n\nThe door was open.', { voice }));
    }
    expect(Math.max(...pauses) - Math.min(...pauses)).toBeLessThan(250);
  });

  test.each([
    ['after a heading', 'The Long Way Home\n\nWe came home.'],
    ['with other line ends', 'We came home.\r\n \r\nThe door was open.'],
    ['around signs that are not spoken', 'We came home.\n\n* * *\n\nThe door was open.'],
  ])('is there %s', async (_, text) => {
    expect(await pauseMs(text)).toBeGreaterThanOrEqual(600);
  });

  test('ends a text that ends with a blank line, so that another can follow', async () => {
    const whole = joined(await chunksOf('We came home.\n\nThe door was open.'));
    const first = joined(await chunksOf('We came home.\n\n'));
    const second = joined(await chunksOf('The door was open.'));
    expect(Float32Array.from([...first, ...second])).toEqual(whole);
    const alone = joined(await chunksOf('We came home.'));
    expect(first.length - alone.length).toBeGreaterThan(RATE * 0.4);
  });

  test('moves the words after it by exactly its length', async () => {
    const [first, , , later] = await chunksOf('We came home.\n\nThe door was open.');
    const alone = (await chunksOf('The door was open.')).flatMap(({ words = [] }) => words);
    const beforeMs = ((first?.samples.length ?? 0) * 1000) / RATE;
    expect(later?.words).toEqual(
      alone.map((word) => ({
        start: word.start + 15,
        end: word.end + 15,
        startMs: beforeMs + word.startMs,
        endMs: beforeMs + word.endMs,
      })),
    );
  });
});
