import { describe, expect, test } from 'vitest';
import { openEnglish } from '../../../src/phonemes/english.ts';
import { plainText } from '../../../src/text/document.ts';
import { readDocument } from '../../../src/text/formats/read-document.ts';
import { readLexicon } from '../../../src/text/formats/read-lexicon.ts';
import { createMarkdownStream } from '../../../src/text/formats/markdown-stream.ts';
import { Lexicon } from '../../../src/text/lexicon.ts';
import { splitParts } from '../../../src/text/parts.ts';
import { findFormulas } from '../../../src/text/reading/formulas.ts';
import { epubOf } from '../../harness/epub.ts';

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

const entries = ['.NET', 'C++', 'a a b'].map((written) => ({ written, spoken: 'spoken' }));
const lexicon = new Lexicon(entries);

const asBytes = (document: string): Uint8Array => Buffer.from(document);
const english = openEnglish(new URL('../../../assets/voice', import.meta.url), () => 'x');
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
];

const SHORTER_UNITS = 60_000;
const MOST_TRIES = 5;
const MOST_TIMES = 2.3;
// A shorter time says more about the machine than about the reader.
const SHORTEST_MS = 40;

describe.each(readers)('the time to read %s', (_name, pieces, read) => {
  test.each(pieces)('grows with the length: %j', { timeout: 120_000 }, async (piece) => {
    let least = Infinity;
    for (let tries = 0; tries < MOST_TRIES && least > MOST_TIMES; tries += 1) {
      const shorter = await timeOf(() => read(piece.repeat(SHORTER_UNITS / piece.length)));
      const longer = await timeOf(() => read(piece.repeat((2 * SHORTER_UNITS) / piece.length)));
      least = Math.min(least, longer < SHORTEST_MS ? 0 : longer / shorter);
    }
    expect(least).toBeLessThanOrEqual(MOST_TIMES);
  });
});

/** Milliseconds that reading takes, whether the document is read or refused. */
async function timeOf(read: () => unknown): Promise<number> {
  const start = performance.now();
  await Promise.resolve()
    .then(() => read())
    .catch(() => undefined);
  return performance.now() - start;
}
