import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SourceTime } from '../../../src/service/media/lipsync/align-sound.ts';
import { placeFrames } from '../../../src/service/media/lipsync/align-sound.ts';

/** Pictures of equal length in groups of four, of which the last is decoded first, as with B-frames. */
function source(frames: number, rate: number, begin: number): readonly SourceTime[] {
  const duration = 1 / rate;
  const shown = Array.from({ length: frames }, (_, frame) => frame);
  const decoded = shown.map((frame) => {
    const group = Math.floor((frame - 1) / 4) * 4 + 1;
    const end = Math.min(group + 3, frames - 1);
    if (frame === 0) return 0;
    return frame === group ? end : frame - 1;
  });
  return decoded.map((frame) => ({ timestamp: begin + frame * duration, duration }));
}

const SOURCES = fc.record({
  frames: fc.integer({ min: 1, max: 200 }),
  rate: fc.constantFrom(10, 24, 25, 30_000 / 1_001, 60),
  begin: fc.constantFrom(0, 0.08, -0.04),
  wanted: fc.double({ min: 0.05, max: 30, noNaN: true }),
});

describe('pictures that are put onto a clock', () => {
  test('begin at 0 and end exactly where they are to, none of them outside', () => {
    fc.assert(
      fc.property(SOURCES, ({ begin, frames, rate, wanted }) => {
        const placed = placeFrames(source(frames, rate, begin), {
          length: frames / rate,
          seconds: wanted,
        });
        const ends = placed.map(({ duration, timestamp }) => timestamp + duration);
        expect(Math.min(...placed.map(({ timestamp }) => timestamp))).toBeCloseTo(0, 9);
        expect(Math.max(...ends)).toBeCloseTo(wanted, 9);
        expect(placed.every(({ duration }) => duration >= 0)).toBe(true);
      }),
    );
  });

  test('come in the order of the source, turn after turn, and are each shown once', () => {
    fc.assert(
      fc.property(SOURCES, ({ begin, frames, rate, wanted }) => {
        const given = source(frames, rate, begin);
        const length = frames / rate;
        const placed = placeFrames(given, { length, seconds: wanted });
        for (const [at, { timestamp }] of placed.entries()) {
          const turn = Math.floor(at / frames);
          const expected = (given[at % frames]?.timestamp ?? NaN) - begin + turn * length;
          expect(timestamp).toBeCloseTo(expected, 9);
        }
        expect(new Set(placed.map(({ timestamp }) => timestamp)).size).toBe(placed.length);
      }),
    );
  });

  test('leave out no more than what needs a picture that is shown later', () => {
    fc.assert(
      fc.property(SOURCES, ({ begin, frames, rate, wanted }) => {
        const seconds = Math.min(wanted, frames / rate);
        const placed = placeFrames(source(frames, rate, begin), {
          length: frames / rate,
          seconds,
        });
        expect(placed.length).toBeGreaterThan(Math.floor(seconds * rate) - 4);
      }),
    );
  });

  test('may be as many as half an hour has at the highest rates', () => {
    const [frames, rate] = [432_000, 240];
    const placed = placeFrames(source(frames, rate, 0), { length: 1_800, seconds: 1_800 });
    expect(placed).toHaveLength(frames);
  });
});
