import { expect, it } from 'vitest';
import { blockReader, readBoxes } from '../../src/audio/mp4-boxes.ts';

/** Empty boxes of 8 bytes. */
function emptyBoxes(count: number): Buffer {
  const box = Buffer.from('\0\0\0\x08free', 'latin1');
  return Buffer.alloc(count * box.length, box);
}

/** A file in memory that counts its reads. */
function fileOf(bytes: Buffer) {
  const file = {
    reads: 0,
    whole: { start: 0, end: bytes.length },
    read: blockReader((block, position) => {
      file.reads += 1;
      return bytes.copy(block, 0, position);
    }),
  };
  return file;
}

it('reads the headers of many small boxes in blocks', () => {
  const file = fileOf(
    Buffer.concat([emptyBoxes(50_000), Buffer.from('\0\0\0\0mdat1234', 'latin1')]),
  );
  const boxes = readBoxes(file.read, file.whole, 100_000);
  expect(boxes).toHaveLength(50_001);
  expect(boxes.at(-1)).toEqual({ type: 'mdat', start: 400_008, end: 400_012 });
  expect(file.reads).toBeLessThan(10);
});

it('stops at more boxes than a video has', () => {
  const file = fileOf(emptyBoxes(550_000));
  expect(() => readBoxes(file.read, file.whole, 100_000)).toThrow('too many boxes');
  expect(file.reads).toBeLessThan(20);
  expect(() => readBoxes(fileOf(emptyBoxes(20_000)).read, { start: 0, end: 160_000 })).toThrow(
    'too many boxes',
  );
});
