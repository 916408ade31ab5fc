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

test('whatever the pieces are, the same bytes come out', async () => {
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

test('it is full above eight mebibytes, and has room when half of one is gone', async () => {
  const { queue, told } = watched();
  for (let count = 0; count < 9; count += 1) queue.push(new Uint8Array(MEBIBYTE));
  expect([told, queue.isFull]).toEqual([['full'], true]);
  const audio = queue[Symbol.asyncIterator]();
  await audio.next();
  expect(told).toEqual(['full']);
  await audio.next();
  expect([told, queue.isFull]).toEqual([['full', 'room'], false]);
});

test('what came before a failure is heard before it, and what comes after it is not', async () => {
  const { queue } = watched();
  queue.push(Uint8Array.of(1));
  queue.end(new Error('broken'));
  queue.push(Uint8Array.of(2));
  const audio = queue[Symbol.asyncIterator]();
  expect(await audio.next()).toEqual({ done: false, value: Uint8Array.of(1) });
  await expect(audio.next()).rejects.toThrow('broken');
});

test('stopped, nothing is heard any more, also by who waits', async () => {
  const { queue } = watched();
  const heard = queue[Symbol.asyncIterator]().next();
  queue.push(Uint8Array.of(1));
  queue.stop(new Error('enough'));
  await expect(heard).rejects.toThrow('enough');
});
