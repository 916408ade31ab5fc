import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import type { BookOptions } from '../../read-along/books.ts';
import { PANDOC_BOOK } from '../../read-along/books.ts';

/** Makes the read-along book `out.epub` with a voice of the embedded service. */
export async function speakBook(
  sandbox: Sandbox,
  book: Buffer,
  ...args: readonly string[]
): Promise<Buffer> {
  await writeFile(path.join(sandbox.out, 'book.epub'), book);
  const all = ['script', 'book.epub', '-o', 'out.epub', '-v', 'Clara', '--local', ...args];
  const { code, stderr } = await runFoley(all, { sandbox });
  // 3: the voice cannot speak the Chinese words of a book.
  expect([0, 3], stderr).toContain(code);
  return readFile(path.join(sandbox.out, 'out.epub'));
}

/** The book without its list: the number of an item is spoken, and not in the text of the document. */
export const BOOK_WITHOUT_LIST: BookOptions = {
  ...PANDOC_BOOK,
  documents: PANDOC_BOOK.documents.map((document) => ({
    ...document,
    body: document.body.replace(/<ol>.*<\/ol>/s, ''),
  })),
};

/** Returns the number of words that foley says for this text of a document. */
export function wordCount(text: string): number {
  return text.split(' ').filter((word) => /[\p{L}\p{N}&]/u.test(word)).length;
}
