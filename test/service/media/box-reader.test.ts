import { expect, it } from 'vitest';
import { boxesIn, boxesOf } from '../../../src/service/media/inspection/check-boxes.ts';

/** Empty boxes of 8 bytes. */
function emptyBoxes(count: number): Buffer {
  const box = Buffer.from('\0\0\0\x08free', 'latin1');
  return Buffer.alloc(count * box.length, box);
}

/** A file in memory that counts how often it is read. */
function fileOf(bytes: Buffer) {
  const file = {
    reads: 0,
    async read(buffer: Buffer, offset: number, length: number, position: number) {
      file.reads += 1;
      const bytesRead = bytes.copy(buffer, offset, position, position + length);
      return { buffer, bytesRead };
    },
  };
  return file;
}

it('reads the headers of many small boxes in blocks', async () => {
  const bytes = Buffer.concat([emptyBoxes(50_000), Buffer.from('\0\0\0\0mdat1234', 'latin1')]);
  const file = fileOf(bytes);
  const boxes = await boxesOf(file, bytes.length);
  expect(boxes).toHaveLength(50_001);
  expect(boxes.at(-1)).toEqual({ type: 'mdat', start: 400_008, end: 400_012 });
  expect(file.reads).toBeLessThan(10);
});

it('stops at more boxes than a video has', async () => {
  const bytes = emptyBoxes(550_000);
  const file = fileOf(bytes);
  await expect(boxesOf(file, bytes.length)).rejects.toThrow('more boxes');
  expect(file.reads).toBeLessThan(20);
  expect(() => boxesIn(emptyBoxes(20_000), 0, 160_000)).toThrow('more boxes');
});
