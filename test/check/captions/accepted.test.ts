import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from '@plussub/srt-vtt-parser';
import { execa } from 'execa';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Cue } from '../../../src/captions/cue-shape.ts';
import { shapeCues } from '../../../src/captions/shape-cues.ts';
import { srtFile, vttFile } from '../../../src/captions/subtitles.ts';
import { requireTool } from '../../harness/require-tool.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { arbitraryShape, arbitraryTimings } from '../../captions/arbitrary-timings.ts';
import { unescaped } from '../../captions/parsed.ts';
import { DEFAULT_SHAPE, STORED, storedTimings } from '../../captions/stored-timings.ts';
import { lineText } from '../../../src/captions/cue-shape.ts';

const numRuns = process.env['FOLEY_TEST_SIZE'] === 'full' ? 3_000 : 150;

const arbitraryCues = fc
  .tuple(arbitraryTimings(), arbitraryShape)
  .map(([timings, shape]) => shapeCues(timings, shape));

describe('an independent parser reads the same cues', () => {
  test('in SubRip', () => {
    fc.assert(
      fc.property(arbitraryCues, (cues) => {
        const content = srtFile(cues);
        const found = content === '' ? [] : parse(content).entries;
        expect(found.map(({ from, to, text }) => ({ from, to, text }))).toStrictEqual(
          written(cues).map((one) => ({ ...one, text: one.text.replaceAll('-->', '-- >') })),
        );
        expect(found.map(({ id }) => id)).toStrictEqual(cues.map((_, index) => `${index + 1}`));
      }),
      { numRuns },
    );
  });

  test('in WebVTT, with and without word times', () => {
    fc.assert(
      fc.property(arbitraryCues, fc.boolean(), (cues, wordTimes) => {
        const { entries } = parse(vttFile(cues, { wordTimes }));
        const found = entries.map(({ from, to, text }) => ({ from, to, text: unescaped(text) }));
        expect(found).toStrictEqual(written(cues));
      }),
      { numRuns },
    );
  });
});

describe('ffmpeg reads every file without warnings', () => {
  const HOSTILE: readonly Cue[] = [
    ['5'],
    ['a --> b', '00:00:01,000 --> 00:00:02,000'],
    ['NOTE this is said', 'WEBVTT'],
    ['<b>bold & <i>brave', '{\\an8}brackets'],
    ['שלום עולם', '👩‍👩‍👧‍👦 今日は'],
  ].map((lines, index) => ({
    startMs: 359_999_000 + index * 1_000,
    endMs: 359_999_000 + index * 1_000 + 999,
    lines: lines.map((text) => [{ text, gap: '', startMs: 0 }]),
  }));

  test.each([
    ...STORED.map((name) => [name, shapeCues(storedTimings(name), DEFAULT_SHAPE)] as const),
    ['hostile', HOSTILE] as const,
  ])('%s', async (_, cues) => {
    const ffprobe = requireTool('ffprobe');
    const { out } = await createSandbox();
    const files = {
      'a.srt': srtFile(cues),
      'a.vtt': vttFile(cues, { wordTimes: false }),
      'b.vtt': vttFile(cues, { wordTimes: true }),
    };
    for (const [name, content] of Object.entries(files)) {
      const file = path.join(out, name);
      await writeFile(file, content);
      const args = [
        '-v',
        'warning',
        '-show_entries',
        'packet=pts_time,duration_time',
        '-of',
        'csv=p=0',
        file,
      ];
      const { stdout, stderr } = await execa(ffprobe, args);
      expect(stderr).toBe('');
      expect(stdout.split('\n').map((line) => line.split(',').map(Number))).toStrictEqual(
        cues.map(({ startMs, endMs }) => [startMs / 1_000, (endMs - startMs) / 1_000]),
      );
      const ffmpeg = requireTool('ffmpeg');
      const decoded = await execa(ffmpeg, ['-v', 'warning', '-i', file, '-f', 'srt', '-']);
      expect(decoded.stderr).toBe('');
    }
  });
});

/** A parsed cue. */
interface ReadCue {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Returns the cues that a parser should read. */
function written(cues: readonly Cue[]): ReadCue[] {
  return cues.map(({ startMs, endMs, lines }) => ({
    from: startMs,
    to: endMs,
    text: lines.map((line) => lineText(line)).join('\n'),
  }));
}
