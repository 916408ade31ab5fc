import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { FILE_FORMATS } from '../../src/contract/values.ts';
import { createFixture, onSpeech, speechRequests, VOICE } from '../binary/support/fixture.ts';
import { errorAnswer } from '../fault-server/catalogue.ts';
import { BOOK, COVER, TITLES } from '../harness/tagged-book.ts';
import { errorLine } from '../harness/error-line.ts';
import { installPythonTools } from '../harness/python-tools.ts';
import { requireTool } from '../harness/require-tool.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';

const PYTHON = path.join(import.meta.dirname, 'python');
const TAGGED = FILE_FORMATS.filter((format) => format !== 'wav');

interface FoundTags {
  readonly title?: string;
  readonly author?: string;
  readonly album?: string;
  readonly track?: number;
  readonly chapters: readonly { readonly title: string; readonly start: number }[];
  readonly ffmpeg: readonly { readonly title: string; readonly start: number }[];
  readonly cover: readonly number[];
}

async function tagsOf(file: string): Promise<FoundTags> {
  const bin = await installPythonTools(path.join(PYTHON, 'tags.txt'));
  const script = path.join(PYTHON, 'read_tags.py');
  const { stdout } = await execa(path.join(bin, 'python'), [script, file]);
  return Object(JSON.parse(stdout))[file];
}

test.each(TAGGED)(
  'tts of a book writes its tags, cover and chapters into %s',
  { timeout: 300_000 },
  async (format) => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'book.epub'), BOOK);
    const args = ['tts', '-f', 'book.epub', '--local', '-o', `book.${format}`, '--json'];
    const result = await runFoley(args, { sandbox });
    expect(result.code, result.stderr).toBe(0);
    const found = await tagsOf(path.join(sandbox.out, `book.${format}`));
    expect(found).toMatchObject({ title: 'The Harbour & the Hill', author: 'Ada, Bo' });
    expect(found.cover).toEqual([COVER.length]);
    expect(found.chapters.map(({ title }) => title)).toEqual(TITLES);
    expect(found.ffmpeg.map(({ title }) => title)).toEqual(TITLES);
    const starts = found.chapters.map(({ start }) => start);
    expect(starts[0]).toBe(0);
    // Each chapter is a few sentences long.
    expect(starts[1]).toBeGreaterThan(1);
    expect(starts[2]).toBeGreaterThan((starts[1] ?? 0) + 1);
  },
);

test.each(TAGGED)(
  'a batch of a book writes title, album, track and cover into each %s',
  { timeout: 300_000 },
  async (format) => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'book.epub'), BOOK);
    const args = ['batch', 'book.epub', '--local', '--format', format, '--json'];
    const result = await runFoley(args, { sandbox });
    expect(result.code, result.stderr).toBe(0);
    const book = { album: 'The Harbour & the Hill', author: 'Ada, Bo', cover: [COVER.length] };
    for (const [index, title] of TITLES.entries()) {
      const track = index + 1;
      const file = path.join(sandbox.out, `book-${track} ${title}.${format}`);
      expect(await tagsOf(file)).toMatchObject({ ...book, title, track, chapters: [] });
    }
  },
);

test.each(['m4a', 'm4b'])(
  'AtomicParsley reads the tags and the cover of %s',
  { timeout: 300_000 },
  async (format) => {
    const program = requireTool('AtomicParsley');
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'book.epub'), BOOK);
    const args = ['tts', '-f', 'book.epub', '--local', '-o', `book.${format}`];
    const result = await runFoley([...args, '--album', 'Tales'], { sandbox });
    expect(result.code, result.stderr).toBe(0);
    const run = (...flags: readonly string[]) =>
      execa({ cwd: sandbox.out, stripFinalNewline: false })(program, [`book.${format}`, ...flags]);
    expect((await run('-t')).stdout.trim().split('\n').toSorted()).toEqual([
      'Atom "covr" contains: 1 piece of artwork',
      'Atom "©ART" contains: Ada, Bo',
      'Atom "©alb" contains: Tales',
      'Atom "©nam" contains: The Harbour & the Hill',
    ]);
    await run('--extractPixToPath', 'cover');
    expect(await readFile(path.join(sandbox.out, 'cover_artwork_1.png'))).toEqual(COVER);
    // It understands the whole file, and can write it again with other tags.
    await run('--title', 'Other', '--output', `other.${format}`);
    const found = await tagsOf(path.join(sandbox.out, `other.${format}`));
    expect(found.title).toBe('Other');
    expect(found.chapters.map(({ title }) => title)).toEqual(TITLES);
  },
);

test('flags come before what the book says', { timeout: 300_000 }, async () => {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'book.epub'), BOOK);
  const flags = ['--title', 'Mine', '--author', 'Me', '--album', 'Series'];
  const args = ['tts', '-f', 'book.epub', '--local', '-o', 'book.opus', ...flags];
  const result = await runFoley(args, { sandbox });
  expect(result.code, result.stderr).toBe(0);
  const found = await tagsOf(path.join(sandbox.out, 'book.opus'));
  expect(found).toMatchObject({ title: 'Mine', author: 'Me', album: 'Series' });
});

test.each(['mp3', 'ogg', 'm4b'])(
  'a book whose speech was interrupted has tags and chapters after recover: %s',
  { timeout: 300_000 },
  async (format) => {
    const refused = errorAnswer(402, { code: 'ERR_INSUFFICIENT_CREDITS' });
    const fixture = await createFixture([onSpeech(refused, { nth: 2 })]);
    await writeFile(path.join(fixture.sandbox.out, 'book.epub'), BOOK);
    const args = ['tts', '-f', 'book.epub', '-v', VOICE, '-o', `book.${format}`, '--json'];
    const stopped = await fixture.run(args);
    expect(stopped.code, stopped.stderr).toBe(21);
    const id = /foley recover (\S+?)`/.exec(errorLine(stopped).hint ?? '')?.[1] ?? 'none';
    const result = await fixture.run(['recover', id]);
    expect(result.code, result.stderr).toBe(0);
    // One for each chapter, and one that was refused.
    expect(speechRequests(fixture)).toHaveLength(4);
    const found = await tagsOf(path.join(fixture.sandbox.out, `book.${format}`));
    expect(found).toMatchObject({ title: 'The Harbour & the Hill', cover: [COVER.length] });
    expect(found.chapters.map(({ title }) => title)).toEqual(TITLES);
  },
);

test.each([
  [['--title', 'A', '-o', 'a.wav'], '--title is given, but wav has no tags'],
  [['--cover', 'a.png', '-o', '-'], '--cover is given, but stdout has no tags'],
  [['--cover', 'gone.png', '-o', 'a.mp3'], 'gone.png'],
  [['--cover', 'book.epub', '-o', 'a.mp3'], '--cover book.epub is not a JPEG or PNG file'],
  [['--cover', 'cut.png', '-o', 'a.mp3'], '--cover cut.png'],
])('tts %j is exit 2, and nothing is sent', async (flags, problem) => {
  const fixture = await createFixture([]);
  await writeFile(path.join(fixture.sandbox.out, 'book.epub'), BOOK);
  await writeFile(path.join(fixture.sandbox.out, 'cut.png'), COVER.subarray(0, 60));
  const result = await fixture.run(['tts', 'Hi.', '-v', VOICE, ...flags]);
  expect(result.code, result.stderr).toBe(2);
  expect(result.stderr).toContain(problem);
  expect(speechRequests(fixture)).toEqual([]);
});
