import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { epubOf } from '../../harness/epub.ts';
import { errorLine } from '../../harness/error-line.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { RunResult } from '../../harness/run-options.ts';
import { BOOK, COVER } from '../../harness/tagged-book.ts';
import { docxOf } from '../../harness/office-documents.ts';
import type { BatchSandbox } from '../../binary/batch/batch-sandbox.ts';
import { batchSandbox } from '../../binary/batch/batch-sandbox.ts';

const CONTENTS = `<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body>
<nav epub:type="toc"><ol><li><a href="text/c1.xhtml">Dedication</a></li><li><a href="text/c2.xhtml">The Harbour</a></li><li><a href="text/c4.xhtml">What/now?</a></li></ol></nav>
</body></html>`;

// A title page and a dedication, a chapter in two files, and a chapter that is longer than one request, though it is
// spoken in a few seconds.
const LONG_TEXT = `<p>Then she waited ${'… '.repeat(5_000)} and waited.</p>`;
const SPLIT_BOOK = epubOf(
  [
    '<p>A Book by Nobody.</p>',
    '<section xmlns:epub="http://www.idpf.org/2007/ops" epub:type="dedication"><p>For you.</p></section>',
    '<h1>The Harbour</h1><p>It was quiet.</p>',
    '<p>Nobody spoke.</p>',
    `<h1>What/now?</h1>${LONG_TEXT}`,
  ],
  {},
  { nav: CONTENTS },
);

function heading(text: string): string {
  return `<w:p><w:pPr><w:pStyle w:val="H"/></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
}

let sandbox: BatchSandbox;

beforeEach(async () => {
  sandbox = await batchSandbox({});
  await sandbox.write('tagged.epub', BOOK);
  await sandbox.write('split.epub', SPLIT_BOOK);
});

function foley(...args: readonly string[]): Promise<RunResult> {
  return runFoley(args, { sandbox: sandbox.sandbox, env: sandbox.service.env });
}

describe('a batch of a book', () => {
  test('has a file for each entry of the table of contents, with its name', async () => {
    const plan = await sandbox.batch(['split.epub', '--output-dir', 'out', '--dry-run']);
    expect(plan.code, plan.stderr).toBe(0);
    expect(plan.stdout.toString().match(/out\/split-\d.*?\.mp3/g)).toEqual([
      'out/split-0.mp3',
      'out/split-1 Dedication.mp3',
      'out/split-2 The Harbour.mp3',
      'out/split-3 What-now-.mp3',
    ]);
    const spoken = await sandbox.events([
      'split.epub',
      '--output-dir',
      'out',
      '--only-chapters',
      '2-3',
    ]);
    expect(spoken.result.code, spoken.result.stderr).toBe(0);
    const names = await readdir(path.join(sandbox.sandbox.out, 'out'));
    expect(names.filter((name) => !name.startsWith('.'))).toEqual([
      'split-2 The Harbour.mp3',
      'split-3 What-now-.mp3',
    ]);
    const text = 'The Harbour.\n\nIt was quiet.\n\nNobody spoke.';
    const harbour = spoken.items.find(({ id }) => id === 'split-2 The Harbour');
    expect(harbour?.creditsUsed).toBe(text.length);
    const again = await sandbox.events([
      'split.epub',
      '--output-dir',
      'out',
      '--skip-front-matter',
    ]);
    expect(again.statuses).toEqual({
      'split-2 The Harbour': 'skipped',
      'split-3 What/now?': 'skipped',
    });
    expect(again.result.stderr).toContain('of front matter are left out (Dedication)');
  });

  test.each(['mp3', 'ogg', 'opus'])(
    'writes title, album, author, track and cover into each %s, and the sound is as without them',
    async (format) => {
      const args = ['tagged.epub', '--format', format, '--output-dir'];
      const { items, result } = await sandbox.events([...args, 'out']);
      expect(result.code, result.stderr).toBe(0);
      expect(items.map(({ output }) => String(output)).toSorted()).toEqual([
        `out/tagged-1 The Harbour.${format}`,
        `out/tagged-2 The Boat.${format}`,
        `out/tagged-3 The Hill.${format}`,
      ]);
      const boat = await sandbox.read(`out/tagged-2 The Boat.${format}`);
      const found = boat.toString('latin1');
      for (const tag of ['The Boat', 'The Harbour & the Hill', 'Ada, Bo']) {
        const isFound = found.includes(tag) || boat.includes(Buffer.from(tag, 'utf16le'));
        expect(isFound, tag).toBe(true);
      }
      const cover = boat.includes(COVER) || found.includes('METADATA_BLOCK_PICTURE=');
      expect(cover).toBe(true);
      const plain = Buffer.from('The Boat.\n\nThen the boat came in, and everybody looked.');
      await sandbox.write('plain.txt', plain);
      const untagged = ['plain.txt', '--format', format, '--output-dir', 'plain'];
      expect((await sandbox.batch(untagged)).code).toBe(0);
      const [tagged, other] = await Promise.all(
        [boat, await sandbox.read(`plain/plain.${format}`)].map((bytes) => decodeAudio(bytes)),
      );
      expect(tagged).toEqual(other);
    },
  );

  test('is not bought again, and a moved file keeps its tags', async () => {
    const first = await sandbox.events(['tagged.epub', '--output-dir', 'out']);
    expect(first.result.code, first.result.stderr).toBe(0);
    const before = await sandbox.charged();
    const boat = await sandbox.read('out/tagged-2 The Boat.mp3');
    const args = ['tagged.epub', '--output-dir', 'out'];
    expect((await sandbox.events(args)).statuses).toEqual({
      'tagged-1 The Harbour': 'skipped',
      'tagged-2 The Boat': 'skipped',
      'tagged-3 The Hill': 'skipped',
    });
    const renamed = await sandbox.events([...args, '--name', '{index}.{ext}']);
    expect(renamed.result.code, renamed.result.stderr).toBe(0);
    expect(await sandbox.charged()).toBe(before);
    expect(await sandbox.read('out/2.mp3')).toEqual(boat);
  });
});

describe('--only-chapters', () => {
  test('chooses the chapters that tts, text, script and jobs read', async () => {
    const only = ['--only-chapters', '2'];
    const text = await foley('text', '-f', 'split.epub', ...only);
    expect(text.stdout.toString()).toBe('The Harbour.\n\nIt was quiet.\n\nNobody spoke.\n');
    const listed = await foley('text', '-f', 'split.epub', '--json');
    expect(Object(JSON.parse(listed.stdout.toString())).chapters).toMatchObject([
      { number: 1, title: 'Dedication', characters: 8 },
      { number: 2, title: 'The Harbour', characters: 42 },
      { number: 3, title: 'What/now?' },
    ]);
    const speech = ['tts', '-f', 'split.epub', ...only, '--dry-run'];
    const shown = await foley(...speech, '-o', 'a.wav', '--voice-name', 'Clara');
    expect(shown.stdout.toString()).toContain('Nobody spoke.');
    expect(shown.stdout.toString()).not.toContain('For you.');
    const script = ['script', 'split.epub', '--only-chapters', '1-2', '--dry-run'];
    const lines = await foley(...script, '-o', 'a.m4b', '--voice-name', 'Clara');
    expect(lines.code, lines.stderr).toBe(0);
    expect(lines.stdout.toString()).toMatch(/For you[^]*Nobody spoke/);
    expect(lines.stdout.toString()).not.toMatch(/A Book by|and waited/);
  });

  test('chooses the chapters of a Word document', async () => {
    const body = `${heading('One')}<w:p><w:r><w:t>First.</w:t></w:r></w:p>${heading('Two')}<w:p><w:r><w:t>Second.</w:t></w:r></w:p>`;
    await sandbox.write(
      'report.docx',
      docxOf(body, '<w:style w:styleId="H"><w:name w:val="heading 1"/></w:style>'),
    );
    const only = ['--only-chapters', '2', '--dry-run'];
    const { code, stderr, stdout } = await sandbox.batch(['report.docx', ...only]);
    expect(code, stderr).toBe(0);
    expect(stdout.toString().match(/report-\S+ \S+\.mp3/g)).toEqual(['report-2 Two.mp3']);
  });

  test.each([
    [['--only-chapters', '0'], '--only-chapters is "0"; it takes numbers from 1'],
    [['--only-chapters', '3-2'], '--only-chapters is "3-2"'],
    [['--only-chapters', '2,x'], '--only-chapters is "2,x"'],
    [['--only-chapters', '2-9'], 'names chapter 9; the document has the chapters 1 to 3'],
  ])('is refused before anything is sent: %j', async (flags, message) => {
    const result = await sandbox.batch(['split.epub', '--json', ...flags]);
    expect(result.code).toBe(2);
    expect(errorLine(result).message).toContain(message);
  });

  test.each(['--only-chapters=1', '--skip-front-matter'])(
    'works with documents that have chapters only: %s',
    async (flag) => {
      await sandbox.write('a.md', '# One\n\nText.\n');
      const [name = ''] = flag.split('=');
      for (const command of [
        ['batch', 'a.md'],
        ['text', '-f', 'a.md'],
        ['text', 'Words.'],
        ['script', 'a.md', '-o', 'a.mp3'],
      ]) {
        const result = await foley(...command, flag, '--json');
        expect(result.code, command.join(' ')).toBe(2);
        expect(errorLine(result).message).toContain(`${name} works with EPUB`);
      }
    },
  );
});
