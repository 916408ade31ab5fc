import { expect, test } from 'vitest';
import { isAssStyle, parseAssStyle } from '../../src/captions/ass-style.ts';
import { readFrom } from '../../src/captions/read-cues.ts';

const FORMAT = 'Format: Name, Fontname';

test.each([
  [['Style: Default,A', 'Style: Plain,B'], 'Default', 'Plain'],
  [['Style: First,A', 'Style: Default,B'], 'Default', 'Default'],
  [['Style: First,A', 'Style: Second,B'], 'First', 'First'],
])('the cues use the styles of %j', (styles, timed, plain) => {
  const style = parseAssStyle(['[V4+ Styles]', FORMAT, ...styles, '[Events]'].join('\n'));
  expect(style).toEqual({ info: [], rows: [FORMAT, ...styles], timed, plain });
  expect(isAssStyle(JSON.parse(JSON.stringify(style)))).toBe(true);
});

test('styles of other sections and other information are left out', () => {
  const rows = ['[Script Info]', 'Title: x', 'PlayResX: 640', '[v4+ styles]', FORMAT, 'Style: A,B'];
  const content = [...rows, '; a comment', '[Events]', 'Style: C,D'].join('\r\n');
  const style = { info: ['PlayResX: 640'], rows: [FORMAT, 'Style: A,B'], timed: 'A', plain: 'A' };
  expect(parseAssStyle(content)).toEqual(style);
});

test.each([
  ['', 'b.ass: no style of Advanced SubStation Alpha'],
  ['1\n00:00:01,000 --> 00:00:02,000\nHi', 'b.ass: no style of Advanced SubStation Alpha'],
  [`[V4+ Styles]\n${FORMAT}`, 'b.ass: no style of Advanced SubStation Alpha'],
  ['[V4+ Styles]\nStyle: A,B', 'b.ass, line 2: a style before the row "Format:" of the styles'],
  [`[V4+ Styles]\n${FORMAT}\nStyle: ,B`, 'b.ass, line 3: a style with 2 fields'],
  [`[V4+ Styles]\n${FORMAT}\nStyle: A,B,C`, 'b.ass, line 3: a style with 3 fields'],
  ['[V4 Styles]\nFormat: Name', 'b.ass, line 1: styles of SubStation Alpha 4.00'],
])('%j is refused', (content, message) => {
  expect(() => readFrom('b.ass', () => parseAssStyle(content))).toThrow(message);
});
