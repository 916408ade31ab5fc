import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AudioQueue } from '../../src/live/audio-queue.ts';

const MEBIBYTE = 1024 * 1024;

function watched() {
  const told: string[] = [];
  const queue = new AudioQueue(
    () => told.push('full'),
    () => told.push('room'),
  );
  return { queue, told };
}

async function read(queue: AudioQueue): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of queue) parts.push(part);
  return Buffer.concat(parts);
}

test('chunks of any size yield the same bytes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 70_000 }), { maxLength: 8 }),
      async (all) => {
        const { queue } = watched();
        const heard = read(queue);
        for (const part of all) {
          queue.push(part);
          await Promise.resolve();
        }
        queue.end();
        expect((await heard).equals(Buffer.concat(all))).toBe(true);
      },
    ),
    { numRuns: 50 },
  );
});

test('it is full above 8 MiB, and drains after half a MiB was read', async () => {
  const { queue, told } = watched();
  for (let count = 0; count < 9; count += 1) queue.push(new Uint8Array(MEBIBYTE));
  expect([told, queue.isFull]).toEqual([['full'], true]);
  const audio = queue[Symbol.asyncIterator]();
  await audio.next();
  expect(told).toEqual(['full']);
  await audio.next();
  expect([told, queue.isFull]).toEqual([['full', 'room'], false]);
});

test('audio before a failure is delivered, audio after it is dropped', async () => {
  const { queue } = watched();
  queue.push(Uint8Array.of(1));
  queue.end(new Error('broken'));
  queue.push(Uint8Array.of(2));
  const audio = queue[Symbol.asyncIterator]();
  expect(await audio.next()).toEqual({ done: false, value: Uint8Array.of(1) });
  await expect(audio.next()).rejects.toThrow('broken');
});

test('stopping it drops queued audio and rejects a waiting reader', async () => {
  const { queue } = watched();
  const heard = queue[Symbol.asyncIterator]().next();
  queue.push(Uint8Array.of(1));
  queue.stop(new Error('enough'));
  await expect(heard).rejects.toThrow('enough');
});
