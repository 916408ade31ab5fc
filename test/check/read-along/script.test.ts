import { beforeEach, describe, expect, test } from 'vitest';
import { zipOf } from '../../harness/epub.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { RunResult } from '../../harness/run-options.ts';
import { bookOf, PANDOC_BOOK } from '../../read-along/books.ts';
import type { BatchSandbox } from '../../binary/batch/batch-sandbox.ts';
import { batchSandbox, lastLine } from '../../binary/batch/batch-sandbox.ts';

const BOOK = bookOf(PANDOC_BOOK);

let sandbox: BatchSandbox;

function script(...args: readonly string[]): Promise<RunResult> {
  const { env } = sandbox.service;
  const all = ['script', ...args, '--voice-name', 'Clara'];
  return runFoley(all, { sandbox: sandbox.sandbox, env });
}

beforeEach(async () => {
  sandbox = await batchSandbox({});
});

test('a read-along book is made again only for what changed', async () => {
  const speak = async (options = PANDOC_BOOK, ...args: readonly string[]) => {
    await sandbox.write('book.epub', bookOf(options));
    const result = await script('book.epub', '-o', 'out.epub', ...args);
    expect(result.code, result.stderr).toBe(0);
    return lastLine(result);
  };
  const [first, second] = PANDOC_BOOK.documents;
  const changed = { name: 'ch002.xhtml', body: String(second?.body).replace('Goodbye', 'Bye') };
  expect(await speak()).toBe('7 done, 0 failed, 0 skipped');
  const made = await sandbox.read('out.epub');
  expect(await speak()).toBe('out.epub is up to date: 7 texts unchanged');
  const documents = [...(first === undefined ? [] : [first]), changed];
  expect(await speak({ documents })).toBe('1 done, 0 failed, 6 skipped');
  expect(await speak(PANDOC_BOOK, '--overlay', 'word')).toBe('0 done, 0 failed, 7 skipped');
  const others = ['--overlay', 'paragraph', '--overlay-audio', 'm4a'];
  expect(await speak(PANDOC_BOOK, ...others)).toBe('0 done, 0 failed, 7 skipped');
  // The same book has the same bytes.
  expect(await speak()).toBe('0 done, 0 failed, 7 skipped');
  expect((await sandbox.read('out.epub')).equals(made)).toBe(true);
});

type Refused = readonly [string, string | Uint8Array, readonly string[], string];

describe('exit code 2, before anything is billed:', () => {
  const [, second] = PANDOC_BOOK.documents;
  const documents = second === undefined ? [] : [second];
  const overlaid = '<item id="x" href="x.xhtml" media-type="text/html" media-overlay="y"/>';
  test.each<Refused>([
    [
      'an EPUB 2',
      bookOf({ documents, version: '2.0' }),
      ['-o', 'out.epub'],
      'book.epub: the book is EPUB 2.0; a read-along book is made from EPUB 3',
    ],
    [
      'a book with overlays',
      bookOf({ documents, manifest: overlaid }),
      ['-o', 'out.epub'],
      'book.epub: the book already has media overlays',
    ],
    [
      'a document that is not well-formed',
      bookOf({ documents: [{ name: 'a.xhtml', body: '<p>One<br>two.</p>' }] }),
      ['-o', 'out.epub'],
      'book.epub: EPUB/text/a.xhtml, line 5: not well-formed XHTML: <br> has no end tag',
    ],
    [
      'a document in UTF-16',
      bookOf({
        documents,
        files: {
          'EPUB/text/ch002.xhtml': Buffer.from('\ufeff<html><p>Hello.</p></html>', 'utf16le'),
        },
      }),
      ['-o', 'out.epub'],
      'book.epub: EPUB/text/ch002.xhtml is not UTF-8',
    ],
    [
      '--overlay for a recording',
      BOOK,
      ['-o', 'out.m4b', '--overlay', 'word'],
      '--overlay requires an .epub file as --output, not "out.m4b"',
    ],
    [
      '--overlay-audio for a recording',
      BOOK,
      ['-o', 'out.m4b', '--overlay-audio', 'm4a'],
      '--overlay-audio requires an .epub file as --output, not "out.m4b"',
    ],
    ...['subtitles', 'timings', 'chapters', 'stems', 'title', 'cover'].map((flag): Refused => [
      `--${flag} for a read-along book`,
      BOOK,
      ['-o', 'out.epub', `--${flag}`, 'a.json'],
      `--${flag} does not work with an .epub file as --output`,
    ]),
    [
      'a script that is no book',
      Buffer.from('Hello.\n'),
      ['-o', 'out.epub', '--script-format', 'dialogue'],
      '--output is "out.epub", but book.epub is not an EPUB book',
    ],
    ['a file that is no EPUB', zipOf({ 'a.txt': 'Hello.' }), ['-o', 'out.epub'], 'book.epub: '],
    ['the book itself as output', BOOK, ['-o', 'book.epub'], 'both name book.epub'],
  ])('%s', async (_title, bytes, args, message) => {
    await sandbox.write('book.epub', bytes);
    const { code, stderr } = await script('book.epub', ...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(await sandbox.charged()).toBe(0);
  });
});
