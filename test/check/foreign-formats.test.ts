import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { epubOf } from '../harness/epub.ts';
import { docxOf } from '../harness/office-documents.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { refused, spokenText } from '../binary/support/spoken-text.ts';

const DOCX = docxOf('<w:p><w:r><w:t>Hi</w:t></w:r></w:p>');
const RTF = String.raw`{\rtf1\ansi Hello}`;

test('an EPUB from stdin, or with another extension, is read', async () => {
  const book = epubOf(['<h1>One</h1>', '<p>Two.</p>']);
  expect(await spokenText([], { input: book })).toBe('One.\n\nTwo.');
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'a.zip'), book);
  expect(await spokenText(['-f', 'a.zip'], { sandbox })).toBe('One.\n\nTwo.');
});

const link = (file: string, title: string): string =>
  `<li><a href="text/${file}.xhtml">${title}</a></li>`;
const LINKS = link('c0', 'Part 1') + link('c1', 'Part 2') + link('c2', 'Part 3');
const point = (tag: string, file: string, title: string): string =>
  `<${tag}><navLabel><text>${title}</text></navLabel><content src="text/${file}.xhtml"/></${tag}>`;
const POINTS = [0, 1, 2].map((at) => point('navPoint', `c${at}`, `Part ${at + 1}`)).join('');

test.each([
  [
    'EPUB 3 with landmarks and a list of pages',
    {
      nav: `<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body>
        <nav epub:type="toc"><ol>${LINKS}</ol></nav>
        <nav epub:type="landmarks"><ol>${link('c3', 'Notes')}</ol></nav>
        <nav epub:type="page-list"><ol>${link('c3', '7')}</ol></nav></body></html>`,
    },
  ],
  [
    'EPUB 2 with lists of pages and figures',
    {
      ncx: `<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>${POINTS}</navMap>
        <pageList>${point('pageTarget', 'c3', '7')}</pageList>
        <navList>${point('navTarget', 'c3', 'Figure')}</navList></ncx>`,
    },
  ],
])('the chapters of an %s are those of its table of contents', async (_what, contents) => {
  const sandbox = await createSandbox();
  const book = epubOf(
    ['<p>One.</p>', '<p>Two.</p>', '<p>Three.</p>', '<p>Notes.</p>'],
    {},
    contents,
  );
  await writeFile(path.join(sandbox.out, 'a.epub'), book);
  const args = ['script', 'a.epub', '-v', 'Martin', '-o', 'a.wav', '--chapters', 'a.json'];
  const result = await runFoley([...args, '--local'], { sandbox });
  expect(result.code, result.stderr).toBe(0);
  const { chapters } = JSON.parse(await readFile(path.join(sandbox.out, 'a.json'), 'utf8'));
  const titles = chapters.map(({ title }: { title: string }) => title);
  expect(titles).toEqual(['Part 1', 'Part 2', 'Part 3']);
});

test.each([
  ['a.pdf', '%PDF-1.4\n%ASCII', /^foley: a\.pdf: it is a PDF file, .*\n.*pdftotext/],
  ['a.adoc', '= Title\n\nText.', /a\.adoc: it is AsciiDoc, .*\n.*asciidoctor/],
  ['a.html', DOCX, /a\.html: it is a Word document\n.*--text-format docx/],
])('%s is refused, with a way to convert it', async (name, content, message) => {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, name), content);
  const result = await runFoley(['text', '-f', name], { sandbox });
  expect(result).toMatchObject({ code: 2 });
  expect(result.stderr).toMatch(message);
  expect(result.stderr).not.toContain('iconv');
});

test('a file of another format is refused by its name', async () => {
  const sandbox = await createSandbox();
  for (const [name, hint] of [
    ['a.mediawiki', 'pandoc -f mediawiki'],
    ['a.docbook', 'pandoc -f docbook'],
    ['a.jsonl', 'foley batch --jsonl FILE'],
    ['a.yaml', 'yq'],
    ['a.eml', 'Save its text as .txt. --text-format plain'],
  ] as const) {
    await writeFile(path.join(sandbox.out, name), 'Hello');
    const result = await runFoley(['tts', '-f', name, '-o', 'a.mp3', '--local'], { sandbox });
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toContain(hint);
    expect(await spokenText(['-f', name, '--text-format', 'plain'], { sandbox })).toBe('Hello');
  }
});

test('Markdown, subtitles and lyrics of other programs are read', async () => {
  const sandbox = await createSandbox();
  for (const [name, content, text] of [
    ['a.Rmd', '# One\n\n**Two**', 'One.\n\nTwo'],
    ['a.sbv', '0:00:01.000,0:00:03.000\nHello\n', 'Hello'],
    ['a.lrc', '[ar:Ann]\n[00:12.00]Hello', 'Hello'],
  ] as const) {
    await writeFile(path.join(sandbox.out, name), content);
    expect(await spokenText(['-f', name], { sandbox })).toBe(text);
    const batch = await runFoley(['batch', name, '--dry-run', '--local', '--json'], { sandbox });
    expect(batch.stdout.toString()).toContain(`"characters":${text.length}`);
  }
});

test('a document of another format is refused from stdin, by batches and by scripts', async () => {
  const ttml = '<tt xmlns="http://www.w3.org/ns/ttml"><body><p>Hi</p></body></tt>';
  expect((await refused([], { input: ttml })).stderr).toContain('stdin: it is subtitles in TTML');
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'a.txt'), RTF);
  for (const [args, flag] of [
    [['batch', 'a.txt', '--dry-run'], '--text-format rtf'],
    [['script', 'a.txt', '--dry-run', '-o', 'a.mp3'], '--script-format rtf'],
  ] as const) {
    const result = await runFoley(args, { sandbox });
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toContain('a.txt: it is a Rich Text document');
    expect(result.stderr).toContain(flag);
  }
});

test('--text-format plain speaks the markup', async () => {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'a.rtf'), RTF);
  expect(await spokenText(['-f', 'a.rtf', '--text-format', 'plain'], { sandbox })).toBe(RTF);
  const args = ['batch', 'a.rtf', '--text-format', 'plain', '--dry-run', '--local', '--json'];
  const batch = await runFoley(args, { sandbox });
  expect(batch.stdout.toString()).toContain(`"characters":${RTF.length}`);
});
