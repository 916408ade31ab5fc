import { beforeEach, describe, expect, test } from 'vitest';
import { openArchive } from '../../src/text/formats/archive.ts';
import { decodeAudio } from '../harness/decode-audio.ts';
import { parseJsonLines } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { RunResult } from '../harness/run-options.ts';
import { bookOf, PANDOC_BOOK } from '../read-along/books.ts';
import { overlaysOf } from '../read-along/overlays.ts';
import { stripMarks } from '../read-along/strip-marks.ts';
import type { BatchSandbox } from './batch/batch-sandbox.ts';
import { batchSandbox } from './batch/batch-sandbox.ts';

const BOOK = bookOf(PANDOC_BOOK);

let sandbox: BatchSandbox;

function script(...args: readonly string[]): Promise<RunResult> {
  const { env } = sandbox.service;
  return runFoley(['script', ...args, '--voice-name', 'Clara'], { sandbox: sandbox.sandbox, env });
}

beforeEach(async () => {
  sandbox = await batchSandbox({});
  await sandbox.write('book.epub', BOOK);
});

describe('a read-along book', () => {
  test('has the files of the book, ids, and an overlay with audio for each chapter', async () => {
    const result = await script('book.epub', '-o', 'out.epub', '--json');
    expect(result.code, result.stderr).toBe(0);
    const made = await sandbox.read('out.epub');
    expect(made.toString('latin1', 30, 58)).toBe('mimetypeapplication/epub+zip');
    const [before, after] = await Promise.all(
      [BOOK, made].map((bytes) => openArchive(bytes, 'an EPUB', 'the book')),
    );
    const names = before?.names ?? [];
    expect(after?.names.slice(0, names.length)).toEqual(names);
    for (const name of names.filter((one) => !one.endsWith('.opf'))) {
      const text = String(await after?.read(name));
      expect(stripMarks(text), name).toBe(await before?.read(name));
    }
    const overlays = await overlaysOf(made);
    expect(overlays.map(({ document }) => document)).toEqual([
      'EPUB/text/ch001.xhtml',
      'EPUB/text/ch002.xhtml',
    ]);
    expect(overlays[0]?.clips.map(({ text }) => text)).toEqual([
      'The old bridge',
      'The old bridge is open again.',
      'The weather',
      'is good.',
      'People',
      'walk & talk.',
      'She asked, “Who are you?”',
      'Nobody knew.',
      'The first item.',
      'The second item',
    ]);
    let totalMs = 0;
    for (const { audio, clips, durationMs } of overlays) {
      // Each clip begins where the one before ends, and the last one ends with the audio.
      expect(clips.map(({ startMs }) => startMs)).toEqual([
        0,
        ...clips.slice(0, -1).map(({ endMs }) => endMs),
      ]);
      expect(clips.at(-1)?.endMs).toBe(durationMs);
      const sound = await decodeAudio(audio);
      expect(Math.abs(sound.durationMs - durationMs)).toBeLessThan(60);
      totalMs += durationMs;
    }
    const opf = String(await after?.read('EPUB/package.opf'));
    expect(opf).toContain('<meta property="media:active-class">-epub-media-overlay-active</meta>');
    const [, seconds] = /<meta property="media:duration">0:00:(\d+\.\d+)</.exec(opf) ?? [];
    expect(Math.round(Number(seconds) * 1_000)).toBe(totalMs);
    const events = parseJsonLines(result.stdout.toString());
    expect(events).toContainEqual({
      event: 'recording',
      output: 'out.epub',
      bytes: made.length,
      durationMs: totalMs,
      overlay: 'sentence',
      documents: 2,
      highlights: 13,
      isTimed: true,
    });
  });
});
