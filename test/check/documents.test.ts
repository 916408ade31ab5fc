import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { docxOf, fb2Of, odtOf } from '../harness/office-documents.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { startScriptedServer } from '../realtime/scripted-server.ts';
import { batchSandbox } from '../binary/batch/batch-sandbox.ts';
import { live } from '../binary/live/spoken.ts';
import { refused, spokenText } from '../binary/support/spoken-text.ts';

const chapter = (title: string): string =>
  `<w:p><w:pPr><w:pStyle w:val="H"/></w:pPr><w:r><w:t>${title}</w:t></w:r></w:p><w:p><w:r><w:t>It is ${title}.</w:t></w:r></w:p>`;
const STYLES = '<w:style w:styleId="H"><w:name w:val="heading 1"/></w:style>';
const section = (title: string): string =>
  `<section><title><p>${title}</p></title><p>It is ${title}.</p></section>`;

/** Documents with two chapters, whose text is the same. */
const DOCUMENTS = [
  ['docx', docxOf(chapter('One') + chapter('Two'), STYLES)],
  [
    'odt',
    odtOf(
      '<text:h text:outline-level="1">One</text:h><text:p>It is One.</text:p><text:h text:outline-level="1">Two</text:h><text:p>It is Two.</text:p>',
    ),
  ],
  [
    'rtf',
    Buffer.from(
      String.raw`{\rtf1\ansi{\stylesheet{\s1 heading 1;}}\pard\s1 One\par\pard It is One.\par\pard\s1 Two\par\pard It is Two.}`,
    ),
  ],
  ['fb2', Buffer.from(fb2Of(`<body>${section('One')}${section('Two')}</body>`))],
] as const;
const TEXT = 'One.\n\nIt is One.\n\nTwo.\n\nIt is Two.';

async function sandboxWith(name: string, content: Uint8Array): Promise<Sandbox> {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, name), content);
  return sandbox;
}

test.each(DOCUMENTS)('tts speaks a document in the format %s', async (format, content) => {
  const sandbox = await sandboxWith(`a.${format}`, content);
  expect(await spokenText(['-f', `a.${format}`], { sandbox })).toBe(TEXT);
});

test.each(DOCUMENTS)('%s from a pipe or under another name is read', async (format, content) => {
  expect(await spokenText([], { input: content })).toBe(TEXT);
  expect(await spokenText(['--text-format', format], { input: content })).toBe(TEXT);
  const sandbox = await sandboxWith('a.doc', content);
  expect(await spokenText(['-f', 'a.doc'], { sandbox })).toBe(TEXT);
  await writeFile(path.join(sandbox.out, 'a.md'), content);
  const result = await refused(['-f', 'a.md'], { sandbox });
  expect(result.stderr).toContain(`--text-format ${format}`);
});

test.each(DOCUMENTS)('each chapter of %s is an item of a batch', async (format, content) => {
  const { batch, write } = await batchSandbox({ 'texts/b.txt': 'B.' });
  await write(`texts/a.${format}`, content);
  await write(`texts/~$a.${format}`, Buffer.from('lock'));
  const result = await batch(['texts', '--dry-run']);
  expect(result.code, result.stderr).toBe(0);
  expect(result.stdout.toString().match(/[ab](?:-\d \w+)?\.mp3/g)).toEqual([
    'a-1 One.mp3',
    'a-2 Two.mp3',
    'b.mp3',
  ]);
});

test('a document without chapters is one item of a batch', async () => {
  const { batch, write } = await batchSandbox({});
  await write('a.docx', docxOf(chapter('One'), STYLES));
  const result = await batch(['a.docx', '--dry-run']);
  expect(result.stdout.toString().match(/\S+\.mp3/g)).toEqual(['a.mp3']);
});

test.each(DOCUMENTS)('the chapters of %s are those of a recording', async (format, content) => {
  const sandbox = await sandboxWith(`a.${format}`, content);
  const args = ['script', `a.${format}`, '-v', 'Martin', '-o', 'a.wav', '--chapters', 'a.json'];
  const result = await runFoley([...args, '--local'], { sandbox });
  expect(result.code, result.stderr).toBe(0);
  const { chapters } = JSON.parse(await readFile(path.join(sandbox.out, 'a.json'), 'utf8'));
  expect(chapters.map(({ title }: { title: string }) => title)).toEqual(['One', 'Two']);
});

test.each(DOCUMENTS)('live speaks %s, also from a pipe', async (format, content) => {
  const sandbox = await sandboxWith(`a.${format}`, content);
  for (const args of [
    ['-f', `a.${format}`],
    ['--text-format', format],
  ]) {
    const server = await startScriptedServer();
    const result = await live(server, [...args, '-o', `${args.length}${args[0]}.mp3`], {
      sandbox,
      input: content,
    });
    expect(result.code, result.stderr).toBe(0);
    expect(server.book.charges.map(({ text }) => text).join('\n\n')).toBe(TEXT);
  }
});

test('live refuses Rich Text from a pipe without its format', async () => {
  const server = await startScriptedServer();
  const result = await live(server, ['-o', 'a.mp3'], { input: String.raw`{\rtf1 Hello.}` });
  expect(result).toMatchObject({ code: 2 });
  expect(result.stderr).toContain('stdin: it is a Rich Text document');
  expect(result.stderr).toContain('--text-format rtf');
  expect(server.book.charges).toEqual([]);
});
