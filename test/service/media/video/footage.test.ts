import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fadeAt, viewAt } from '../../../../src/service/media/video/camera.ts';
import { KEY_EVERY } from '../../../../src/service/media/video/footage.ts';
import { frameRanges } from '../../../../src/service/media/video/frame-ranges.ts';
import type { I420 } from '../../../../src/service/media/video/i420.ts';
import { toI420 } from '../../../../src/service/media/video/i420.ts';
import { lay, toOverlay } from '../../../../src/service/media/video/overlay.ts';
import { enlarged, fade, resample } from '../../../../src/service/media/video/resample.ts';

const WHOLE = { left: 0, top: 0, scale: 1 };

describe('colours', () => {
  // The values of ITU-R BT.709 for limited range.
  test.each([
    ['black', [0, 0, 0], [16, 128, 128]],
    ['white', [255, 255, 255], [235, 128, 128]],
    ['red', [255, 0, 0], [63, 102, 240]],
    ['green', [0, 255, 0], [173, 42, 26]],
    ['blue', [0, 0, 255], [32, 240, 118]],
  ])('%s', (_name, rgb, yuv) => {
    const { bytes } = toI420(Uint8Array.from([...rgb, ...rgb, ...rgb, ...rgb]), square(2));
    expect([bytes[0], bytes[4], bytes[5]]).toEqual(yuv);
  });
});

describe('the camera', () => {
  test('never looks beside the picture', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(), (moment, seed) => {
        const { left, top, scale } = viewAt(moment, seed);
        expect(Math.min(left, top)).toBeGreaterThanOrEqual(0);
        expect(Math.max(left, top) + scale).toBeLessThanOrEqual(1 + 1e-9);
      }),
    );
  });

  test('sees the first picture at first and the last at last', () => {
    expect([fadeAt(0), fadeAt(1 / 3), fadeAt(0.5), fadeAt(1)]).toEqual([0, 0, 0.5, 1]);
  });

  test('sees all of a picture as it is', () => {
    const source = noise(8);
    const target = { ...square(8), bytes: new Uint8Array(8 * 8 * 1.5) };
    resample(source, WHOLE, target);
    expect(target.bytes).toEqual(new Uint8Array(source.bytes));
  });

  test('mixes neighbours and makes no value that was not between them', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(), (moment, seed) => {
        const target = { ...square(10), bytes: new Uint8Array(10 * 10 * 1.5) };
        resample(flat(12, 77), viewAt(moment, seed), target);
        expect(new Set(target.bytes)).toEqual(new Set([77]));
      }),
    );
  });
});

test('one picture shines through another by its share', () => {
  const target = flat(2, 100);
  fade(target, flat(2, 200), 0.5);
  expect(new Set(target.bytes)).toEqual(new Set([150]));
});

test('an overlay covers where it is opaque, from its row on, and nothing where it is not', () => {
  const rgba = Uint8Array.from([...pixel(255), ...pixel(255), ...pixel(255), ...pixel(255)]);
  const frame = flat(2, 50, 4);
  lay(toOverlay(rgba, square(2), 2), frame);
  expect([...frame.bytes.subarray(0, 4)]).toEqual([50, 50, 50, 50]);
  for (const light of frame.bytes.subarray(4, 8)) expect(light).toBeGreaterThan(230);
  lay(toOverlay(Uint8Array.from([0, 0, 0, 0].flatMap(() => pixel(0))), square(2), 0), frame);
  expect([...frame.bytes.subarray(0, 4)]).toEqual([50, 50, 50, 50]);
});

test('parts follow each other and begin where a frame stands alone', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_440 }),
      fc.integer({ min: 1, max: 8 }),
      (frames, parts) => {
        const ranges = frameRanges(frames, parts);
        expect(ranges.length).toBeLessThanOrEqual(parts);
        expect([ranges[0]?.from, ranges.at(-1)?.to]).toEqual([0, frames]);
        for (const [index, { from, to }] of ranges.entries()) {
          expect(to).toBeGreaterThan(from);
          expect(from % KEY_EVERY).toBe(0);
          expect(ranges[index + 1]?.from ?? frames).toBe(to);
        }
      },
    ),
  );
});

test('a size that is enlarged stays even', () => {
  expect(enlarged({ width: 1_792, height: 1_024 }, 1.2)).toEqual({ width: 2_150, height: 1_228 });
});

function square(side: number) {
  return { width: side, height: side };
}

function flat(width: number, value: number, height = width): I420 {
  return { width, height, bytes: new Uint8Array(width * height * 1.5).fill(value) };
}

function noise(side: number): I420 {
  const bytes = new Uint8Array(side * side * 1.5).map((_, index) => (index * 37 + 11) % 256);
  return { ...square(side), bytes };
}

function pixel(alpha: number): readonly number[] {
  return [255, 255, 255, alpha];
}
