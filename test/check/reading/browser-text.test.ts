import { describe, expect, test } from 'vitest';
import { readDocument } from '../../../src/text/formats/read-document.ts';
import { documentFormat } from '../../../src/text/formats/text-formats.ts';
import { openPage } from '../../harness/browser.ts';
import { DOCUMENT_FILES, readDocumentFile } from '../../text/formats/document-files.ts';

/** Returns the text that Chromium shows of a document in `test/fixtures/documents`. */
async function shownText(name: string): Promise<string> {
  const page = await openPage(new URL(`../../fixtures/documents/${name}`, import.meta.url).href);
  return String(await page.evaluate('(document.body ?? document.documentElement).innerText'));
}

/** Soft hyphens and other format characters are not shown. Raised digits count as digits. */
function wordsOf(text: string): readonly string[] {
  const plain = text.normalize('NFKC').replaceAll(/\p{Cf}/gu, '');
  return plain.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

type Change = readonly [shown: string, spoken: string];

/** Returns the words that differ, in order, with as many equal words as possible between them. */
function changes(shown: readonly string[], spoken: readonly string[]): readonly Change[] {
  const common = [...shown, ''].map(() => new Uint16Array(spoken.length + 1));
  const at = (from: number, to: number): number => common[from]?.[to] ?? 0;
  for (let from = shown.length - 1; from >= 0; from -= 1) {
    for (let to = spoken.length - 1; to >= 0; to -= 1) {
      const isSame = shown[from] === spoken[to];
      const row = common[from] ?? new Uint16Array(0);
      row[to] = isSame ? at(from + 1, to + 1) + 1 : Math.max(at(from + 1, to), at(from, to + 1));
    }
  }
  const found: Change[] = [];
  let [from, to] = [0, 0];
  while (from < shown.length || to < spoken.length) {
    const [startFrom, startTo] = [from, to];
    while (shown[from] !== spoken[to]) {
      if (to === spoken.length || (from < shown.length && at(from + 1, to) >= at(from, to + 1))) {
        from += 1;
      } else {
        to += 1;
      }
    }
    if (from > startFrom || to > startTo) {
      found.push([shown.slice(startFrom, from).join(' '), spoken.slice(startTo, to).join(' ')]);
    }
    from += 1;
    to += 1;
  }
  return found;
}

describe('foley speaks the words that Chromium shows, with the listed differences, in', () => {
  const files = DOCUMENT_FILES.filter(({ name }) => /\.x?html$/.test(name));

  test.each(files)('$name', async ({ browser = [], name }) => {
    const shown = await shownText(name);
    const format = documentFormat('auto', name) ?? 'html';
    const parts = await readDocument(format, await readDocumentFile(name));
    const spoken = parts.map(({ text }) => text).join('\n');
    expect(changes(wordsOf(shown), wordsOf(spoken))).toEqual(
      browser.map((difference) => [difference.shown, difference.spoken]),
    );
  });
});
