import { describe, expect, it } from 'vitest';
import { readRtf } from '../../../src/text/formats/rtf.ts';

const HEAD = String.raw`\ansi\ansicpg1252\deff0{\fonttbl{\f0\froman\fcharset0 Times;}{\f1\fnil\fcharset204 Arial;}{\f2\fnil\fcharset2 Symbol;}{\f3\fcharset128 MS Mincho;}}
{\colortbl;\red0\green0\blue0;}{\stylesheet{\s0 Normal;}{\s1\b heading 1;}{\s2\outlinelevel1 My heading;}{\s3 Title;}{\s4 toc 1;}{\*\cs10 Font;}}
{\info{\title TITLE}}{\*\generator GENERATOR;}{\header HEADER\par}`;

function textOf(body: string): string {
  const parts = readRtf(Buffer.from(`{\\rtf1${HEAD}\n${body}}`, 'latin1'));
  return parts.map(({ text }) => text).join('\n\n');
}

describe('the text of Rich Text', () => {
  it.each([
    [
      'paragraphs',
      String.raw`One \b two\b0 .\par
Three.`,
      'One two.\n\nThree.',
    ],
    ['words in many rows', 'on\ne \r\ntwo', 'one two'],
    ['signs', String.raw`a \{b\} \\ <c> & d`, 'a {b} \\ <c> & d'],
    ['breaks', String.raw`a\tab b\line c`, 'a b\nc'],
    [
      'named signs',
      String.raw`\ldblquote a\rdblquote  \endash  b\rquote s\~c co\-op`,
      '“a” – b’s c coop',
    ],
    ['characters of the code page', String.raw`caf\'e9 \'93a\'94`, 'café “a”'],
    ['bytes of the code page', 'caf\u00e9', 'café'],
    ['characters of the font', String.raw`{\f1 \'cf\'f0\'e8\'e2\'e5\'f2} \'e9`, 'Привет é'],
    ['characters of two bytes', String.raw`{\f3 \'83\'65\'83X\'83g}`, 'テスト'],
    ['symbols', String.raw`a{\f2 \'b7}b`, 'ab'],
    [
      'Unicode characters',
      String.raw`\u1055?\u1088\'f0 {\uc2\u8217\'81\'66}{\uc0\u8230 a}\u8722?b`,
      'Пр ’…a−b',
    ],
    ['Unicode characters without a fallback', String.raw`\u8217\par a`, 'a'],
    ['characters of two units', String.raw`a\u-10179?\u-8704?b`, 'a😀b'],
    ['half of a character', String.raw`a\u-10179?b`, 'a�b'],
    ['characters for two kinds of programs', String.raw`{\upr{ANSI}{\*\ud{a}}}b`, 'ab'],
    [
      'headings',
      String.raw`\pard\s1 One\par\pard\s2 Two\par\pard\s3 Three\par\pard\outlinelevel0 Four\par`,
      'One.\n\nTwo.\n\nThree.\n\nFour.',
    ],
    ['the end of a group', String.raw`{\pard\s1\v H\par}a`, 'a'],
    ['hidden text', String.raw`a{\v HIDDEN}b\v HIDDEN\v0 c\v HIDDEN\plain d`, 'abcd'],
    ['deleted and inserted text', String.raw`{\deleted OLD}{\revised new}`, 'new'],
    ['notes', String.raw`a{\super\chftn{\footnote\pard {\super\chftn} NOTE\par}}.`, 'a.'],
    ['marks of notes', String.raw`word{\super 12}.`, 'word.'],
    ['powers', String.raw`10\super 6\nosupersub  m`, '10⁶ m'],
    ['comments', String.raw`a{\*\atnid X}{\*\atnauthor ANN}\chatn{\*\annotation COMMENT}b`, 'ab'],
    [
      'links',
      String.raw`{\field{\*\fldinst{HYPERLINK "http://a.example"}}{\fldrslt{here}}}`,
      'here',
    ],
    ['page numbers', String.raw`a{\field{\*\fldinst  PAGE }{\fldrslt 7}}b`, 'ab'],
    ['tables of contents', String.raw`\pard\s4 CONTENTS 7\par\pard a`, 'a'],
    [
      'lists',
      String.raw`{\listtext\pard\f0 1.\tab}\ls1 a\par{\listtext 2.\tab}b\par{\listtext b)\tab}c\par{\listtext\f2 \'b7\tab}d\par{\pntext\'B7\tab}e\par{\listtext Step 3:\tab}f\par`,
      '1. a.\n2. b.\nB. c.\nd.\ne.\nStep 3: f.',
    ],
    [
      'tables',
      String.raw`\trowd\cellx1\pard\intbl a\par b\cell c\cell\row\trowd d\cell\row\pard e`,
      'a b, c.\nd.\n\ne',
    ],
    ['a row without an end', String.raw`\pard\intbl a\cell b`, 'a, b.'],
    ['pictures', String.raw`a{\*\shppict{\pict\pngblip 89504e47}}{\nonshppict{\pict 0102}}b`, 'ab'],
    ['binary data', String.raw`a{\pict\bin4 {{\}}b`, 'ab'],
    [
      'text boxes',
      String.raw`a {\shp{\*\shpinst\shpleft0{\sp{\sn x}{\sv 1}}{\shptxt \pard box\par}}{\shprslt BOX}}b`,
      'box\n\na b',
    ],
    ['nothing after its end', 'a}b', 'a'],
  ])('has %s', (_what, body, text) => {
    expect(textOf(body)).toBe(text);
  });

  it('has text of any length without control words', () => {
    const text = `${'word '.repeat(100_000)}end`;
    expect(textOf(text)).toBe(text);
  });
});

it('chapters of Rich Text begin at its headings', () => {
  const body = String.raw`Front.\par\pard\s1 One\par\pard Text.\par\pard\s1 Two\par\pard Text.`;
  expect(readRtf(Buffer.from(`{\\rtf1${HEAD}${body}}`)).map(({ chapters }) => chapters)).toEqual([
    [],
    [{ title: 'One', at: 0 }],
    [{ title: 'Two', at: 0 }],
  ]);
});

it.each([
  ['Hello', String.raw`not Rich Text: it does not begin with {\rtf`],
  [String.raw`{\rtf1\pc\'81}`, 'the code page 437 is not supported'],
  [`{\\rtf1 ${'{'.repeat(100_000)}`, 'groups are nested more than 1000 levels deep'],
])('%.20j is refused', (content, message) => {
  expect(() => readRtf(Buffer.from(content))).toThrow(message);
});
