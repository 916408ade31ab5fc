import { readFile } from 'node:fs/promises';
import { array, assert, constantFrom, integer, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { millisecondsOf, placeLines, TIMINGS } from '../../../src/script/recording/timeline.ts';
import { readWav } from '../../harness/wav.ts';
import { make } from './make.ts';

const RATE = 44_100;
const second = (startMs: number, seconds: number, endMs?: number) => {
  return { samples: seconds * RATE, startMs, endMs, pauseAfterMs: 300 };
};

describe('lines with times', () => {
  test('begin at their times, whatever the pauses', () => {
    const places = placeLines([second(500, 1), second(3000, 1)], 'stretch');
    expect(places).toMatchObject([
      { start: 22_050, tempo: 1, lateMs: 0 },
      { start: 132_300, tempo: 1, lateMs: 0 },
    ]);
  });

  test('are sped up to 1.25 times, then the next line is late', () => {
    const [fits, first, late] = placeLines(
      [second(0, 1.2), second(1000, 2), second(2000, 1)],
      'stretch',
    );
    expect(fits).toMatchObject({ tempo: 1.2, samples: RATE });
    expect(first).toMatchObject({ tempo: 1.25, start: RATE, lateMs: 0 });
    expect(late).toMatchObject({ start: 2.6 * RATE, lateMs: 600 });
  });

  test('are sped up with all their parts if a pause divides them', () => {
    const part = { samples: RATE, pauseAfterMs: 300 };
    const places = placeLines([{ ...part, startMs: 0 }, part, second(1900, 1)], 'stretch');
    expect(places).toMatchObject([
      { tempo: 1.25, start: 0 },
      { tempo: 1.25, start: 48_510 },
      { tempo: 1, start: 83_790, lateMs: 0 },
    ]);
  });

  test('are mixed where they overlap', () => {
    const places = placeLines([second(0, 2), second(1000, 1)], 'overlap');
    expect(places).toMatchObject([{ tempo: 1 }, { start: RATE, lateMs: 0, excessMs: 0 }]);
  });

  test('that do not fit exactly are reported', () => {
    const lines = [second(0, 1.5, 1400), second(2000, 1.5), second(3000, 1)];
    const places = placeLines(lines, 'exact');
    expect(places.map(({ excessMs }) => Math.round(excessMs))).toEqual([100, 500, 0]);
    expect(places.map(({ start }) => start / RATE)).toEqual([0, 2, 3]);
  });

  test('begin within 20 ms of their times, or are reported late', () => {
    const line = record({
      seconds: integer({ min: 1, max: 60 }),
      gap: integer({ min: 0, max: 90 }),
    });
    assert(
      property(array(line), constantFrom(...TIMINGS), (lines, timing) => {
        let startMs = 0;
        const timed = lines.map(({ gap, seconds }) => second((startMs += gap * 100), seconds / 10));
        for (const [index, place] of placeLines(timed, timing).entries()) {
          const late = millisecondsOf(place.start) - (timed[index]?.startMs ?? 0);
          expect(late).toBeGreaterThan(-1);
          expect(place.lateMs).toBe(late < 20 ? 0 : late);
          expect(place.tempo).toBeLessThanOrEqual(1.25);
        }
      }),
    );
  });

  test('are heard at their times, stretched to the sample', async () => {
    const { file, lines } = await make([
      { seconds: 1.2, startMs: 250 },
      { seconds: 0.5, startMs: 1250, hertz: 600 },
    ]);
    const [samples = new Float32Array(0)] = readWav(await readFile(file)).channels;
    expect(samples).toHaveLength(1.75 * RATE);
    expect(samples.subarray(0, 0.25 * RATE).every((one) => one === 0)).toBe(true);
    const loud = samples.findIndex((one) => Math.abs(one) > 0.05);
    expect(loud / RATE).toBeCloseTo(0.25, 1);
    expect(lines).toMatchObject([{ tempo: 1.2, endMs: 1250 }, { startMs: 1250 }]);
  });
});

describe('the seams of a recording', () => {
  test('do not click, even if lines begin and end loud', async () => {
    const { file } = await make([
      { seconds: 0.5, isCut: true, pauseAfterMs: 200 },
      { seconds: 0.5, isCut: true, pauseAfterMs: 0 },
      { seconds: 0.5, isCut: true, hertz: 300 },
    ]);
    const [samples = new Float32Array(0)] = readWav(await readFile(file)).channels;
    // The largest step inside of a tone of 440 hertz.
    const step = 0.3 * 2 * Math.PI * (440 / RATE);
    const jumps = samples.map((one, at) => Math.abs(one - (samples[at - 1] ?? 0)));
    expect(jumps.reduce((most, one) => Math.max(most, one), 0)).toBeLessThan(1.2 * step);
  });
});
