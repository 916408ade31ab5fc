import { expect, test } from 'vitest';
import { withoutSounds } from '../../../src/text/formats/sounds.ts';

test.each([
  ['[MUSIC]', ''],
  ['[door slams] Who is there?', ' Who is there?'],
  ['Wait [coughs] for me.', 'Wait  for me.'],
  ['[low\nmusic]\nHello.', '\n\nHello.'],
  ['[♪♪♪]', ''],
  ['(sighs)', ''],
  ['<i>(sighs)</i>', ''],
  [String.raw`{\an8}(sighs) No.`, String.raw`{\an8} No.`],
  ['(sighs)\nI do not know.', '\nI do not know.'],
  ['(a door\nslams)', '\n'],
  ['- (laughs) Yes.\n- (sobs)', '-  Yes.\n'],
  ['ANN: (laughs) Yes.', 'ANN:  Yes.'],
  ['ANN: (laughs)', ''],
  ['ANN: (laughs)\nBOB: Yes.', '\nBOB: Yes.'],
  ['ANN: (laughs)\nYes.', 'ANN: \nYes.'],
  ['<v Ann>(laughs) Yes.', '<v Ann> Yes.'],
  ['I do not know. (sighs)', 'I do not know. '],
  ['(♪)', ''],
  ['♪', ''],
  ['♪ la la ♪', ''],
  ['♪ la la\nla ♪\nHello.', '\n\nHello.'],
  ['♪ la la\nla', '\n'],
  ['♫ la ♫ Hello.', ' Hello.'],
])('%j becomes %j', (cue, spoken) => {
  const [before, after] = ['1\n00:00:01,000 --> 00:00:02,000\n', '\n\n2\n'];
  expect(withoutSounds(before + cue + after)).toBe(before + spoken + after);
});

test.each([
  'ANN: Hello.',
  'The Smiths (all three) came.',
  'The Smiths\n(all three) came.',
  'Call 555 (ext. 7) now',
  'Chapter [1]',
  '#1 of 2 * 3',
  'NOTE (a comment)',
])('%j stays', (cue) => {
  expect(withoutSounds(`00:01.000 --> 00:02.000\n${cue}\n`)).toBe(
    `00:01.000 --> 00:02.000\n${cue}\n`,
  );
});

test.each(['(', '(a)', '[', '[a', '♪a', '(a)\n', '<a (b) '])('many %j take no time', (piece) => {
  const begun = performance.now();
  withoutSounds(`00:01.000 --> 00:02.000\n${piece.repeat(300_000)}`);
  expect(performance.now() - begun).toBeLessThan(20_000);
});

test('the times of lyrics stay', () => {
  expect(withoutSounds('[00:01.00]♪\r\n[00:02.00][guitar]\r\n[00:03.00]Hello <00:03.50>you')).toBe(
    '[00:01.00]\n[00:02.00]\n[00:03.00]Hello <00:03.50>you',
  );
});
