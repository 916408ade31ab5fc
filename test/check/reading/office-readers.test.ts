import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { readDocument } from '../../../src/text/formats/read-document.ts';
import { documentFormat } from '../../../src/text/formats/text-formats.ts';
import { installPythonTools } from '../../harness/python-tools.ts';
import { createSandbox } from '../../harness/sandbox.ts';

const PYTHON_FILES = fileURLToPath(new URL('../python', import.meta.url));

const MARKDOWN = `# One

Some *text* with a note.[^1] And -- dashes... *émigré* 日本語 😀 5 < 6 & 7 {x} \\\\y.

[^1]: Note text.

1. First
2. Second
    a. Sub
    b. Sub two
3. Third

- Bullet
- Another

| A | B |
|---|---|
| c | d |
| e | f |

## Sub heading

> Quote here.

# Two

(@) Five\\
more of [a link](http://a.example). It covers 10^6^ m^2^.
`;

// Without the notes and their marks, which pandoc writes as `[1]`.
function wordsOf(text: string): readonly string[] {
  const body = text.replace(/\n\[1\][^]*$/, '').replaceAll('[1]', '');
  return (
    body
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

// pandoc makes the documents, and reads them again.
test('pandoc reads the same words in the same order', { timeout: 300_000 }, async () => {
  const { out } = await createSandbox();
  const source = path.join(out, 'book.md');
  await writeFile(source, MARKDOWN);
  const bin = await installPythonTools(path.join(PYTHON_FILES, 'office.txt'));
  const program = path.join(PYTHON_FILES, 'office_documents.py');
  const { stdout } = await execa(path.join(bin, 'python'), [program, source, out]);
  const texts: Readonly<Record<string, string>> = Object(JSON.parse(stdout));
  expect(Object.keys(texts)).toHaveLength(4);
  for (const [file, theirs] of Object.entries(texts)) {
    const format = documentFormat('auto', file) ?? 'html';
    const parts = await readDocument(format, await readFile(file));
    const ours = parts.map(({ text }) => text).join('\n\n');
    // pandoc leaves out the tables of FictionBooks, whose cells are single letters.
    const isCompared = (word: string): boolean => format !== 'fb2' || !/^[a-f]$/.test(word);
    expect(wordsOf(ours).filter(isCompared), format).toEqual(wordsOf(theirs).filter(isCompared));
    expect(parts.map(({ chapters }) => chapters?.[0]?.title)).toEqual(['One', 'Two']);
  }
});
