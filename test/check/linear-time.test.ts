import { describe, expect, test } from 'vitest';
import { LoudnessMeter } from '../../src/audio/measure.ts';
import { CUE_PRESETS } from '../../src/captions/cue-shape.ts';
import { readSubtitles } from '../../src/captions/read-subtitles.ts';
import type { Subtitles } from '../../src/captions/subtitles.ts';
import { subtitlesOf } from '../../src/captions/subtitles.ts';
import { timingsOf } from '../../src/captions/timings.ts';
import { openEnglish } from '../../src/phonemes/english.ts';
import { readElements } from '../../src/read-along/element-tree.ts';
import { insert, markUnits } from '../../src/read-along/mark-units.ts';
import { plainText } from '../../src/text/document.ts';
import { readHtmlOrigins } from '../../src/text/formats/html.ts';
import { readDocument } from '../../src/text/formats/read-document.ts';
import { readLexicon } from '../../src/text/formats/read-lexicon.ts';
import { createMarkdownStream } from '../../src/text/formats/markdown-stream.ts';
import { readSubtitles as readSpoken } from '../../src/text/formats/subtitles.ts';
import { Lexicon } from '../../src/text/lexicon.ts';
import { splitParts } from '../../src/text/parts.ts';
import { splitSentences } from '../../src/text/sentences.ts';
import { findFormulas } from '../../src/text/reading/formulas.ts';
import { epubOf } from '../harness/epub.ts';

/** Pieces of which a document consists, again and again. */
const HTML = [
  '<',
  '<!',
  '<!--',
  '<?',
  '<![CDATA[',
  '&',
  '&#',
  '<a href="#x">',
  '<a href="#x">1</a>',
  '<sup>',
  'a<sup>1</sup>',
  '<math>',
  '<mi>x</mi>',
  '<math><msup><mi>x</mi></msup></math>',
  '<p>',
  '<ol><li>a',
  '<td>',
  '<br>',
  '<pre>',
  '<img alt="\\a_{">',
  '<span class="pagenum">',
  '<h1>a',
  '<q id=a>',
  '</p>',
  '<script>',
  '<title>',
  'a ',
  '<ruby>a<rt>',
  '<b>a</b>',
  '\n',
];
const MARKDOWN = [
  '*a ',
  '**a',
  '_a ',
  '[',
  '[a](',
  '[a](<b',
  '![',
  '![a',
  '[[',
  '[[a|',
  '$',
  '$a ',
  '$$a',
  '==a',
  '==a ',
  '`',
  '<',
  '<a ',
  '<b>',
  '<sup>',
  '<sup>1</sup>',
  '&a',
  '> a\n',
  '- a\n',
  '1. a\n',
  '|a',
  '|a|\n',
  '\\(a',
  '\\[',
  '[^1]',
  '~~a',
  '^a',
  '~a',
  '[!a]',
  '> [!a]\n',
  ' {#a',
  ':::\n',
  '# a\n',
  '\n',
  '    a\n',
  '```\n',
  '[a]: b\n',
  '<!--',
  'a\n',
  'a  \n',
  '^[',
  '![[a',
  '\\',
];
const SSML = [
  '<s>a</s>',
  '<break time=".5s"/>',
  '<sub alias="b">a</sub>',
  '<!--a-->',
  '&#65;',
  '<?a?>',
  'a ',
  '<![CDATA[a]]>',
  '\n',
  '<!a>',
  '<a b="c" ',
];
const PLS = [
  '<lexeme><grapheme>a</grapheme><alias>b</alias></lexeme>',
  '<!--a-->',
  '<meta/>',
  '<!a>',
];
const TABLE = ['a\tb\n', 'a,b\n', '"a","b"\n', '#\n', '\n', '"', '""', 'a;b\n', ',', 'a,b,c\n'];
const WORDS = ['C++', '.NET', 'ASP.NET ', 'a ', '.', 'a.', '+'];

const FORMULAS = ['$', '$a ', '$$a', '\\(a', '\\[', '\\frac{', '\\sqrt{{', '$x^2$ ', '\\sum_{a'];
const WITHOUT_SPACES = ['^a', 'a', '我们的中文', 'สวัสดี', '👨‍👩‍👧', 'e\u0301'];

const PHONEMES = ['read ', 'the U.S. ', 'a-', "'a ", 'aB', 'x1', '1,', '.', '"', 'q', '—'];

const CUE_TIMES = '00:00:01,000 --> 00:00:02,000';
const SUBTITLES = [
  '<',
  '<a',
  '<v A>b',
  '<ruby>a<rt>b',
  '&amp',
  '{\\',
  '\n',
  ' ',
  '- \n',
  ' -->',
  '0:0',
  '\n0\n',
  'NOTE\n\n',
  `a\nb\n\n${CUE_TIMES}\nb\nc\n\n${CUE_TIMES}\n`,
  `a\n\n${CUE_TIMES}\na b\n\n${CUE_TIMES}\na b\nc\n\n${CUE_TIMES}\nc\n\n${CUE_TIMES}\nc d\n\n${CUE_TIMES}\n`,
];
const SRT_HEAD = `1\n${CUE_TIMES}\n`;
const VTT_HEAD = `WEBVTT\n\n${CUE_TIMES}\n`;
const CAPTIONED = [
  'a ',
  'a. ',
  '*\n\n',
  '"a ',
  '看守人又爬上楼梯因为灯亮了而且没有人知道为什么',
  'สวัสดีครับผมชื่อสมชาย',
];

const MARKED = [
  'One. ',
  '<p>One. Two.</p>',
  'One <b>two. Three</b> four.<br/>',
  '<i>One. </i>',
  '<div><p>One</p></div>',
  '&#65;. ',
  '<p id="a">One.</p>',
];

const entries = ['.NET', 'C++', 'a a b'].map((written) => ({ written, spoken: 'spoken' }));
const lexicon = new Lexicon(entries);

const asBytes = (document: string): Uint8Array => Buffer.from(document);
const english = openEnglish(new URL('../../assets/voice', import.meta.url), () => 'x');
const readers: readonly (readonly [
  name: string,
  pieces: readonly string[],
  read: (document: string) => unknown,
])[] = [
  ['HTML', HTML, (document) => readDocument('html', asBytes(document))],
  ['an EPUB', HTML.slice(0, 12), (document) => readDocument('epub', epubOf([document]))],
  ['Markdown', MARKDOWN, (document) => readDocument('markdown', asBytes(document))],
  ['live Markdown', MARKDOWN, (document) => createMarkdownStream('skip').write(document)],
  ['SSML', SSML, (body) => readDocument('ssml', asBytes(`<speak>${body}</speak>`))],
  ['a PLS', PLS, (body) => readLexicon(`<lexicon>${body}</lexicon>`)],
  ['a table of words', TABLE, (rows) => readLexicon(`x,y\n${rows}`)],
  ['the phonemes of a text', PHONEMES, (text) => english.phonemes(text)],
  ['a long text in parts', WITHOUT_SPACES, (text) => splitParts(text, 10_000)],
  ['formulas in a plain text', FORMULAS, findFormulas],
  ['a text with a lexicon', WORDS, (text) => lexicon.apply(plainText(text))],
  ['SubRip to speak', SUBTITLES, (file) => readSpoken(SRT_HEAD + file)],
  ['SubRip to check', SUBTITLES, (file) => readSubtitles(SRT_HEAD + file, 'a.srt')],
  ['WebVTT to speak', SUBTITLES, (file) => readSpoken(VTT_HEAD + file)],
  ['WebVTT to check', SUBTITLES, (file) => readSubtitles(VTT_HEAD + file, 'a.vtt')],
  ['and caption a text', CAPTIONED, caption],
  ['and mark an XHTML document', MARKED, mark],
];

/** The size doubles from the fewest units until reading takes enough time, or to the most units. */
const FEWEST_UNITS = 15_000;
const MOST_UNITS = 128 * FEWEST_UNITS;
// A shorter time says more about the machine than about the reader.
const ENOUGH_MS = 300;
/** Two doublings, because the noise of one is as large as what it allows. */
const TIMES_LONGER = 4;
const MOST_TIMES = 2.3 ** 2;
/** Each try has twice the size: a reader that looks ahead, but only so far, is linear where the text is much longer. */
const MOST_TRIES = 3;

describe.each(readers)('the time to read %s', (_name, pieces, read) => {
  test.each(pieces)('grows with the length: %j', { timeout: 120_000 }, async (piece) => {
    const repeated = (units: number): string => piece.repeat(units / piece.length);
    let units = FEWEST_UNITS;
    while ((await leastTimeOf(read, repeated(units))) < ENOUGH_MS) {
      if (units === MOST_UNITS) return;
      units *= 2;
    }
    const ratios: number[] = [];
    while (ratios.length < MOST_TRIES && !ratios.some((ratio) => ratio <= MOST_TIMES)) {
      const shorter = await leastTimeOf(read, repeated(units / TIMES_LONGER));
      ratios.push((await leastTimeOf(read, repeated(units))) / shorter);
      units *= 2;
    }
    expect(Math.min(...ratios), JSON.stringify({ units, ratios })).toBeLessThanOrEqual(MOST_TIMES);
  });
});

test('the loudness of speech with pauses is measured as fast as that of noise', async () => {
  const [noise, speech] = [minuteOf(() => false), minuteOf((second) => second % 4 > 3)];
  const ratios: number[] = [];
  while (ratios.length < MOST_TRIES && !ratios.some((ratio) => ratio <= 2)) {
    const shorter = await leastTimeOf(() => measureLoudness(noise), '');
    ratios.push((await leastTimeOf(() => measureLoudness(speech), '')) / shorter);
  }
  expect(Math.min(...ratios), JSON.stringify(ratios)).toBeLessThanOrEqual(2);
});

function minuteOf(isSilent: (second: number) => boolean): Float32Array {
  return Float32Array.from({ length: 60 * 44_100 }, (_, index) =>
    isSilent(index / 44_100) ? 0 : Math.sin(index * index) / 2,
  );
}

function measureLoudness(samples: Float32Array): void {
  new LoudnessMeter(1, 44_100).write([samples]);
}

function mark(body: string): unknown {
  const xhtml = `<html xmlns="http://www.w3.org/1999/xhtml"><body>${body}</body></html>`;
  const { origins, text } = readHtmlOrigins(xhtml);
  const units = splitSentences(text);
  return insert(xhtml, markUnits(readElements(xhtml), origins, units).insertions);
}

function caption(text: string): Subtitles {
  const words = [...text.matchAll(/[^\s]{1,9}/gu)].map(([word], index) => {
    return { text: word, startMs: index * 300, endMs: index * 300 + 250 };
  });
  const timings = timingsOf({ text, durationMs: words.length * 300, complete: true, words });
  return subtitlesOf(timings, { ...CUE_PRESETS.netflix, by: 'phrase' }, 'vtt');
}

/** Returns the lower of two times: the first call may wait for the compiler. */
async function leastTimeOf(read: (text: string) => unknown, text: string): Promise<number> {
  const first = await timeOf(read, text);
  return Math.min(first, await timeOf(read, text));
}

/**
 * Returns the milliseconds of processor time that reading takes, whether the text is read or refused. The collector runs
 * before it, and the young generation is so large that it seldom runs in between (vitest.config.mts).
 */
async function timeOf(read: (text: string) => unknown, text: string): Promise<number> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  await Promise.resolve()
    .then(() => read(text))
    .catch(() => undefined);
  const { system, user } = process.cpuUsage(before);
  return (system + user) / 1_000;
}
