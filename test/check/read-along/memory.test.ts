import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { withPeak } from '../../harness/peak-memory.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { bookOf } from '../../read-along/books.ts';
import { bookText } from '../long-text/book-text.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
/** A quarter of the long book. A page has about 1,800 characters, and the long book 300 pages in full size. */
const CHARACTERS = IS_FULL ? 135_000 : 3_600;
const TIMEOUT_MS = IS_FULL ? 10_800_000 : 600_000;
/** The longer book may take this many times as much. */
const MOST_GROWTH = 1.3;

/** Returns a book with a document for each chapter. */
function bookWith(characters: number): Buffer {
  const chapters = bookText(characters).split(/(?=^Chapter \d+$)/m);
  return bookOf({
    documents: chapters.map((chapter, index) => {
      const [title = '', ...paragraphs] = chapter.trim().split('\n\n');
      const body = `<h1>${title}</h1>${paragraphs.map((text) => `<p>${text}</p>`).join('\n')}`;
      return { name: `chapter-${index + 1}.xhtml`, body };
    }),
  });
}

/** Makes a read-along book, and then an m4b file of the same speech. Returns the peak memory of each in bytes. */
async function peaksOf(characters: number): Promise<readonly number[]> {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'book.epub'), bookWith(characters));
  const { env, peak } = await withPeak(sandbox);
  const make = async (output: string): Promise<number> => {
    const args = ['script', 'book.epub', '-o', output, '-v', 'Clara', '--local', '-q'];
    const { code, stderr } = await runFoley(args, { sandbox, env, timeoutMs: TIMEOUT_MS });
    expect(code, stderr).toBe(0);
    return peak();
  };
  const readAlong = await make('out.epub');
  const folder = path.join(sandbox.out, 'out.epub.foley');
  await rename(folder, path.join(sandbox.out, 'out.m4b.foley'));
  return [readAlong, await make('out.m4b')];
}

test(
  'a book four times as long takes little more memory',
  { timeout: 2 * TIMEOUT_MS },
  async () => {
    const short = await peaksOf(CHARACTERS);
    const long = await peaksOf(4 * CHARACTERS);
    for (const [index, peak] of long.entries()) {
      const other = short[index] ?? 0;
      const megabytes = [other, peak].map((bytes) => Math.round(bytes / 1e6)).join(' → ');
      if (IS_FULL) console.log(`${index === 0 ? 'read-along' : 'm4b'}: ${megabytes} MB`);
      expect(peak / other, `${megabytes} MB`).toBeLessThan(MOST_GROWTH);
    }
  },
);
