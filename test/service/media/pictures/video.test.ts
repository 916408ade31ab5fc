import sharp from 'sharp';
import { expect, test } from 'vitest';
import { toI420 } from '../../../../src/service/media/pictures/video.ts';

// The values of ITU-R BT.709 for limited range.
test.each([
  ['black', '#000000', [16, 128, 128]],
  ['white', '#ffffff', [235, 128, 128]],
  ['red', '#ff0000', [63, 102, 240]],
  ['green', '#00ff00', [173, 42, 26]],
  ['blue', '#0000ff', [32, 240, 118]],
])('%s becomes its brightness and its two colours', async (_name, background, [y, u, v]) => {
  const size = { width: 4, height: 2 };
  const planes = await toI420(sharp({ create: { ...size, channels: 3, background } }), size);
  expect([...planes]).toEqual([y, y, y, y, y, y, y, y, u, u, v, v]);
});
