import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alignWords } from '../../../src/alignment/align-words.ts';
import { textWords } from '../../../src/alignment/text-words.ts';
import { energiesOf, speakWords, TEXT } from '../../alignment/spoken.ts';

const reference = speakWords(TEXT);
const energies = energiesOf(reference);
const speech = speakWords(TEXT, 'awb').samples;

/** Parts of speech, silence and clicks in any order. */
const recordings = fc
  .array(
    fc.record({
      from: fc.nat(speech.length),
      length: fc.nat(48_000),
      gain: fc.constantFrom(0, 0.001, 1, 20),
    }),
    { maxLength: 6 },
  )
  .map((parts) => {
    const samples = parts.flatMap(({ from, gain, length }) =>
      Array.from(speech.subarray(from, from + length), (sample) => sample * gain),
    );
    return Float32Array.from(samples);
  });

test('words have increasing times within the recording and a confidence from 0 to 1', async () => {
  await fc.assert(
    fc.asyncProperty(
      recordings,
      fc.constantFrom(8_000, 16_000, 44_100),
      fc.nat(reference.words.length),
      async (samples, sampleRate, count) => {
        const words = reference.words.slice(0, count);
        const placed = await alignWords(
          energiesOf({ samples, sampleRate }),
          { energies, words },
          new AbortController().signal,
        );
        expect(placed).toHaveLength(count);
        let last = 0;
        for (const place of placed) {
          if (place === undefined) continue;
          expect(place.startMs).toBeGreaterThanOrEqual(last);
          expect(place.endMs).toBeGreaterThan(place.startMs);
          expect(place.confidence).toBeGreaterThan(0);
          expect(place.confidence).toBeLessThanOrEqual(1);
          last = place.endMs;
        }
        expect(last).toBeLessThanOrEqual((samples.length * 1000) / sampleRate);
      },
    ),
    { numRuns: 20 },
  );
});

test('the words of a text keep its order, with those that the reference leaves out', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('one', '世界', '—', 'well-known', '😀', 'a.b', '42%')),
      fc.array(fc.boolean(), { minLength: 10 }),
      (tokens, spoken) => {
        const text = tokens.join(' ');
        let at = 0;
        const words = tokens.flatMap((token, index) => {
          const start = at;
          const end = start + Array.from(token).length;
          at = end + 1;
          const isSpoken = /[a-z\d]/.test(token) && spoken[index % spoken.length] === true;
          return isSpoken ? [{ start, end, startMs: start, endMs: end }] : [];
        });
        const placed = words.map((word) => ({ ...word, confidence: 1 }));
        const rows = textWords(text, words, placed);
        const expected = tokens.filter((token) => /[\p{L}\p{N}]/u.test(token));
        expect(rows.map((row) => row.text)).toEqual(expected);
        expect(rows.filter((row) => row.startMs !== undefined)).toHaveLength(words.length);
      },
    ),
  );
});
