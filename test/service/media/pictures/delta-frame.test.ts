import { expect, test } from 'vitest';
import { deltaFrame } from '../../../../src/service/media/pictures/delta-frame.ts';

test('a frame skips all macroblocks but the changed ones, which are raw samples', () => {
  const size = { width: 48, height: 24 };
  const planes = new Uint8Array((48 * 24 * 3) / 2).fill(100, 0, 48 * 24).fill(128, 48 * 24);
  // The changed pixels are in the fifth of six macroblocks, the lower half of which is beyond the picture.
  for (let row = 22; row < 24; row += 1) planes.fill(235, row * 48 + 16, row * 48 + 20);
  const unit = [...deltaFrame(planes, size, { top: 22, left: 16, right: 20 }, 2)];
  const [changed, unchanged] = [[235, 235, 235, 235, ...Array(12).fill(100)], Array(16).fill(100)];
  const rows = Array.from({ length: 16 }, (_, row) => (row < 6 ? unchanged : changed)).flat();
  // The header, a run of four (00101), I_PCM (000011111) and bits up to the next byte; at the end a run of one and the stop bit.
  const bits = ['11100010', '00010100', '01010000', '11111000'];
  const head = bits.map((octet) => Number.parseInt(octet, 2));
  expect(unit).toEqual([
    0,
    0,
    1,
    0x86,
    0x61,
    ...head,
    ...rows,
    ...Array(128).fill(128),
    0b0101_0000,
  ]);
});

test('a frame without changes is one run of skipped macroblocks', () => {
  const size = { width: 32, height: 32 };
  const unit = [...deltaFrame(new Uint8Array(1_536), size, { top: 28, left: 16, right: 16 }, 31)];
  // A run of four and the stop bit.
  expect(unit).toEqual([0, 0, 0, 4, 0x61, 0b1111_1111, 0b0001_0100, 0b0101_1000]);
});
