import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { bookOf, PANDOC_BOOK } from '../../read-along/books.ts';
import { overlaysOf } from '../../read-along/overlays.ts';

const LIMITS = { timeout: 300_000 };

/** The largest difference between a clip from a recording and the clip of the book that foley spoke. */
const MOST_MS = 100;

interface Recorded {
  readonly sandbox: Sandbox;
  readonly read: (name: string) => Promise<Buffer>;
  readonly write: (name: string, content: Uint8Array | string) => Promise<void>;
}

async function withBook(): Promise<Recorded> {
  const sandbox = await createSandbox();
  const inSandbox = (name: string): string => path.join(sandbox.out, name);
  await writeFile(inSandbox('book.epub'), bookOf(PANDOC_BOOK));
  return {
    sandbox,
    read: (name) => readFile(inSandbox(name)),
    write: (name, content) => writeFile(inSandbox(name), content),
  };
}

/** Speaks a book, and saves the audio of its documents as recordings in `recordings`. */
async function recordedBook(): Promise<Recorded> {
  const recorded = await withBook();
  const { read, sandbox, write } = recorded;
  const args = ['script', 'book.epub', '-o', 'spoken.epub', '-v', 'Clara', '--local'];
  const { code, stderr } = await runFoley(args, { sandbox });
  expect(code, stderr).toBe(0);
  await mkdir(path.join(sandbox.out, 'recordings'));
  for (const [index, { audio }] of (await overlaysOf(await read('spoken.epub'))).entries()) {
    await write(`recordings/Track ${index + 9}.mp3`, audio);
  }
  await write('recordings/cover.jpg', 'A picture is no recording.');
  return recorded;
}

test('a read-along book of recordings has the clips of the spoken book', LIMITS, async () => {
  const { read, sandbox } = await recordedBook();
  const spoken = await overlaysOf(await read('spoken.epub'));
  for (const overlay of ['sentence', 'paragraph', 'word']) {
    const args = ['align', '--epub', 'book.epub', '--audio', 'recordings', '-o', 'out.epub'];
    const result = await runFoley([...args, '--overlay', overlay, '--json'], { sandbox });
    expect(result.code, result.stderr).toBe(0);
    const made = await overlaysOf(await read('out.epub'));
    expect(made.map(({ audio }) => audio)).toEqual(spoken.map(({ audio }) => audio));
    const data = JSON.parse(result.stdout.toString());
    expect(data).toMatchObject({ output: 'out.epub', overlay, documents: 2, isTimed: true });
    if (overlay !== 'sentence') continue;
    for (const [index, { clips }] of made.entries()) {
      const own = spoken[index]?.clips ?? [];
      expect(clips.map(({ id, text }) => [id, text])).toEqual(
        own.map(({ id, text }) => [id, text]),
      );
      const late = clips.map(({ startMs }, at) => Math.abs(startMs - (own[at]?.startMs ?? 0)));
      expect(Math.max(...late)).toBeLessThan(MOST_MS);
    }
  }
});

describe('exit code 2, and no book:', () => {
  const MAKE = ['--epub', 'book.epub', '--audio', 'recordings', '-o', 'out.epub'];
  const COUNT =
    '--audio recordings has 1 recording, but the book has 2 spoken documents: EPUB/text/ch001.xhtml, EPUB/text/ch002.xhtml';

  test('a recording is missing, or is that of another document', LIMITS, async () => {
    const { read, sandbox, write } = await recordedBook();
    const first = path.join(sandbox.out, 'recordings/Track 9.mp3');
    await write('recordings/Track 9.mp3', await read('recordings/Track 10.mp3'));
    const swapped = await runFoley(['align', ...MAKE], { sandbox });
    expect(swapped.code).toBe(2);
    expect(swapped.stderr).toContain('does not contain the text of EPUB/text/ch001.xhtml');
    await rm(first);
    const missing = await runFoley(['align', ...MAKE], { sandbox });
    expect({ code: missing.code, stderr: missing.stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(COUNT),
    });
    await write('recordings/a.wav', 'RIFF');
    const wrong = await runFoley(['align', ...MAKE], { sandbox });
    expect(wrong.stderr).toContain('a.wav is in a format that EPUB does not allow');
  });

  test.each([
    [['talk.mp3', ...MAKE], '--epub takes the recordings from --audio, not from the argument'],
    [[...MAKE, '-f', 'talk.txt'], '--file does not work with --epub'],
    [[...MAKE, '--subtitles', 'a.srt'], '--subtitles does not work with --epub'],
    [['--epub', 'book.epub', '-o', 'out.epub'], '--epub requires --audio'],
    [['--epub', 'book.epub', '--audio', '.'], '--epub requires --output'],
    [['--epub', 'book.epub', '--audio', '.', '-o', 'a.mp3'], '--output is "a.mp3"'],
    [['talk.mp3', '-f', 'talk.txt', '--overlay', 'word'], '--overlay requires --epub'],
    [
      ['--epub', 'book.epub', '--audio', 'missing', '-o', 'a.epub'],
      '--audio missing cannot be read',
    ],
    [['-f', 'talk.txt'], 'AUDIO is required'],
  ])('%j', async (args, message) => {
    const { sandbox } = await withBook();
    const { code, stderr } = await runFoley(['align', ...args], { sandbox });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});
