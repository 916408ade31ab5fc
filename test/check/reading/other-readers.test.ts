import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, describe, expect, test } from 'vitest';
import { readDocument } from '../../../src/text/formats/read-document.ts';
import { documentFormat } from '../../../src/text/formats/text-formats.ts';
import { epubOf } from '../../harness/epub.ts';
import { installPythonTools } from '../../harness/python-tools.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { DOCUMENT_FILES, readDocumentFile } from '../../text/formats/document-files.ts';

const PYTHON_FILES = fileURLToPath(new URL('../python', import.meta.url));

/** Runs Beautiful Soup, markdown-it-py and EbookLib. Returns the text of each document. */
async function readByOthers(files: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const bin = await installPythonTools(path.join(PYTHON_FILES, 'documents.txt'));
  const program = path.join(PYTHON_FILES, 'read_documents.py');
  const { stdout } = await execa(path.join(bin, 'python'), [program, ...files]);
  return Object(JSON.parse(stdout));
}

/** Letters and digits, of which other readers must find the same as foley. */
function charactersOf(text: string): readonly string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]/gu) ?? []
  );
}

/** Number of characters that two texts have in common, in the same order. */
function commonLength(one: readonly string[], other: readonly string[]): number {
  let row = new Uint16Array(other.length + 1);
  for (const character of one) {
    const next = new Uint16Array(other.length + 1);
    for (const [at, candidate] of other.entries()) {
      const longer = Math.max(row[at + 1] ?? 0, next[at] ?? 0);
      next[at + 1] = character === candidate ? (row[at] ?? 0) + 1 : longer;
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

function expectSameWords(theirs: string, ours: string, leftOut: string, added: string): void {
  const [their, our] = [charactersOf(theirs), charactersOf(ours)];
  const [missing, own] = [charactersOf(leftOut), charactersOf(added)];
  expect([...their, ...own].toSorted().join('')).toBe([...our, ...missing].toSorted().join(''));
  expect(commonLength(their, our)).toBe(their.length - missing.length);
}

describe('other readers find the words that foley speaks, and those that it leaves out, in', () => {
  const folder = fileURLToPath(new URL('../../fixtures/documents', import.meta.url));
  let theirs: Readonly<Record<string, string>> = {};

  beforeAll(async () => {
    theirs = await readByOthers(DOCUMENT_FILES.map(({ name }) => path.join(folder, name)));
  }, 300_000);

  test.each(DOCUMENT_FILES)('$name', async ({ added = '', leftOut = '', name }) => {
    const parts = await readDocument(
      documentFormat('auto', name) ?? 'html',
      await readDocumentFile(name),
    );
    const ours = parts.map(({ text }) => text).join('\n');
    expectSameWords(theirs[path.join(folder, name)] ?? '', ours, leftOut, added);
  });

  test('an EPUB with chapters in another order than its files', { timeout: 300_000 }, async () => {
    const { out } = await createSandbox();
    const file = path.join(out, 'book.epub');
    const opf = `<?xml version="1.0"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">a</dc:identifier><dc:title>Book</dc:title><dc:language>en</dc:language></metadata>
<manifest><item id="b" href="text/c1.xhtml" media-type="application/xhtml+xml"/><item id="a" href="text/c0.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="b"/><itemref idref="a"/></spine></package>`;
    const chapters = [
      '<h1>Two</h1><p>The e&#x301;nd, 5 km<sup>2</sup>.</p>',
      '<h1>One</h1><p>A <i>word</i>.</p>',
    ];
    const book = epubOf(chapters, { 'OEBPS/book.opf': opf });
    await writeFile(file, book);
    const parts = await readDocument('epub', book);
    expect(parts.map(({ text }) => text.split('\n')[0])).toEqual(['One.', 'Two.']);
    const { [file]: text = '' } = await readByOthers([file]);
    expectSameWords(text, parts.map((part) => part.text).join('\n'), '', '');
  });
});
