import { readFile, writeFile, cp } from 'node:fs/promises';
import path from 'node:path';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { describe, expect, test } from 'vitest';
import { openArchive } from '../../../src/text/formats/archive.ts';
import { readEpub } from '../../../src/text/formats/epub.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { bookOf } from '../../read-along/books.ts';
import { overlaysOf } from '../../read-along/overlays.ts';
import { stripMarks } from '../../read-along/strip-marks.ts';
import { BOOKS } from './more-books.ts';
import { BOOK_WITHOUT_LIST, speakBook, wordCount } from './speak-book.ts';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { installOnce } from '../../harness/install-once.ts';
import { requireTool } from '../../harness/require-tool.ts';

const LIMITS = { timeout: 900_000 };

/** The longest difference between an audio file and its overlay: the padding of mp3 or AAC. */
const MOST_DIFFERENCE_MS = 80;

const SENTENCE = ['--overlay', 'sentence'];
const WORD = ['--overlay', 'word'];
const PARAGRAPH = ['--overlay', 'paragraph', '--overlay-audio', 'm4a'];

/** The flags for the books with which more than the highlights of sentences are made. */
const WAYS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  pandoc: [SENTENCE, WORD, PARAGRAPH],
  ruby: [SENTENCE, WORD],
  'formulas and images': [SENTENCE, WORD],
  'lists, tables and quotes': [SENTENCE, PARAGRAPH, WORD],
};

describe('each read-along book', () => {
  test('keeps its files, its text, and what epubcheck says about it', LIMITS, async () => {
    const made: { readonly name: string; readonly before: string; readonly after: string }[] = [];
    for (const [name, options] of Object.entries(BOOKS)) {
      const sandbox = await createSandbox();
      const book = bookOf(options);
      const before = path.join(sandbox.out, 'before.epub');
      await writeFile(before, book);
      for (const [number, way] of (WAYS[name] ?? [SENTENCE]).entries()) {
        const bytes = await speakBook(sandbox, book, ...way);
        const after = path.join(sandbox.out, `after-${number}.epub`);
        await writeFile(after, bytes);
        made.push({ name: `${name}, ${way.join(' ')}`, before, after });
        await expectSameBook(book, bytes, name);
      }
    }
    const files = [...new Set(made.map(({ before }) => before)), ...made.map(({ after }) => after)];
    const checked = await checkBooks(files);
    const messagesOf = (file: string): readonly BookMessage[] => checked[files.indexOf(file)] ?? [];
    const added = made.flatMap(({ after, before, name }) => {
      const known = new Set(messagesOf(before).map(keyOf));
      return messagesOf(after).flatMap((message) =>
        known.has(keyOf(message)) ? [] : [`${name}: ${keyOf(message)}`],
      );
    });
    expect(added).toEqual([]);
  });
});

function keyOf({ file, id, severity }: BookMessage): string {
  return `${severity} ${id} ${path.basename(file)}`.replace(
    /^(.*)(?:before|after)[\d-]*\.epub$/,
    '$1book.epub',
  );
}

async function expectSameBook(book: Buffer, made: Buffer, title: string): Promise<void> {
  const [before, after] = await Promise.all(
    [book, made].map((bytes) => openArchive(bytes, 'an EPUB', 'the book')),
  );
  for (const name of before?.names ?? []) {
    const [old, own] = await Promise.all([before?.readBytes(name), after?.readBytes(name)]);
    if (name.endsWith('html')) expect(stripMarks(String(own)), title).toBe(String(old));
    else if (name.endsWith('.opf')) expect(withoutOverlays(String(own)), title).toBe(String(old));
    else expect(own, title).toEqual(old);
  }
  expect(await readEpub(made, 'skip'), title).toEqual(await readEpub(book, 'skip'));
  for (const { audio, clips, durationMs } of await overlaysOf(made)) {
    expect(new Set(clips.map(({ id }) => id)).size).toBe(clips.length);
    expect(clips.every(({ endMs, startMs }) => endMs > startMs)).toBe(true);
    expect(clips.at(-1)?.endMs).toBe(durationMs);
    const input = new Input({ source: new BufferSource(audio), formats: ALL_FORMATS });
    const seconds = await input.computeDuration();
    expect(Math.abs(seconds * 1_000 - durationMs)).toBeLessThan(MOST_DIFFERENCE_MS);
    input.dispose();
  }
}

/** Removes what foley added to a package document. */
function withoutOverlays(marked: string): string {
  return marked
    .replaceAll(/<item id="foley-(?:smil|audio)-\d+"[^>]*\/>\n/g, '')
    .replaceAll(/ media-overlay="foley-smil-\d+"/g, '')
    .replaceAll(/<meta property="media:[^>]*>[^<]*<\/meta>\n/g, '');
}

/** The largest difference between the start of a clip and that of its first word in the whole recording. */
const MOST_MS = 100;

describe('the clips of a read-along book', () => {
  test.each(['mp3', 'm4a'])('begin with their first word, in %s', LIMITS, async (format) => {
    const sandbox = await createSandbox();
    const inSandbox = (name: string): string => path.join(sandbox.out, name);
    const book = bookOf(BOOK_WITHOUT_LIST);
    const made = await speakBook(sandbox, book, '--overlay-audio', format);
    for (const { audio, clips } of await overlaysOf(made)) {
      await writeFile(inSandbox(`chapter.${format}`), audio);
      await writeFile(inSandbox('chapter.txt'), clips.map(({ text }) => text).join('\n\n'));
      const args = ['align', `chapter.${format}`, '-f', 'chapter.txt', '--timings', 'chapter.json'];
      const { code, stderr } = await runFoley(args, { sandbox });
      expect(code, stderr).toBe(0);
      const { words } = JSON.parse(await readFile(inSandbox('chapter.json'), 'utf8'));
      let next = 0;
      const late = clips.map(({ startMs, text }) => {
        const first = words[next];
        next += wordCount(text);
        return Math.abs(first.startMs - startMs);
      });
      expect(next).toBe(words.length);
      // The first clip begins with the audio.
      expect(Math.max(...late.slice(1))).toBeLessThan(MOST_MS);
    }
  });
});

const OWN = fileURLToPath(new URL('epubcheck', import.meta.url));

/** A message of epubcheck: its id, its severity and the file of the book. */
interface BookMessage {
  readonly id: string;
  readonly severity: string;
  readonly file: string;
}

/**
 * Checks books with epubcheck, which Maven installs once. All books share one Java process, because starting takes
 * longer than a book.
 * @param books paths of the books; a JSON file is written beside each
 */
async function checkBooks(books: readonly string[]): Promise<readonly BookMessage[][]> {
  const [java, maven] = [requireTool('java'), requireTool('mvn')];
  const jars = path.join(await install(maven), '*');
  await execa(java, ['-cp', jars, path.join(OWN, 'Check.java'), ...books]);
  return Promise.all(
    books.map(async (book) => {
      const report = JSON.parse(await readFile(`${book}.json`, 'utf8'));
      const messages: BookMessage[] = [];
      for (const { ID: id, locations, severity } of report.messages) {
        for (const { path: file } of locations) messages.push({ id, severity, file });
      }
      return messages;
    }),
  );
}

async function install(maven: string): Promise<string> {
  return installOnce('epubcheck-5.2.1', async (folder) => {
    await cp(path.join(OWN, 'pom.xml'), path.join(folder, 'pom.xml'));
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
    await execa(maven, ['-q', '-B', ...goal], { cwd: folder });
  });
}
