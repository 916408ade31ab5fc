import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DocumentError } from '../../../src/text/formats/document-error.ts';
import { readDocument } from '../../../src/text/formats/read-document.ts';
import type { CodeMode, DocumentFormat } from '../../../src/text/formats/text-formats.ts';
import { documentFormat } from '../../../src/text/formats/text-formats.ts';
import { epubOf } from '../../harness/epub.ts';

async function textOf(format: DocumentFormat, document: string, code?: CodeMode): Promise<string> {
  const [part] = await readDocument(format, Buffer.from(document), code);
  return part?.text ?? '';
}

/** A document, and what is said of it. */
type Row = readonly [what: string, document: string, text: string];

const MARKDOWN: readonly Row[] = [
  ['headings end as sentences', '# One\n\nTwo\n===\n\n## Why?', 'One.\n\nTwo.\n\nWhy?'],
  ['emphasis marks are gone', 'a **b** _c_ ~~d~~ ***e*** `f` \\*g\\*', 'a b c d e f *g*'],
  ['wrapped lines are joined, hard breaks are kept', 'one\ntwo  \nthree', 'one two\nthree'],
  ['links speak their text', '[one](http://x.com "t") [two][r]\n\n[r]: http://y.com', 'one two'],
  ['an address speaks itself', 'See <https://x.com>.', 'See https://x.com.'],
  ['images speak their alternative text', '![a *big* cat](c.png) sat', 'a big cat sat'],
  [
    'images are words of their own',
    'a![b](c)[d](e) "![f](g)"! ![h](i)2, un[like](j)ly',
    'a b d "f"! h 2, unlikely',
  ],
  [
    'list items end as sentences',
    '- one\n- two!\n  1. three\n- [x] four',
    'one.\ntwo!\n1. three.\nfour.',
  ],
  ['items may have paragraphs', '1. one\n\n   more\n2. two', '1. one.\nmore.\n2. two.'],
  ['tables are spoken row by row', '|A|B|\n|-|-|\n|1|x y|\n|2||', 'A, B.\n1, x y.\n2.'],
  ['quotes are spoken', '> one\n> > two', 'one\n\ntwo'],
  ['code blocks are left out', 'a\n\n```js\nlet b;\n```\n\n    indented\n\nc', 'a\n\nc'],
  ['footnotes are left out', 'a[^1] b^[inline].\n\n[^1]: note\n\n    more\n\nc', 'a b.\n\nc'],
  ['front matter is left out', '---\ntitle: "A"\ntags: [b]\n---\n\nText', 'Text'],
  ['TOML front matter is left out', '+++\ntitle = "A"\n+++\nText', 'Text'],
  [
    'superscripts and subscripts of Pandoc are exponents, notes and indexes',
    'm^2^ s^-1^, H~2~O, mc^2^, 10^6^ m^2^s, 1^st^, ^14^C, word^a\\ b^ shown^4^ x^n^',
    'm² s⁻¹, H2O, mc², 10⁶ m²s, 1st, 14C, worda b shown x^n',
  ],
  [
    'other signs of this kind stay',
    'x^2+y^2=z^2, 2^10 or 3^4, ^_^ ^o^, ~5 to ~6, ~/a:~/b, a^b^c',
    'x^2+y^2=z^2, 2^10 or 3^4, ^_^ ^o^, ~5 to ~6, ~/a:~/b, a^b^c',
  ],
  ['lists of HTML may count down', '<ol reversed><li>a<li>b</ol>', '2. a.\n1. b.'],
  [
    'the JavaScript of MDX is left out',
    "import A from '../a.js'\nimport { b } from 'b'\n\nexport const c = {\n  d: 1,\n}\n\ne {/* f */}\n\nimport g from h",
    'e\n\nimport g from h',
  ],
  ['a text between rules is no front matter', '---\n\nOne two\n\n---\n\nThree', 'One two\n\nThree'],
  [
    'comments and scripts are left out',
    'a <!-- b --> c\n\n<script>\nd\n</script>\n\n<!--\ne\n-->',
    'a c',
  ],
  [
    'HTML speaks its text',
    '<p align="x">One <b>two</b></p>\n\na<br>b <kbd>c</kbd>',
    'One two\n\na\nb c',
  ],
  ['entities are decoded', 'a &amp; b &eacute;&nbsp;c', 'a & b é c'],
  ['rules and marks alone are left out', 'a\n\n* * *\n\n\\*\\*\\*\n\n👋', 'a'],
  ['Chinese headings get their own full stop', '# 第一章\n\n正文', '第一章。\n\n正文'],
];

const HTML: readonly Row[] = [
  [
    'headings and list items end as sentences',
    '<h1>One</h1><ul><li>a<li><p>b</p></ul>',
    'One.\n\na.\nb.',
  ],
  [
    'a list may count down from the number of its items, and from letters up',
    '<ol reversed><li>a<ol><li>x<li>y</ol><li value=9>b<li>c</ol><p>d<ol start=26 type=a><li>e<li>f</ol><p>g<ol hidden reversed><li>h</ol><ol reversed><li>i</ol><ol style="list-style-type: upper-alpha"><li>j</ol>',
    '3. a.\n1. x.\n2. y.\n9. b.\n8. c.\n\nd\n\nZ. e.\nAA. f.\n\ng\n\n1. i.\nA. j.',
  ],
  ['text needs no elements', 'just &lt;text&gt;', 'just <text>'],
  ['white space is joined', '<p>  a\n <b> b</b>c\t</p>\n', 'a bc'],
  [
    'blocks end a paragraph, line breaks do not',
    '<div>a<div>b</div>c<br/>d</div>',
    'a\n\nb\n\nc\nd',
  ],
  [
    'head, scripts and styles are left out',
    '<!DOCTYPE html><html><head><title>T</title><style>a{}</style><body>a<script>b</script><!-- c -->d',
    'ad',
  ],
  [
    'hidden text and menus are left out',
    '<nav>a</nav><p hidden>b</p><i aria-hidden="true">c</i>d',
    'd',
  ],
  ['images speak their alternative text', '<img alt="A cat"> sat<img src=x>', 'A cat sat'],
  ['code blocks are left out', 'a<pre><code>b</code></pre>c <code>d</code>', 'a\n\nc d'],
  [
    'tables are spoken row by row',
    '<table><caption>T</caption><tr><th>A<th>B</tr><tr><td><p>1</p><td>2.</table>',
    'T.\n\nA, B.\n1, 2.',
  ],
  [
    'footnotes are left out',
    'a<sup><a href="#f">1</a></sup><a role="doc-noteref">2</a> b<sup>2</sup><aside epub:type="footnote">c</aside><section class="footnotes">d</section>',
    'a b²',
  ],
  [
    'what is read aside of a word is left out',
    '<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>',
    '漢',
  ],
  ['invisible characters are gone', 'so\u00adft\u200bhy\u00adphen', 'softhyphen'],
  ['empty elements of XHTML are empty', '<title/><a id="x"/><script src="y"/>text', 'text'],
];

const SUBTITLES: readonly Row[] = [
  [
    'SubRip speaks its text without numbers, times and tags',
    '1\r\n00:00:01,000 --> 00:00:02,000\r\n<i>Hello</i>\r\nthere.\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\n{\\an8}- Bye.\r\n- Bye!',
    'Hello there. Bye. Bye!',
  ],
  [
    'WebVTT speaks its text without notes, styles and names',
    'WEBVTT - title\n\nNOTE a\nb\n\nSTYLE\n::cue {}\n\nid\n00:01.000 --> 00:02.000 align:start\n<v Ann>One &amp; <00:01.500>two\n\n00:02.000 --> 00:03.000\nOne & two\n\n00:03.000 --> 00:04.000\nThree',
    'One & two Three',
  ],
];

describe('the text of', () => {
  it.each(MARKDOWN)('Markdown: %s', async (_what, document, text) => {
    expect(await textOf('markdown', document)).toBe(text);
  });

  it.each(HTML)('HTML: %s', async (_what, document, text) => {
    expect(await textOf('html', document)).toBe(text);
  });

  it.each(SUBTITLES)('subtitles: %s', async (_what, document, text) => {
    expect(await textOf('subtitles', document)).toBe(text);
  });

  it('code blocks is read or announced on request', async () => {
    const [markdown, html] = ['a\n\n```\nb  c\n  d\n```', 'a<pre>b  c\n  d</pre>'];
    expect(await textOf('markdown', markdown, 'read')).toBe('a\n\nb c\nd');
    expect(await textOf('html', html, 'read')).toBe('a\n\nb c\nd');
    expect(await textOf('markdown', markdown, 'announce')).toBe('a\n\nCode block.');
    expect(await textOf('html', html, 'announce')).toBe('a\n\nCode block.');
  });

  it('an EPUB is that of its chapters, in the order of the spine, without empty ones', async () => {
    const book = epubOf(['<h1>One</h1><p>First.</p>', '<img src="c.png"/>', '<p>Second.</p>']);
    const chapters = await readDocument('epub', book);
    expect(chapters.map(({ text }) => text)).toEqual(['One.\n\nFirst.', 'Second.']);
  });

  it('SSML has aliases and pauses', async () => {
    const ssml = `<?xml version="1.0"?><speak version="1.1" xmlns="http://www.w3.org/2001/10/synthesis">
      <p><s>The <sub alias="World Wide Web">WWW</sub> is here</s><s>So</s></p>
      One<break time=".5s"/> two.<break strength="strong"/><break time="+1s"/>
    </speak>`;
    expect(await readDocument('ssml', Buffer.from(ssml))).toEqual([
      {
        text: 'The World Wide Web is here.\nSo.\n\nOne two.',
        written: 'The WWW is here.\nSo.\n\nOne two.',
        replaced: [{ written: { start: 4, end: 7 }, spoken: { start: 4, end: 18 } }],
        pauses: [
          { at: 36, ms: 500 },
          { at: 41, ms: 800 },
          { at: 41, ms: 1_000 },
        ],
      },
    ]);
  });
});

describe('a break in SSML', () => {
  it.each([
    ['Breathe in<break time="1s"/>breathe out', 'Breathe in breathe out', 10],
    ['In.<break time="1s"/>Out.', 'In. Out.', 3],
    ['In<break time="1s"/>, out', 'In, out', 2],
    ['In <break time="1s"/> out', 'In out', 2],
    ['(<break time="1s"/>out)', '(out)', 1],
    ['5<break time="1s"/>$6', '5 $6', 1],
    ['灯<break time="1s"/>亮了', '灯亮了', 1],
    ['In<break time="1s"/><sub alias="b">a</sub>', 'In b', 2],
    ['<sub alias="b">a</sub><break time="1s"/>out', 'b out', 1],
    ['In<break strength="none"/>out', 'In out', undefined],
  ])('parts the words of %s', async (ssml, text, at) => {
    const [read] = await readDocument('ssml', Buffer.from(`<speak>${ssml}</speak>`));
    expect(read?.text).toBe(text);
    expect(read?.pauses).toEqual(at === undefined ? [] : [{ at, ms: 1_000 }]);
  });
});

describe('the format', () => {
  it.each([
    ['auto', 'a.md', 'markdown'],
    ['auto', 'A.HTM', 'html'],
    [undefined, 'dir.md/a.txt', undefined],
    [undefined, 'a.epub', 'epub'],
    [undefined, undefined, undefined],
    ['plain', 'a.md', undefined],
    ['subtitles', 'a.txt', 'subtitles'],
  ] as const)('%s of the file %s is %s', (given, file, format) => {
    expect(documentFormat(given, file)).toBe(format);
  });
});

it.each(['windows-1252', 'iso-8859-1'])('HTML in %s keeps its quotation marks', async (charset) => {
  const html = `<meta charset="${charset}"><p>\x93Caf\xe9\x94 \x96 5 \x80</p>`;
  const [part] = await readDocument('html', Buffer.from(html, 'latin1'));
  expect(part?.text).toBe('“Café” – 5 €');
});

const REFUSED: readonly (readonly [DocumentFormat, string, RegExp, number | undefined])[] = [
  ['markdown', '---\na: b\n---\n```\ncode\n```', /no text to speak/, undefined],
  ['markdown', `${'> '.repeat(300)}a`, /nested more than 200/, undefined],
  ['html', '<script>a</script>', /no text to speak/, undefined],
  ['html', '<div>'.repeat(1_001), /nested more than 1000/, undefined],
  ['html', '<!DOCTYPE html [<!ENTITY a "b">]>&a;', /DOCTYPE/, undefined],
  ['epub', 'text', /not an EPUB/, undefined],
  ['subtitles', 'Hello', /no line has a time/, undefined],
  ['subtitles', '1\n00:00 --> later\na', /not a time of a subtitle: "00:00 --> later"/, 2],
  ['subtitles', '00:01.0 --> 00:02.0\na\n\n00:03.0 -> 00:04.0\nb', /time of a subtitle: "00:03/, 4],
  ['ssml', '<speak>\n<prosody>a</prosody></speak>', /the element <prosody> is not supported/, 2],
  ['ssml', '<p>a</p>', /the root element is <p>/, 1],
  ['ssml', '<speak>a<speak>b</speak></speak>', /<speak> is inside <speak>/, 1],
  ['ssml', '<speak>\n\n<sub>a</sub></speak>', /<sub> has no alias/, 3],
  ['ssml', '<speak><sub alias="b"><s>a</s></sub></speak>', /<s> is inside <sub>/, 1],
  ['ssml', '<speak>a<break time="61s"/></speak>', /time="61s"/, 1],
  ['ssml', '<speak>a<break time="soon"/></speak>', /time="soon"/, 1],
  ['ssml', '<speak>a<break strength="big"/></speak>', /strength="big"/, 1],
  ['ssml', '<speak>a\n<p>b</speak>', /not well-formed XML/, 2],
  ['ssml', '<speak>&nope;</speak>', /not well-formed XML/, 1],
  ['ssml', 'Hello', /not well-formed XML/, 1],
  ['ssml', '<speak>a\n<!NOTATION b></speak>', /not well-formed XML: a declaration/, 2],
  ['ssml', '<!-- > -->\n<!notation b><speak>a</speak>', /not well-formed XML: a declaration/, 2],
  [
    'ssml',
    '<!DOCTYPE speak><!NOTATION b><speak>a</speak>',
    /not well-formed XML: a declaration/,
    1,
  ],
  ['ssml', '<speak>a<break time="1.s"/></speak>', /time="1\.s"/, 1],
  ['ssml', '<speak hasOwnProperty="a" b="c">x</speak>', /not well-formed XML/, 1],
  ['ssml', '<speak><break/></speak>', /no text to speak/, undefined],
];

it.each(REFUSED)('%s %j is refused', async (format, document, message, line) => {
  const reading = readDocument(format, Buffer.from(document));
  await expect(reading).rejects.toThrow(DocumentError);
  await expect(reading).rejects.toMatchObject({ message: expect.stringMatching(message), line });
});

const words = fc.stringMatching(/^[a-z]{1,6}$/);
const sentence = fc.array(words, { minLength: 1, maxLength: 6 }).map((one) => one.join(' '));

/** A block in Markdown and in HTML, and the words in it. */
const block = fc.oneof(
  sentence.map((text) => ({ markdown: text, html: `<p>${text}</p>`, text })),
  sentence.map((text) => ({ markdown: `## ${text}`, html: `<h2>${text}</h2>`, text })),
  fc.array(sentence, { minLength: 1, maxLength: 3 }).map((items) => ({
    markdown: items.map((item) => `* ${item}`).join('\n'),
    html: `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`,
    text: items.join(' '),
  })),
  sentence.map((text) => ({
    markdown: `> *${text}*`,
    html: `<blockquote><i>${text}</i></blockquote>`,
    text,
  })),
);
const blocks = fc.array(block, { minLength: 1, maxLength: 8 });

const wordsOf = (text: string) => text.match(/[a-z]+/g);

describe('a document of any blocks', () => {
  it('has the same words in Markdown, HTML and an EPUB, and only its own', async () => {
    await fc.assert(
      fc.asyncProperty(blocks, async (drawn) => {
        const expected = wordsOf(drawn.map(({ text }) => text).join(' '));
        // A comment between lists keeps them apart.
        const markdown = drawn.map((one) => one.markdown).join('\n\n<!-- -->\n\n');
        const html = drawn.map((one) => one.html).join('\n');
        expect(wordsOf(await textOf('markdown', markdown))).toEqual(expected);
        expect(await textOf('html', html)).toBe(await textOf('markdown', markdown));
        const [chapter] = await readDocument('epub', epubOf([html]));
        expect(wordsOf(chapter?.text ?? '')).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  it('is read or refused, whatever its characters are', async () => {
    const marks = fc.constantFrom(
      ...Array.from('<>/&;!-[]()*_#`|\n\t =\'":~^\\ab1 '),
      '<p>',
      '</p>',
      '<table>',
      '<td>',
      '<pre>',
      '-->',
      '<speak>',
      '</speak>',
      '<break/>',
      '00:01 --> 00:02',
      '<![CDATA[',
    );
    const noise = fc.array(marks, { maxLength: 60 }).map((drawn) => drawn.join(''));
    await fc.assert(
      fc.asyncProperty(noise, async (document) => {
        for (const format of ['markdown', 'html', 'ssml', 'subtitles', 'epub'] as const) {
          const read = readDocument(format, Buffer.from(document), 'read');
          const parts = await read.catch((error: unknown) => {
            expect(error).toBeInstanceOf(DocumentError);
            return [];
          });
          for (const { text } of parts) {
            expect(text).toBe(text.trim());
            expect(text).not.toMatch(/\n{3}| {2}| \n/);
          }
        }
      }),
    );
  });
});
