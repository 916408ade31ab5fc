import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import {
  ALIGNED_PATH,
  audioEvent,
  completedEvent,
  eventsAround,
  snapshotEvent,
} from '../../fault-server/faults/aligned.ts';
import type { RecordedRequest } from '../../fault-server/recorded-request.ts';
import { errorLine } from '../../harness/error-line.ts';
import { withPeak } from '../../harness/peak-memory.ts';
import {
  onSpeech,
  paidAudio,
  createFixture,
  speakWith,
  spooled,
} from '../../binary/support/fixture.ts';

const { mp3 } = await paidAudio();

const MB = 1_000_000;
const isFull = process.env['FOLEY_TEST_SIZE'] === 'full';
const SIZE = (isFull ? 1_000 : 200) * MB;
const MOST_MEMORY = 150 * MB;
/** Bytes that the system buffers between both ends may hold. */
const MOST_AHEAD = 32 * MB;
const ANY_SIZE = ['--max-bytes', `${2 * SIZE}`];
const TIME = { timeout: 240_000 };

test('a slow pipe slows the download, with little of it in memory', TIME, async () => {
  const fixture = await createFixture([onSpeech(faults.largeBody(mp3, SIZE))]);
  const fifo = path.join(fixture.sandbox.out, 'pipe');
  execFileSync('mkfifo', [fifo]);
  const pipe = createReadStream(fifo, { highWaterMark: 65_536 });
  const { env, peak } = await withPeak(fixture.sandbox);
  const running = await fixture.start(speakWith(['-o', '-', '-q', ...ANY_SIZE]), {
    stdout: { path: fifo },
    timeoutMs: TIME.timeout,
    env,
  });
  const request = await fixture.server.received();
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
  const fixture = await createFixture([onSpeech(faults.largeBody(mp3, SIZE))]);
  const { env, peak } = await withPeak(fixture.sandbox);
  const result = await fixture.speak(ANY_SIZE, { env, timeoutMs: TIME.timeout });
  expect(result.code).toBe(0);
  const [request] = fixture.server.requests;
  const { size } = await stat(path.join(fixture.sandbox.out, 'hi.mp3'));
  expect(size).toBe(request === undefined ? 0 : sizeOf(request));
  expect(await peak()).toBeLessThan(MOST_MEMORY);
});

test('large noise needs no more either, and the spooled part is limited', TIME, async () => {
  const noise = { ...mp3, bytes: Buffer.alloc(65_536, 'noise') };
  const fixture = await createFixture([onSpeech(faults.largeBody(noise, SIZE))]);
  const { env, peak } = await withPeak(fixture.sandbox);
  const result = await fixture.speak([], { env, timeoutMs: TIME.timeout });
  expect(result.code).toBe(25);
  const [request] = fixture.server.requests;
  expect(request?.answer.bytesWritten).toBeLessThan(64 * 1_048_576 + MOST_AHEAD);
  expect(await peak()).toBeLessThan(MOST_MEMORY);
});

test('endless audio stops at --max-bytes: exit 25, and received audio is spooled', async () => {
  const fixture = await createFixture([onSpeech(faults.endlessBody(mp3))]);
  const error = await fixture.fail(['--max-bytes', '1000000']);
  expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'yes' });
  expect(error.message).toBe(
    'the audio is longer than 1000000 bytes, which no text of this length needs',
  );
  expect(error.hint).toMatch(/The received audio is saved in \//);
  expect(error.hint).toContain('--max-bytes');
  const { audio, record } = await spooled(fixture.sandbox);
  expect(record).toMatchObject({ complete: false });
  expect(audio.length).toBeGreaterThan(1_000_000 - 65_536);
  expect(audio.length).toBeLessThan(2_000_000);
  await fixture.server.abandoned();
});

test('endless words do not fill the memory: exit 25, and the audio is spooled', TIME, async () => {
  const words = Array.from({ length: 1_000 }, (_, at) => ['word', at, at + 1] as const);
  const snapshots = Array.from({ length: 20 }, (_, at) => snapshotEvent(at, words));
  const times = 50;
  let chunkSeq = 0;
  const many = Array.from({ length: times }, () =>
    snapshots.map((text) => text.replace(/"chunkSeq":\d+/, () => `"chunkSeq":${(chunkSeq += 1)}`)),
  ).flat();
  const answer = eventsAround([audioEvent(mp3.bytes), ...many], [completedEvent()]);
  const fixture = await createFixture([{ method: 'POST', path: ALIGNED_PATH, answer }]);
  const { env, peak } = await withPeak(fixture.sandbox);
  const result = await fixture.speak(['--timings', 'hi.json', '--json'], { env });
  expect(result.code).toBe(25);
  expect(errorLine(result).message).toContain('has too many words');
  expect((await spooled(fixture.sandbox)).audio).toStrictEqual(mp3.bytes);
  expect(await peak()).toBeLessThan(MOST_MEMORY);
});

/** Returns the size of the response body, without the headers of less than a kilobyte. */
function sizeOf({ answer }: RecordedRequest): number {
  const unit = mp3.bytes.length * Math.floor(262_144 / mp3.bytes.length);
  return Math.floor(answer.bytesWritten / unit) * unit;
}

/** Waits until the server cannot send more. */
async function stalled({ answer }: RecordedRequest): Promise<void> {
  let before = -1;
  const isStill = (): boolean => {
    const isSame = answer.bytesWritten === before;
    before = answer.bytesWritten;
    return isSame && before > 0;
  };
  await expect.poll(isStill, { interval: 150, timeout: 10_000 }).toBe(true);
}
