import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/errors/failure.ts';
import { readScript, scriptFormat } from '../../src/script/read/read-script.ts';
import type { ScriptFormat } from '../../src/script/script.ts';
import { epubOf } from '../harness/epub.ts';

describe('a dialogue', () => {
  it('has a line for each speaker, until the next speaker or a blank line', async () => {
    const lines = await read(`ADA: Hello,
Bob.
BOB: Hello.
How are you?

They sit down.
DR. SMITH 2: Good.`);
    expect(lines).toEqual([
      ['Ada', 'Hello, Bob.'],
      ['BOB', 'Hello. How are you?'],
      [undefined, 'They sit down.'],
      ['DR. SMITH 2', 'Good.'],
    ]);
  });

  it('takes names of the cast in any case, and other names in capitals only', async () => {
    const lines = await read(
      'ada: One.\nAda Byron: Two.\nNote: three.\nHTTP://x.y: four.\n\nA B C D E: five.',
    );
    expect(lines).toEqual([
      ['Ada', 'One.'],
      ['Ada Byron', 'Two. Note: three. HTTP://x.y: four.'],
      [undefined, 'A B C D E: five.'],
    ]);
  });

  it('has no chapter for the heading of a book or a part before its first chapter', async () => {
    const text =
      '# Book\n\n## One\nADA: Hi.\n\n## Two\nHo.\n\n# Part\n## Three\nHa.\n\n# Last\nBye.';
    const script = await readAll(text, { file: 'a.md' });
    expect(script.map(({ chapter }) => chapter)).toEqual(['One', 'Two', 'Three', 'Last']);
  });

  it('leaves out lines that begin with > or are in parentheses', async () => {
    const lines = await read('> Scene one\nADA: One.\n(laughs (loudly))\nTwo.\n(a) and (b)\n> end');
    expect(lines).toEqual([['Ada', 'One. Two. (a) and (b)']]);
  });

  it('has chapters, and pauses within and between lines', async () => {
    const script = await readAll(`# One
ADA: Hello. [pause 1s] Again. [pause 0.2s]

[pause 2s]

# Two
[pause 500ms]
BOB: Bye.
[pause 3s]`);
    expect(script.map(({ chapter, silences, texts }) => ({ chapter, silences, texts }))).toEqual([
      { chapter: 'One', texts: ['Hello.', 'Again.'], silences: [0, 1_000, 200] },
      { chapter: 'Two', texts: ['Bye.'], silences: [2_500, 3_000] },
    ]);
  });

  it('drops inline marks of Markdown', async () => {
    const text =
      '# *One*\n**ADA:** It is *very* [good](x.html).\n__Ada Byron__: `Yes`, 2 * 3 * 4.\n- And\n- more.';
    const script = await readAll(text, { file: 'a.md' });
    expect(script.map(({ chapter, speaker, texts }) => [chapter, speaker, ...texts])).toEqual([
      ['One', 'Ada', 'It is very good.'],
      [undefined, 'Ada Byron', 'Yes, 2 * 3 * 4. - And - more.'],
    ]);
  });

  it('gives back the speakers and texts of any dialogue', async () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    const speech = fc.record({
      speaker: fc.stringMatching(/^[A-Z]{1,5}( [A-Z]{1,5}){0,3}$/),
      words: fc.array(word, { minLength: 1, maxLength: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(speech, { minLength: 1, maxLength: 9 }),
        fc.constantFrom('\n', '\n\n', '\r\n', '\n(sighs)\n'),
        async (speeches, separator) => {
          const rows = speeches.map(({ speaker, words }) => `${speaker}:  ${words.join(' ')}`);
          const lines = await read(rows.join(separator));
          expect(lines).toEqual(speeches.map(({ speaker, words }) => [speaker, words.join(' ')]));
        },
      ),
    );
  });
});

describe('a table', () => {
  it('is CSV or JSON Lines with the same fields', async () => {
    const csv =
      'speaker,text,id,start,speed,pauseAfter,chapter\nADA,"Hello, [pause 1s] Bob",a,1.5,1.2,800ms,One\n,Bye,,00:00:03.250,,,\n';
    const jsonl = [
      {
        speaker: 'ADA',
        text: 'Hello, [pause 1s] Bob',
        id: 'a',
        start: 1.5,
        speed: 1.2,
        pauseAfter: '800ms',
        chapter: 'One',
      },
      { text: 'Bye', start: '00:00:03.250' },
    ]
      .map((row) => JSON.stringify(row))
      .join('\n');
    const expected = [
      {
        number: 1,
        speaker: 'ADA',
        id: 'a',
        texts: ['Hello,', 'Bob'],
        silences: [0, 1_000, 0],
        startMs: 1_500,
        pauseAfterMs: 800,
        chapter: 'One',
        controls: { speed: 1.2 },
      },
      { number: 2, texts: ['Bye'], silences: [0, 0], startMs: 3_250, controls: {} },
    ];
    for (const [text, file] of [
      [csv, 'a.csv'],
      [jsonl, 'a.jsonl'],
    ] as const) {
      const script = await readAll(text, { file });
      expect(script).toMatchObject(expected);
      expect(script).toHaveLength(expected.length);
    }
  });
});

describe('a book', () => {
  it('has the chapters of an EPUB, with a line for each paragraph', async () => {
    const bytes = epubOf([
      '<h1>The start</h1><p>It was <i>cold</i>.</p><p>Very cold. [pause 1s] So cold.</p>',
      '<p>Only a paragraph.</p>',
    ]);
    const source = { file: 'a.epub', bytes, format: 'epub', cast: [], mayOverlap: false } as const;
    const script = await readScript(source, () => undefined);
    expect(script.map(({ chapter, speaker, texts }) => [chapter, speaker, ...texts])).toEqual([
      ['The start', undefined, 'The start.'],
      [undefined, undefined, 'It was cold.'],
      [undefined, undefined, 'Very cold.', 'So cold.'],
      ['Chapter 2', undefined, 'Only a paragraph.'],
    ]);
  });

  const CHAPTERS = [
    '<p>For my mother.</p>',
    '<h1>One</h1><p>It begins.</p><h2 id="two">Two</h2><p>It goes on.</p>',
    '<p>It still goes on.</p>',
    '<h1>Three</h1><p>It ends.</p>',
  ];
  const LINKS = [
    ['c1.xhtml', 'The First &amp; Only'],
    ['c1.xhtml#two', '2'],
    ['c3.xhtml#missing', ' Chapter\n Three '],
  ] as const;
  const entry = ([href, title]: (typeof LINKS)[number]): string =>
    `<li><a href="text/${href}"><span>${title}</span></a></li>`;
  const nav = `<html xmlns:epub="http://www.idpf.org/2007/ops"><body>
<nav epub:type="landmarks"><ol><li><a href="text/c0.xhtml">Begin</a></li></ol></nav>
<nav epub:type="toc"><h1>Contents&nbsp;</h1><ol>${LINKS.map(entry).join('')}</ol></nav></body></html>`;
  const point = ([href, title]: (typeof LINKS)[number]): string =>
    `<navPoint><navLabel><text>${title}</text></navLabel><content src="text/${href}"/></navPoint>`;
  const ncx = `<ncx><docTitle><text>Book</text></docTitle><navMap>${LINKS.map(point).join('')}</navMap></ncx>`;

  it.each([
    ['navigation document', { nav }],
    ['NCX', { ncx }],
    ['navigation document, though there is an NCX', { nav, ncx: ncx.replaceAll('Three', '3') }],
  ])('has the chapters of its table of contents (%s)', async (_what, contents) => {
    const bytes = epubOf(CHAPTERS, {}, contents);
    const source = { file: 'a.epub', bytes, format: 'epub', cast: [], mayOverlap: false } as const;
    const script = await readScript(source, () => undefined);
    expect(script.map(({ chapter, texts }) => [chapter, ...texts])).toEqual([
      [undefined, 'For my mother.'],
      ['The First & Only', 'One.'],
      [undefined, 'It begins.'],
      ['2', 'Two.'],
      [undefined, 'It goes on.'],
      [undefined, 'It still goes on.'],
      ['Chapter Three', 'Three.'],
      [undefined, 'It ends.'],
    ]);
  });

  it('has all chapters of a file, also those that begin inside a paragraph or a list', async () => {
    const count = 300;
    const html = Array.from({ length: count }, (_, at) =>
      at % 2 === 0
        ? `<ul><li>One.</li><li>Two.</li></ul><h2><a name="c${at}"/>Chapter</h2><p>It goes on.</p>`
        : `<p>A part<a id="c${at}"/> of a line.</p><p>Chapter</p>`,
    ).join('');
    const links = Array.from(
      { length: count },
      (_, at) => `<a href="text/c0.xhtml#c${at}">${at}</a>`,
    );
    const bytes = epubOf([html], {}, { nav: `<nav>${links.join('')}</nav>` });
    const source = { file: 'a.epub', bytes, format: 'epub', cast: [], mayOverlap: false } as const;
    const script = await readScript(source, () => undefined);
    const begun = script.filter(({ chapter }) => chapter !== undefined);
    expect(begun.map(({ chapter }) => chapter)).toEqual(links.map((_, at) => `${at}`));
    for (const { texts } of begun) expect(texts[0]).toMatch(/^Chapter/);
  });

  it.each(['<nav', '<html></html>', '<nav><a href="none.xhtml">Gone</a></nav>'])(
    'has the chapters of its headings if its table of contents is %s',
    async (contents) => {
      const bytes = epubOf(CHAPTERS.slice(3), {}, { nav: contents });
      const source = {
        file: 'a.epub',
        bytes,
        format: 'epub',
        cast: [],
        mayOverlap: false,
      } as const;
      const [first] = await readScript(source, () => undefined);
      expect(first).toMatchObject({ chapter: 'Three', texts: ['Three.'] });
    },
  );
});

describe('subtitles', () => {
  it('are a timed script with speakers', async () => {
    const script = await readAll(
      'WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>Hi <i>you</i>\n\n00:02.000 --> 00:03.000\n- BOB: Hello\nthere.\n\n00:04.000 --> 00:05.000\n♪\n\n00:06.000 --> 00:07.000\nBye.\n',
      { file: 'a.vtt' },
    );
    expect(
      script.map(({ endMs, speaker, startMs, texts }) => [startMs, endMs, speaker, ...texts]),
    ).toEqual([
      [1_000, 2_000, 'Ann', 'Hi you'],
      [2_000, 3_000, 'BOB', 'Hello there.'],
      [6_000, 7_000, undefined, 'Bye.'],
    ]);
  });

  it('may overlap only if this is allowed', async () => {
    const text =
      '1\n00:00:01,000 --> 00:00:03,000\nOne.\n\n2\n00:00:02,000 --> 00:00:04,000\nTwo.\n';
    expect(await readAll(text, { file: 'a.srt', mayOverlap: true })).toHaveLength(2);
  });
});

it('leaves out lines without letters and digits, but not their chapters and pauses', async () => {
  const rows = [
    { text: 'One.' },
    { text: '...', chapter: 'Two', pauseAfter: 2 },
    { text: 'Two.' },
    { text: '* * *' },
  ];
  const notices: string[] = [];
  const script = await readScript(
    {
      file: 'a.jsonl',
      bytes: Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n')),
      format: 'jsonl',
      cast: [],
      mayOverlap: false,
    },
    (sentence) => notices.push(sentence),
  );
  expect(script.map(({ chapter, silences, texts }) => [chapter, texts, silences])).toEqual([
    [undefined, ['One.'], [0, 0]],
    ['Two', ['Two.'], [2_000, 0]],
  ]);
  expect(notices).toEqual([
    'a.jsonl, line 2, column 2: no letter or digit to speak: left out',
    'a.jsonl, line 4, column 2: no letter or digit to speak: left out',
  ]);
});

describe('a mistake in a script', () => {
  const CUE = '1\n00:00:01,000 --> 00:00:03,000\n';
  it.each([
    ['a.txt', 'ADA: Hello.\n\n  BOB:\n\nMore.', 'a.txt, line 3, column 7: BOB has no text here'],
    [
      'a.txt',
      'ADA: Hi\nthere [pause 1x] now.',
      'a.txt, line 2, column 7: the pause "[pause 1x]" has no valid length',
    ],
    [
      'a.txt',
      'ADA: Hi [pause 61s].',
      'a.txt, line 1, column 9: the pause "[pause 61s]" is too long',
    ],
    ['a.md', '**ADA**: *Hi* [pause', 'a.md, line 1, column 15: the pause "[pause" is not closed'],
    ['a.txt', 'ADA: …!', 'a.txt has no lines to speak'],
    ['a.txt', '# One\n# Two\nADA: Hi.', 'a.txt, line 1, column 1: this chapter has no lines'],
    [
      'a.csv',
      'text,pauseAfter\nHi,100000',
      'a.csv, line 2, column pauseAfter: pauseAfter is "100000"; it takes at most 1m',
    ],
    [
      'a.csv',
      'text,start\nHi,30h',
      'a.csv, line 2, column start: start is "30h"; it takes at most 24h',
    ],
    [
      'a.srt',
      '1\n30:00:01,000 --> 30:00:03,000\nHi.\n',
      'a.srt, line 2, column 1: this cue is after 24h, the maximum length of a recording',
    ],
    ['a.txt', '#\nADA: Hi.', 'a.txt, line 1, column 1: this chapter has no title'],
    ['a.txt', '> nothing', 'a.txt has no lines to speak'],
    [
      'a.jsonl',
      '{"text":"a"}\n{"speker":"ADA","text":"b"}',
      'a.jsonl, line 2, column 2: unknown key "speker"',
    ],
    [
      'a.jsonl',
      '{"text":"a","start":"soon"}',
      'a.jsonl, line 1, column 13: start is "soon"; it takes a time',
    ],
    [
      'a.jsonl',
      '{"text":"a","speed":9}',
      'a.jsonl, line 1, column 13: speed is 9; it takes a number',
    ],
    ['a.jsonl', '{"text":""}', 'a.jsonl, line 1, column 2: text is empty'],
    ['a.jsonl', '{"text":"a"', 'a.jsonl, line 1, column 12: this line is not valid JSON'],
    [
      'a.jsonl',
      '{"text":"a","id":"x"}\n{"text":"b","id":"x"}',
      'the id "x" is also that of a.jsonl, line 1',
    ],
    [
      'a.jsonl',
      '{"text":"a","start":3}\n{"text":"b","start":2}',
      'a.jsonl, line 2, column 2: this line begins before that of a.jsonl, line 1',
    ],
    ['a.csv', 'speaker,words\nADA,hello', 'a.csv has no column "text"'],
    ['a.csv', 'speaker,text\nADA,', 'a.csv, line 2, column text: the text is missing'],
    ['a.csv', 'text,pauseAfter\nHi,-1', 'a.csv, line 2, column pauseAfter: pauseAfter is "-1"'],
    [
      'a.srt',
      `${CUE}Hi.\n\n2\n00:00:02,000 --> 00:00:04,000\nYou.\n`,
      'a.srt, line 7, column 1: this line begins before that of a.srt, line 3, column 1 ends',
    ],
    ['a.srt', `${CUE}\n`, 'a.srt has no lines to speak'],
    ['a.srt', '1\n00:00:01,000 --> 00:00:xx\nHi.', 'a.srt, line 2, column 18: not a time'],
    ['a.srt', '1\n00:00:01,000 -> 00:00:02,000\nHi.', 'a.srt, line 2, column 1: not a time'],
    ['a.srt', '1\n00:00:62,500 --> 00:01:09,000\nHi.', 'a.srt, line 2, column 1: not a time'],
    [
      'a.srt',
      '1\n00:00:03,000 --> 00:00:01,000\nHi.',
      'a.srt, line 2, column 1: this cue ends before it begins',
    ],
    ['a.pages', 'Hi.', 'a.pages has the extension .pages'],
  ])('of %s is named with line and column', async (file, text, problem) => {
    await expect(readAll(text, { file })).rejects.toThrow(problem);
    await expect(readAll(text, { file })).rejects.toThrow(Failure);
  });
});

const CAST = ['Ada', 'Ada Byron'];

async function readAll(
  text: string,
  { file = 'a.txt', mayOverlap = false }: { file?: string; mayOverlap?: boolean } = {},
) {
  const format: ScriptFormat = scriptFormat(file, undefined);
  const source = { file, bytes: Buffer.from(text), format, cast: CAST, mayOverlap };
  return readScript(source, () => undefined);
}

async function read(text: string) {
  const lines = await readAll(text);
  return lines.map(({ speaker, texts }) => [speaker, ...texts]);
}
