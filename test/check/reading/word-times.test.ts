import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createHibariEngine } from '../../../src/service/engine/hibari/engine.ts';
import type { WordMark } from '../../../src/service/engine/speech-engine.ts';
import { HIBARI_WORKER_FILE } from '../../../src/service/worker-file.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
/** Phrases of each class that are spoken, unless all are. */
const PHRASES_PER_CLASS = 4;
/** Written words without a sound: signs, emoji and punctuation. */
const SIGN = /^[^\p{L}\p{N}]*$/u;

const rows = readFileSync(new URL('../../text/reading/english.tsv', import.meta.url), 'utf8')
  .split('\n')
  .slice(1)
  .filter((line) => line !== '')
  .map((line) => line.split('\t'));
const kinds = [...new Set(rows.map(([, , , kind = '']) => kind))];

describe('the words of a text that is read aloud are the written ones', () => {
  test.each(kinds)('in the class %s', { timeout: 300_000 }, async (kind) => {
    const engine = createHibariEngine({ workerFile: HIBARI_WORKER_FILE });
    onTestFinished(() => engine.close());
    const phrases = rows.filter((row) => row[3] === kind).map(([written = '']) => written);
    for (const text of IS_FULL ? phrases : phrases.slice(0, PHRASES_PER_CLASS)) {
      const { words, lengthMs } = await speak(engine, text);
      const characters = Array.from(text);
      let last: WordMark = { start: 0, end: 0, startMs: 0, endMs: 0 };
      let silent = '';
      for (const word of words) {
        expect(word.start, text).toBeGreaterThanOrEqual(last.end);
        expect(word.end, text).toBeGreaterThan(word.start);
        expect(word.startMs, text).toBeGreaterThanOrEqual(last.endMs - 0.001);
        expect(word.endMs, text).toBeGreaterThan(word.startMs);
        silent += characters.slice(last.end, word.start).join('');
        last = word;
      }
      expect(last.endMs).toBeLessThanOrEqual(lengthMs + 0.001);
      silent += characters.slice(last.end).join('');
      expect(silent.replaceAll(/[:;][DP]\b/g, ''), text).toMatch(SIGN);
    }
  });
});

async function speak(engine: ReturnType<typeof createHibariEngine>, text: string) {
  const request = { text, voice: 'clara', speed: 1, pitch: 0, isTimed: true };
  const words: WordMark[] = [];
  let lengthMs = 0;
  for await (const chunk of engine.synthesize(request, new AbortController().signal)) {
    words.push(...(chunk.words ?? []));
    lengthMs += (chunk.samples.length * 1000) / chunk.sampleRate;
  }
  return { words, lengthMs };
}
