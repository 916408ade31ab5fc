import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { epubOf, zipOf } from '../../harness/epub.ts';
import { docxOf, odtOf } from '../../harness/office-documents.ts';
import { withPeak } from '../../harness/peak-memory.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { batchSandbox } from '../../binary/batch/batch-sandbox.ts';
import { refused, spokenText } from '../../binary/support/spoken-text.ts';

const MARKDOWN = '---\na: b\n---\n# Hi *you*\n\nSee [it](http://x.com).\n\n```\ncode\n```\n';

async function sandboxWith(files: Readonly<Record<string, string | Uint8Array>>) {
  const sandbox = await createSandbox();
  for (const [name, content] of Object.entries(files)) {
    await writeFile(path.join(sandbox.out, name), content);
  }
  return sandbox;
}

describe('foley tts speaks', () => {
  test('the text of a document that its extension names', async () => {
    const sandbox = await sandboxWith({
      'a.md': MARKDOWN,
      'a.HTML': '<title>T</title><h1>Hi</h1>you',
      'a.srt': '1\n00:00:00,000 --> 00:00:01,000\nHi\nyou\n',
      'a.epub': epubOf(['<h1>One</h1>', '<p>Two.</p>']),
    });
    expect(await spokenText(['-f', 'a.md'], { sandbox })).toBe('Hi you.\n\nSee it.');
    expect(await spokenText(['-f', 'a.HTML'], { sandbox })).toBe('Hi.\n\nyou');
    expect(await spokenText(['-f', 'a.srt'], { sandbox })).toBe('Hi you');
    expect(await spokenText(['-f', 'a.epub'], { sandbox })).toBe('One.\n\nTwo.');
  });

  test('a document from stdin or the arguments only with --text-format', async () => {
    expect(await spokenText(['# Hi'])).toBe('# Hi');
    expect(await spokenText([], { input: '<p>Hi</p>' })).toBe('<p>Hi</p>');
    expect(await spokenText(['--text-format', 'markdown', '# Hi'])).toBe('Hi.');
    const html = ['--text-format', 'html'];
    expect(await spokenText(html, { input: '<p>Hi</p>' })).toBe('Hi');
  });

  test('a file as it is with --text-format plain, and code with --code read', async () => {
    const sandbox = await sandboxWith({ 'a.md': MARKDOWN });
    expect(await spokenText(['-f', 'a.md', '--text-format', 'plain'], { sandbox })).toBe(MARKDOWN);
    const code = ['-f', 'a.md', '--code', 'read'];
    expect(await spokenText(code, { sandbox })).toBe('Hi you.\n\nSee it.\n\ncode');
  });

  test('an alias of SSML, and shows what is written in captions', async () => {
    const ssml = '<speak>The <sub alias="World Wide Web">WWW</sub> works.</speak>';
    const sandbox = await sandboxWith({ 'a.ssml': ssml });
    const files = ['-o', 'a.wav', '--timings', 'a.json', '--subtitles', 'a.srt'];
    const result = await runFoley(['tts', '-f', 'a.ssml', '-q', ...files], { sandbox });
    expect(result).toMatchObject({ code: 0 });
    const timings = JSON.parse(await readFile(path.join(sandbox.out, 'a.json'), 'utf8'));
    expect(timings).toMatchObject({ text: 'The WWW works.', complete: true });
    expect(timings.words.map(({ text }: { text: string }) => text)).toEqual([
      'The',
      'WWW',
      'works',
    ]);
    expect(await readFile(path.join(sandbox.out, 'a.srt'), 'utf8')).toContain('\nThe WWW works.\n');
  });
});

describe('foley batch', () => {
  test('makes an item of each chapter of a book, and of each document that is named', async () => {
    const { batch, write } = await batchSandbox({ 'a.md': MARKDOWN, 'b.txt': '# as it is' });
    const long = `<p>${'A long sentence is here. '.repeat(600)}</p>`;
    await write('book.epub', epubOf(['<h1>One</h1>', long]));
    const result = await batch(['a.md', 'b.txt', 'book.epub', '--dry-run']);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.toString().match(/\S+\.mp3/g)).toEqual([
      'a.mp3',
      'b.mp3',
      'book-1.mp3',
      'book-2.mp3',
    ]);
  });

  test('does not buy Markdown again that an earlier version spoke with its marks', async () => {
    const { charged, events } = await batchSandbox({ 'a.md': '# Title\n\nSome **bold** words.\n' });
    await events(['a.md', '--text-format', 'plain']);
    const before = await charged();
    const { statuses } = await events(['a.md']);
    expect(statuses).toEqual({ a: 'skipped' });
    expect(await charged()).toBe(before);
    await events(['a.md', '--redo', 'a']);
    expect(await charged()).toBe(before + 'Title.\n\nSome bold words.'.length);
  });

  test('does not buy Markdown without marks again that was spoken as plain text', async () => {
    const { charged, events } = await batchSandbox({ 'a.md': 'Plain words\nhere.\n\nAnd more.\n' });
    await events(['a.md', '--text-format', 'plain']);
    const before = await charged();
    const { statuses } = await events(['a.md']);
    expect(statuses).toEqual({ a: 'skipped' });
    expect(await charged()).toBe(before);
  });

  test('sends the text of documents, named in a list as well, and shows their words', async () => {
    const { charged, events, read } = await batchSandbox({
      'a.ssml': '<speak><sub alias="World Wide Web">WWW</sub>.</speak>',
      'list.jsonl': '{"file":"a.ssml","id":"b"}\n{"text":"# c","id":"c"}\n',
    });
    const { result, statuses } = await events(['--jsonl', 'list.jsonl', '--timings']);
    expect(result.code, result.stderr).toBe(0);
    expect(statuses).toEqual({ b: 'done', c: 'done' });
    expect(await charged()).toBe('World Wide Web.# c'.length);
    expect(JSON.parse(String(await read('b.json')))).toMatchObject({ text: 'WWW.' });
  });

  test('reads a book without the files that are missing from it, and says so once', async () => {
    const { batch, write } = await batchSandbox({});
    const opf = `<package><manifest><item id="a" href="text/c0.xhtml" media-type="application/xhtml+xml"/><item id="b" href="gone.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>`;
    await write('book.epub', epubOf(['<p>Here.</p>'], { 'OEBPS/book.opf': opf }));
    const result = await batch(['book.epub']);
    expect(result.code, result.stderr).toBe(0);
    expect(
      result.stderr.replaceAll(/\s+/g, ' ').match(/has no file OEBPS\/gone\.xhtml/g),
    ).toHaveLength(1);
  });

  test('refuses a document that cannot be read, before the first request', async () => {
    const { batch, charged, write } = await batchSandbox({ 'a.txt': 'Hi.' });
    await write('b.ssml', '<speak>\n<voice>a</voice></speak>');
    const result = await batch(['a.txt', 'b.ssml']);
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toContain('b.ssml, line 2: the element <voice> is not supported');
    expect(await batch(['a.txt', '--code', 'read'])).toMatchObject({ code: 2 });
    expect(await charged()).toBe(0);
  });
});

test('pauses are refused where they cannot be spoken', async () => {
  const sandbox = await sandboxWith({ 'a.ssml': '<speak>a<break/>b</speak>' });
  const result = await runFoley(['jobs', 'create', '-f', 'a.ssml'], { sandbox });
  expect(result).toMatchObject({ code: 2 });
  expect(result.stderr).toContain('the text has pauses');
});

test('--code is refused for a text without code blocks', async () => {
  const result = await refused(['Hello', '--code', 'skip']);
  expect(result.stderr).toContain('--code works with Markdown, HTML and EPUB only');
});

const DEEP = 100_000;
const MEBIBYTE = 1024 * 1024;
const BOMB = `<?xml version="1.0"?>\n<!DOCTYPE lolz [\n<!ENTITY a "lol">\n${Array.from(
  { length: 9 },
  (_, index) => `<!ENTITY ${'bcdefghij'[index]} "${`&${'abcdefghi'[index]};`.repeat(10)}">`,
).join('\n')}\n]>\n<speak>&j;</speak>`;

const HOSTILE: readonly (readonly [string, () => string | Uint8Array, RegExp])[] = [
  ['bomb.ssml', () => BOMB, /bomb\.ssml, line 13: the DOCTYPE has declarations/],
  ['bomb.html', () => BOMB, /the DOCTYPE has declarations/],
  ['bomb.epub', () => epubOf([], { 'OEBPS/book.opf': BOMB }), /book\.opf, line 13: the DOCTYPE/],
  [
    'file.ssml',
    () => '<!DOCTYPE speak SYSTEM "file:///etc/hostname"><speak>&x;</speak>',
    /not well-formed XML/,
  ],
  ['deep.ssml', () => `<speak>${'<p>'.repeat(DEEP)}`, /elements are nested more than 1000/],
  ['deep.html', () => '<div>'.repeat(DEEP), /elements are nested more than 1000/],
  ['deep.md', () => '>'.repeat(DEEP) + ' a', /nested more than 200/],
  ['list.md', () => '- '.repeat(DEEP) + 'a', /nested more than 200/],
  ['marks.md', () => '*'.repeat(DEEP) + 'a' + '*'.repeat(DEEP), /nested more than 200/],
  [
    'deep.epub',
    () => epubOf(['<div>'.repeat(DEEP)]),
    /c0\.xhtml: elements are nested more than 1000/,
  ],
  ['zip.epub', () => epubOf([`<p>${'a '.repeat(50 * MEBIBYTE)}</p>`]), /c0\.xhtml is too large/],
  ['zips.epub', () => epubOf(Array(8).fill(`<p>${'ab '.repeat(2 * MEBIBYTE)}</p>`)), /too large/],
  ['path.epub', () => epubOf([''], { '../../etc/passwd': 'x' }), /relative path/],
  ['abs.epub', () => epubOf([''], { '/etc/passwd': 'x' }), /absolute path/],
  [
    'outside.epub',
    () => epubOf([''], { 'META-INF/container.xml': '<a><rootfile full-path="../../x.opf"/></a>' }),
    /the book has no file/,
  ],
  ['no.epub', () => zipOf({ 'a.txt': 'a' }), /the book has no file META-INF/],
  ['cut.epub', () => epubOf(['a']).subarray(0, -30), /not an EPUB/],
  ['large.epub', () => Buffer.alloc(100 * MEBIBYTE), /larger than 64 MiB/],
  ['large.docx', () => Buffer.alloc(100 * MEBIBYTE), /larger than 64 MiB/],
  ['large.rtf', () => Buffer.alloc(100 * MEBIBYTE), /larger than 64 MiB/],
  ['large.fb2', () => Buffer.alloc(100 * MEBIBYTE), /larger than 32 MiB/],
  ['deep.docx', () => docxOf('<w:ins>'.repeat(DEEP)), /elements are nested more than 1000/],
  ['zip.docx', () => docxOf('<w:p/>'.repeat(10 * MEBIBYTE)), /document2\.xml is too large/],
  ['zip.odt', () => odtOf('<text:p/>'.repeat(10 * MEBIBYTE)), /content\.xml is too large/],
  ['bomb.fb2', () => BOMB.replace('speak', 'FictionBook'), /the DOCTYPE has declarations/],
  ['large.md', () => 'Hello *there*.\n\n'.repeat(6.5 * MEBIBYTE), /larger than 4 MiB/],
  ['large.html', () => '<p>Hello there.</p>'.repeat(5.5 * MEBIBYTE), /larger than 8 MiB/],
];

test.runIf(process.platform === 'linux')(
  'a lexicon needs little memory for a long text',
  async () => {
    const input = 'A few words of prose about nginxes. '.repeat(0.2 * MEBIBYTE);
    const sandbox = await sandboxWith({ 'names.tsv': 'nginx\tengine x\n', 'a.txt': input });
    const { env, peak } = await withPeak(sandbox);
    const args = ['tts', '-f', 'a.txt', '--lexicon', 'names.tsv', '--dry-run'];
    expect(await runFoley(args, { sandbox, env })).toMatchObject({ code: 0 });
    expect(await peak()).toBeLessThan(400 * MEBIBYTE);
  },
);

describe.runIf(process.platform === 'linux')('a hostile document', () => {
  test.each(HOSTILE)('%s is refused in bounded memory', async (name, content, message) => {
    const sandbox = await sandboxWith({ [name]: content() });
    const { env, peak } = await withPeak(sandbox);
    const result = await runFoley(['tts', '-f', name, '-o', 'a.mp3'], { sandbox, env });
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toMatch(message);
    // A start of Node takes 50 MiB.
    expect(await peak()).toBeLessThan(1_000 * MEBIBYTE);
  });
});
