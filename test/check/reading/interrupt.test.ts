import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { epubOf } from '../../harness/epub.ts';
import { docxOf } from '../../harness/office-documents.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';

const MEBIBYTE = 1024 * 1024;
const BODY = '<p>A <b>word</b><sup>2</sup> and <i>another</i> one.</p>';
const bodyOf = (size: number): string => BODY.repeat(size / BODY.length);

/** Large documents of each format, the arguments of the command that reads them. */
const DOCUMENTS: readonly (readonly [string, () => string | Uint8Array, readonly string[]])[] = [
  ['a.md', () => 'A *word* and **another** one. '.repeat((3 * MEBIBYTE) / 30), ['-f', 'a.md']],
  ['a.html', () => bodyOf(7 * MEBIBYTE), ['-f', 'a.html']],
  ['a.epub', () => epubOf(Array.from({ length: 4 }, () => bodyOf(6 * MEBIBYTE))), ['-f', 'a.epub']],
  [
    'a.ssml',
    () => `<speak>${'<s>A <sub alias="b">word</sub>.</s>'.repeat((3 * MEBIBYTE) / 36)}</speak>`,
    ['-f', 'a.ssml'],
  ],
  [
    'a.docx',
    () => docxOf('<w:p><w:r><w:t>A word.</w:t></w:r></w:p>'.repeat((12 * MEBIBYTE) / 43)),
    ['-f', 'a.docx'],
  ],
  [
    'a.rtf',
    () => String.raw`{\rtf1 ${String.raw`A {\b word}.\par `.repeat(MEBIBYTE / 2)}}`,
    ['-f', 'a.rtf'],
  ],
  ['a.tsv', () => 'word\tspoken\n'.repeat(MEBIBYTE / 4), ['Hi', '--lexicon', 'a.tsv']],
  [
    'a.pls',
    () =>
      `<lexicon>${'<lexeme><grapheme>a</grapheme><alias>b</alias></lexeme>'.repeat(MEBIBYTE / 16)}</lexicon>`,
    ['Hi', '--lexicon', 'a.pls'],
  ],
];

test.each(DOCUMENTS)(
  'Ctrl-C stops the reading of %s',
  { timeout: 300_000 },
  async (name, content, args) => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, name), content());
    await expectStopped(sandbox, ['text', ...args]);
  },
);

test('Ctrl-C stops the lexicon in a long text', { timeout: 300_000 }, async () => {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'a.txt'), 'The sea is wide. '.repeat(400_000));
  await writeFile(path.join(sandbox.out, 'a.tsv'), 'sea\tocean\n');
  await expectStopped(sandbox, ['text', '-f', 'a.txt', '--lexicon', 'a.tsv']);
});

test.each([
  ['writing', '--subtitles', 'a.srt'],
  ['check', '--check'],
])(
  'Ctrl-C stops the %s of the subtitles of a long Chinese text',
  { timeout: 300_000 },
  async (_what, ...flags) => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'a.json'), chineseTimings(80_000));
    await expectStopped(sandbox, ['captions', 'a.json', ...flags]);
    expect((await readdir(sandbox.out)).filter((name) => name.endsWith('.part'))).toEqual([]);
  },
);

/** Timings of a text in which every fifth character is followed by a comma. */
function chineseTimings(characters: number): string {
  const words = Array.from({ length: characters }, (_, at) => ({
    text: String.fromCodePoint(0x4e00 + ((at * 37) % 3_000)),
    startMs: at * 200,
    endMs: at * 200 + 180,
  }));
  const text = words.map((word, at) => word.text + (at % 5 === 0 ? '，' : '')).join('');
  const durationMs = characters * 200;
  return JSON.stringify({ version: 1, text, durationMs, complete: true, words });
}

/** Checks that Ctrl-C ends a command soon after its start, in a part of its usual time. */
async function expectStopped(sandbox: Sandbox, args: readonly string[]): Promise<void> {
  await runFoley(['text', 'Hi'], { sandbox });
  const start = await timeOf(sandbox, ['text', 'Hi']);
  const whole = await timeOf(sandbox, args);
  // The thread starts in the time of a short command.
  const when = delay(2 * start).then(() => performance.now());
  const result = await runFoley(args, { sandbox, signalAt: { signal: 'SIGINT', when } });
  const stopped = performance.now() - (await when);
  expect(result).toMatchObject({ code: null, signal: 'SIGINT' });
  expect(stopped).toBeLessThan(Math.max(start, whole / 4));
}

async function timeOf(sandbox: Sandbox, args: readonly string[]): Promise<number> {
  const start = performance.now();
  await runFoley(args, { sandbox, timeoutMs: 250_000 });
  return performance.now() - start;
}
