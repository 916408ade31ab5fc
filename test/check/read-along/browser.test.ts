import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openArchive } from '../../../src/text/formats/archive.ts';
import { openPage } from '../../harness/browser.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import type { BookOptions } from '../../read-along/books.ts';
import { bookOf, PANDOC_BOOK } from '../../read-along/books.ts';
import { overlaysOf } from '../../read-along/overlays.ts';
import { BOOKS } from './more-books.ts';
import { BOOK_WITHOUT_LIST, speakBook, wordCount } from './speak-book.ts';

const LIMITS = { timeout: 300_000 };

/** The longest difference between an audio file and its overlay, in seconds: the padding of mp3 or AAC. */
const MOST_PADDING = 0.08;

/** Clips that are not much longer than the errors of an alignment, up to 0.1 s, are not compared with it. */
const SHORTEST = 0.25;

/** A clip and the text of its element. Times are in seconds. */
interface Clip {
  readonly begin: number;
  readonly end: number;
  readonly text: string;
}

interface Shown {
  readonly clips: readonly Clip[];
  readonly duration: number;
}

/** A read-along book in `reading-system.html`. */
interface Reader {
  readonly sandbox: Sandbox;
  readonly page: Page;
  /** Audio file of each document, in the order of the spine. */
  readonly audio: readonly Buffer[];
  /** Shows one of these documents. */
  readonly show: (index: number) => Promise<Shown>;
}

async function openBook(options: BookOptions, ...flags: readonly string[]): Promise<Reader> {
  const sandbox = await createSandbox();
  const book = await speakBook(sandbox, bookOf(options), ...flags);
  const page = await openPage(await serve(book));
  const documents = Object(await page.evaluate('openBook()'));
  const audio = (await overlaysOf(book)).map((overlay) => overlay.audio);
  expect(documents.length).toBe(audio.length);
  const show = async (index: number): Promise<Shown> =>
    Object(await page.evaluate(`showDocument(${JSON.stringify(documents[index])})`));
  return { sandbox, page, audio, show };
}

const TYPES: Readonly<Record<string, string>> = {
  '.xhtml': 'application/xhtml+xml',
  '.html': 'application/xhtml+xml',
  '.css': 'text/css',
  '.mp3': 'audio/mpeg',
  '.m4a': 'audio/mp4',
};

/** Serves the reading system and the files of a book. */
async function serve(book: Buffer): Promise<string> {
  const archive = await openArchive(book, 'an EPUB', 'the book');
  const system = await readFile(new URL('reading-system.html', import.meta.url));
  const server = createServer(({ url = '' }, response) => {
    if (url === '/') {
      response.setHeader('Content-Type', 'text/html').end(system);
      return;
    }
    const file = decodeURIComponent(url).replace('/book/', '');
    const type = TYPES[path.extname(file)] ?? 'application/octet-stream';
    archive.readBytes(file).then(
      (bytes) => response.setHeader('Content-Type', type).end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${Object(server.address()).port}/`;
}

/**
 * Plays from the middle of each clip, and expects the element of what is heard to be highlighted, and no other.
 * @returns the times at which the page was looked at, in seconds
 */
async function expectHighlights(page: Page, shown: Shown): Promise<readonly number[]> {
  const { clips, duration } = shown;
  const spoken = clips.reduce((sum, { begin, end }) => sum + end - begin, 0);
  expect(Math.abs(duration - spoken)).toBeLessThan(MOST_PADDING);
  const times: number[] = [];
  for (const { begin, end } of clips.filter((clip) => clip.end - clip.begin >= SHORTEST)) {
    const seen = Object(await page.evaluate(`playAt(${(begin + end) / 2})`));
    const heard = clips.find((clip) => clip.begin <= seen.at && seen.at < clip.end);
    expect(seen).toMatchObject({ texts: [heard?.text], isVisible: true });
    times.push(seen.at);
  }
  expect(times.length).toBeGreaterThan(0);
  return times;
}

interface Word {
  readonly text: string;
  readonly startMs: number;
}

/** Returns the words that `foley align` finds in the audio of a document, each with the number of its clip. */
async function alignedWords(
  sandbox: Sandbox,
  name: string,
  audio: Buffer,
  clips: readonly Clip[],
): Promise<readonly (Word & { readonly clip: number })[]> {
  await writeFile(path.join(sandbox.out, name), audio);
  await writeFile(path.join(sandbox.out, 'a.txt'), clips.map(({ text }) => text).join(' '));
  const args = ['align', name, '-f', 'a.txt', '--timings', 'a.json'];
  const { code, stderr } = await runFoley(args, { sandbox });
  expect(code, stderr).toBe(0);
  const { words } = JSON.parse(await readFile(path.join(sandbox.out, 'a.json'), 'utf8'));
  const owners = clips.flatMap(({ text }, clip) => {
    return Array.from({ length: wordCount(text) }, () => clip);
  });
  expect(words.length).toBe(owners.length);
  return words.map((word: Word, index: number) => ({ ...word, clip: owners[index] }));
}

describe('while a read-along book plays in Chromium', () => {
  test.each([
    ['sentence', 'mp3'],
    ['sentence', 'm4a'],
    ['word', 'mp3'],
    ['word', 'm4a'],
  ])('the %s that is heard is highlighted: %s', LIMITS, async (overlay, format) => {
    const flags = ['--overlay', overlay, '--overlay-audio', format];
    const { audio, page, sandbox, show } = await openBook(BOOK_WITHOUT_LIST, ...flags);
    for (const [index, bytes] of audio.entries()) {
      const shown = await show(index);
      const times = await expectHighlights(page, shown);
      const words = await alignedWords(sandbox, `a.${format}`, bytes, shown.clips);
      for (const at of times) {
        const heard = words.findLast(({ startMs }) => startMs <= at * 1_000);
        const clip = shown.clips[heard?.clip ?? -1];
        expect(clip?.begin, `${at} s: ${heard?.text}`).toBeLessThanOrEqual(at);
        expect(clip?.end, `${at} s: ${heard?.text}`).toBeGreaterThan(at);
      }
    }
  });

  test('each sentence is highlighted in turn, and no two at once', LIMITS, async () => {
    const { page, show } = await openBook(PANDOC_BOOK);
    const { clips } = await show(1);
    expect(await page.evaluate('playThrough()')).toEqual(clips.map(({ text }) => [text]));
  });

  test.each(Object.keys(BOOKS).filter((name) => name !== 'pandoc'))(
    'its elements are visible: %s',
    LIMITS,
    async (name) => {
      const { audio, page, show } = await openBook(BOOKS[name] ?? PANDOC_BOOK);
      for (const index of audio.keys()) await expectHighlights(page, await show(index));
    },
  );
});
