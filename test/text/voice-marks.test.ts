import { expect, test } from 'vitest';
import { plainText, replaceSpoken } from '../../src/text/document.ts';
import { readPauses, splitAtPauses } from '../../src/text/pauses.ts';
import { readVoiceMarks } from '../../src/text/voice-marks.ts';

function spokenBy(text: string): readonly (readonly [string, string | undefined])[] {
  const { parts } = splitAtPauses(readPauses(readVoiceMarks(plainText(text))), 1_000);
  return parts.map((part) => [part.text.trim(), part.voice]);
}

test.each([
  ['one', [['one', undefined]]],
  ['[voice Ann]\none', [['one', 'Ann']]],
  [
    'one\n[voice Ann]\r\ntwo',
    [
      ['one', undefined],
      ['two', 'Ann'],
    ],
  ],
  ['  [ Voice  Ann Lee ]\t\n\none', [['one', 'Ann Lee']]],
  [
    '👋 one\n[voice A]\n[voice B]\ntwo',
    [
      ['👋 one', undefined],
      ['two', 'B'],
    ],
  ],
  [
    'one\n[voice A]\ntwo [pause 1s] three',
    [
      ['one', undefined],
      ['two', 'A'],
      ['three', 'A'],
    ],
  ],
  ['one\n[voice A]', [['one', undefined]]],
])('%j is spoken by its voices', (text, expected) => {
  expect(spokenBy(text)).toEqual(expected);
});

test.each([
  'Say [voice Ann] now.',
  '[voice Ann] one',
  '[voice]',
  '[voice ]',
  '[voices Ann]',
  '[voice A',
])('%j is text', (text) => expect(spokenBy(text)).toEqual([[text, undefined]]));

test('marks move with the words around them, and stay out of the written text', () => {
  const marked = readVoiceMarks(plainText('a b\n[voice Ann]\nc'));
  const edited = replaceSpoken(marked, [{ start: 0, end: 1, insert: 'long' }]);
  expect(edited.pauses).toEqual([{ at: 7, ms: 0, voice: 'Ann' }]);
  expect([edited.text, edited.written]).toEqual(['long b\n\nc', 'a b\n\nc']);
});

test('a mark in a spoken form is none', () => {
  const spoken = replaceSpoken(plainText('x\nc'), [{ start: 0, end: 1, insert: '[voice Ann]' }]);
  expect(readVoiceMarks(spoken)).toBe(spoken);
});

test.each(['[voice ', '[voice A]', ' ', '[voice A]\n', '[ voice\t'])(
  'many %j take no time',
  (piece) => {
    const begun = performance.now();
    readVoiceMarks(plainText(piece.repeat(100_000)));
    expect(performance.now() - begun).toBeLessThan(20_000);
  },
);
