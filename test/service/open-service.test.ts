import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeAudio, loudness } from '../harness/decode-audio.ts';
import { type Bundle, buildBundle } from './support/bundle.ts';
import { temporaryFolder } from './support/test-service.ts';

let bundle: Bundle;

beforeAll(async () => {
  bundle = await buildBundle({
    sentence: 'test/service/support/one-sentence.ts',
    'hibari-worker': 'src/service/engine/hibari/hibari-worker.ts',
  });
});

afterAll(() => bundle.remove());

/** A process that opens the service, speaks and ends; what it prints. It ends by itself or fails. */
async function speakInProcess(...args: readonly string[]): Promise<unknown> {
  const program = join(bundle.folder, 'dist', 'sentence.cjs');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...args]);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describe('openService', () => {
  it('speaks with the real engine on a new data directory, and continues with it', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'hello.mp3');
    const first = await speakInProcess(join(folder, 'data'), file, 'Hello from foley.');
    expect(first).toEqual({ status: 200, key: 'long', credits: 1_000_000 - 9 });
    const audio = await decodeAudio(await readFile(file));
    expect(audio.format).toBe('mp3');
    expect(audio.durationMs).toBeGreaterThan(500);
    expect(loudness(audio)).toBeGreaterThan(-40);
    const second = await speakInProcess(join(folder, 'data'), file, 'Hello again.');
    expect(second).toMatchObject({ credits: 1_000_000 - 9 - 6 });
  });

  it('ends, with the reason, where the data directory cannot be used', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'data'), '');
    expect(await speakInProcess(join(folder, 'data'), join(folder, 'x'), 'Hello.')).toEqual({
      reason: 'unwritable',
      message: expect.stringContaining(join(folder, 'data')),
    });
  });
});
