import { expect, test } from 'vitest';
import { alignLine } from '../../../src/alignment/align-line.ts';
import {
  energiesOf,
  meanError,
  OTHER_TEXT,
  type Spoken,
  speakWords,
  TEXT,
} from '../../alignment/spoken.ts';

const LINES = [
  'Yes.',
  'Goodbye.',
  'Hello, Bob.',
  'Who are you?',
  'I am Ada, and this is Ewan.',
  ...TEXT.split(/(?<=[.?]) /),
];

function align(line: Spoken, reference: Spoken) {
  const durationMs = (line.samples.length * 1000) / line.sampleRate;
  const spoken = { energies: energiesOf(reference), words: reference.words };
  const { signal } = new AbortController();
  return alignLine({ energies: energiesOf(line), durationMs }, spoken, signal);
}

test.each([
  ['rms', 1],
  ['awb', 2],
])('all words of short lines start where %s says them at speed %d', async (voice, speed) => {
  const errors: number[] = [];
  for (const text of LINES) {
    const line = speakWords(text, voice, speed);
    const placed = await align(line, speakWords(text, undefined, speed));
    expect(placed).toHaveLength(line.words.length);
    errors.push(meanError(placed ?? [], line.words));
  }
  expect(errors.reduce((sum, one) => sum + one, 0) / errors.length).toBeLessThan(40);
});

test('no word of another text is found', async () => {
  expect(await align(speakWords(TEXT, 'awb'), speakWords(OTHER_TEXT))).toBeUndefined();
});

test('words of a line without sound share its time', async () => {
  const reference = speakWords('Yes, I do.');
  const silence = { ...reference, samples: new Float32Array(16_000) };
  const placed = await align(silence, reference);
  expect(placed?.every(({ confidence }) => confidence === 0)).toBe(true);
});
