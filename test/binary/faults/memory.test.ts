import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import type { RecordedRequest } from '../../fault-server/recorded-request.ts';
import { withPeak } from '../../harness/peak-memory.ts';
import { onSpeech, paidAudio, scene, speakWith } from './scene.ts';

const { mp3 } = await paidAudio();

const MB = 1_000_000;
const isFull = process.env['FOLEY_TEST_SIZE'] === 'full';
const SIZE = (isFull ? 1_000 : 200) * MB;
const MOST_MEMORY = 150 * MB;
/** What the buffers of the system between the two ends may hold. */
const MOST_AHEAD = 32 * MB;
const TIME = { timeout: 240_000 };

test('a slow pipe slows the download, and little of it is ever in memory', TIME, async () => {
  const stage = await scene([onSpeech(faults.largeBody(mp3, SIZE))]);
  const fifo = path.join(stage.box.out, 'pipe');
  execFileSync('mkfifo', [fifo]);
  const pipe = createReadStream(fifo, { highWaterMark: 65_536 });
  const { env, peak } = await withPeak(stage.box);
  const running = await stage.start(speakWith(['-o', '-', '-q']), {
    stdout: { path: fifo },
    timeoutMs: TIME.timeout,
    env,
  });
  const request = await stage.server.received();
  await stalled(request);
  expect(request.answer.bytesWritten).toBeLessThan(MOST_AHEAD);
  let bytes = 0;
  for await (const chunk of pipe) {
    bytes += Buffer.from(chunk).length;
    await setImmediate();
  }
  expect(await running.done).toMatchObject({ code: 0, stderr: '' });
  expect(bytes).toBe(sizeOf(request));
  expect(await peak()).toBeLessThan(MOST_MEMORY);
});

test('a large file needs no more memory than a small one', TIME, async () => {
  const stage = await scene([onSpeech(faults.largeBody(mp3, SIZE))]);
  const { env, peak } = await withPeak(stage.box);
  const result = await stage.speak([], { env, timeoutMs: TIME.timeout });
  expect(result.code).toBe(0);
  const [request] = stage.server.requests;
  const { size } = await stat(path.join(stage.box.out, 'hi.mp3'));
  expect(size).toBe(request === undefined ? 0 : sizeOf(request));
  expect(await peak()).toBeLessThan(MOST_MEMORY);
});

test('large noise needs no more either, and what is kept of it has an end', TIME, async () => {
  const noise = { ...mp3, bytes: Buffer.alloc(65_536, 'noise') };
  const stage = await scene([onSpeech(faults.largeBody(noise, SIZE))]);
  const { env, peak } = await withPeak(stage.box);
  const result = await stage.speak([], { env, timeoutMs: TIME.timeout });
  expect(result.code).toBe(25);
  const [request] = stage.server.requests;
  expect(request?.answer.bytesWritten).toBeLessThan(64 * 1_048_576 + MOST_AHEAD);
  expect(await peak()).toBeLessThan(MOST_MEMORY);
});

/** How much the answer's body was, without its head, which is less than a kilobyte. */
function sizeOf({ answer }: RecordedRequest): number {
  const unit = mp3.bytes.length * Math.floor(262_144 / mp3.bytes.length);
  return Math.floor(answer.bytesWritten / unit) * unit;
}

/** Waits until the server can send nothing more. */
async function stalled({ answer }: RecordedRequest): Promise<void> {
  let before = -1;
  const isStill = (): boolean => {
    const isSame = answer.bytesWritten === before;
    before = answer.bytesWritten;
    return isSame && before > 0;
  };
  await expect.poll(isStill, { interval: 150, timeout: 10_000 }).toBe(true);
}
