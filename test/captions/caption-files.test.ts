import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { openCaptionFiles, writeCaptions } from '../../src/captions/caption-files.ts';
import type { CaptionTarget } from '../../src/captions/caption-files.ts';
import { subtitlesOf } from '../../src/captions/subtitles.ts';
import { timingsFile, timingsOf } from '../../src/captions/timings.ts';
import { testSystem, namesIn, textOf } from '../files/file-simulation.ts';
import type { Fault } from '../harness/failing-files.ts';
import { forEachEffect } from '../harness/failing-files.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { DEFAULT_SHAPE } from './stored-timings.ts';

const CONTENT = {
  timings: timingsOf({
    text: 'Hello, you.',
    durationMs: 900,
    complete: true,
    words: [{ text: 'hello', startMs: 0, endMs: 400 }],
  }),
  shape: DEFAULT_SHAPE,
};
const OLD = 'an older file, which is good';
const NEW: Readonly<Record<string, string>> = {
  'talk.json': timingsFile(CONTENT.timings),
  'talk.srt': subtitlesOf(CONTENT.timings, DEFAULT_SHAPE, 'srt').content,
  'talk.vtt': subtitlesOf(CONTENT.timings, DEFAULT_SHAPE, 'vtt').content,
};

/** Operations before the first rename; later ones only sync, close and rename. */
const OPENS_OR_WRITES = new Set(['access', 'create', 'lstat', 'realpath', 'stat', 'write']);

function targets(folder: string): CaptionTarget[] {
  return (['srt', 'json', 'vtt'] as const).map((format) => ({
    path: path.join(folder, `talk.${format}`),
    format,
  }));
}

async function simulation(): Promise<string> {
  const { out } = await createSandbox();
  await writeFile(path.join(out, 'talk.srt'), OLD);
  return out;
}

describe('several caption files', () => {
  test('have the same content as one at a time', async () => {
    const out = await simulation();
    const written = await writeCaptions(CONTENT, { system: testSystem(), targets: targets(out) });
    expect(written.map(({ format, cues }) => [format, cues])).toStrictEqual([
      ['srt', 1],
      ['json', undefined],
      ['vtt', 1],
    ]);
    for (const [name, content] of Object.entries(NEW)) {
      expect(await textOf(path.join(out, name))).toBe(content);
    }
  });

  test('of a long text are the same, and a stop signal ends their making', async () => {
    const out = await simulation();
    const words = Array.from({ length: 2_000 }, (_, at) => {
      return { text: 'word', startMs: at * 300, endMs: at * 300 + 200 };
    });
    const text = words.map((word) => word.text).join(' ');
    const timings = timingsOf({ text, durationMs: 600_000, complete: true, words });
    const long = { timings, shape: DEFAULT_SHAPE };
    const options = { system: testSystem(), targets: targets(out) };
    const stop = new AbortController();
    const stopped = writeCaptions(long, { ...options, signal: stop.signal });
    stop.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    expect(await namesIn(out)).toEqual(['talk.srt']);
    expect(await textOf(path.join(out, 'talk.srt'))).toBe(OLD);
    await writeCaptions(long, options);
    for (const format of ['srt', 'vtt'] as const) {
      const { content } = subtitlesOf(timings, DEFAULT_SHAPE, format);
      expect(await textOf(path.join(out, `talk.${format}`))).toBe(content);
    }
  });

  test('stay unchanged until they are published, or when they are abandoned', async () => {
    const out = await simulation();
    const files = await openCaptionFiles({ system: testSystem(), targets: targets(out) });
    await files.prepare(CONTENT);
    expect(await textOf(path.join(out, 'talk.srt'))).toBe(OLD);
    await files.abandon();
    expect(await namesIn(out)).toStrictEqual(['talk.srt']);
  });

  test('keep an existing file that may not be replaced', async () => {
    const out = await simulation();
    const options = { system: testSystem(), targets: targets(out), existing: 'refuse' } as const;
    await expect(writeCaptions(CONTENT, options)).rejects.toMatchObject({ exitCode: 31 });
    expect(await namesIn(out)).toStrictEqual(['talk.srt']);
  });

  test.each<Fault>([
    { kind: 'full' },
    { kind: 'error', code: 'EIO' },
    { kind: 'error', code: 'EACCES' },
  ])(
    'are all written or none, when one cannot be opened or written: $kind $code',
    async (fault) => {
      const failed: string[] = [];
      const effects = await forEachEffect({
        fault,
        prepare: simulation,
        scenario: async (out, files) => {
          await writeCaptions(CONTENT, { system: testSystem({ files }), targets: targets(out) });
        },
        async check(out, { at, struck, error }) {
          const texts = await Promise.all(
            Object.keys(NEW).map((name) => textOf(path.join(out, name))),
          );
          const isNew = texts.map((text, index) => text === Object.values(NEW)[index]);
          const isOld = texts.map((text, index) => text === [undefined, OLD, undefined][index]);
          expect(
            isNew.every((one, index) => one || isOld[index]),
            `${struck} ${at}`,
          ).toBe(true);
          if (error === undefined)
            expect(isNew, `${struck} ${at}`).toStrictEqual([true, true, true]);
          if (error === undefined || struck === undefined || !OPENS_OR_WRITES.has(struck)) return;
          failed.push(struck);
          expect(isOld, `${struck} ${at}`).toStrictEqual([true, true, true]);
        },
      });
      expect(effects.filter((name) => name === 'rename')).toHaveLength(3);
      expect(failed).toContain('write');
    },
  );
});
