import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/system/clock.ts';
import { createTaskRunner } from '../../../src/service/media/child/run-task.ts';
import type { VideoParameters } from '../../../src/service/media/pictures/video.ts';
import { FOLEY, requireBuild } from '../../harness/run-foley.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import {
  VIDEOS,
  creditsOf,
  endOf,
  post,
  serveForPictures,
} from '../../binary/support/media-calls.ts';

const ROOT = path.join(path.dirname(FOLEY), '..');
const run = createTaskRunner({
  clock: systemClock,
  file: pathToFileURL(path.join(ROOT, 'dist/media-child.cjs')),
  env: {},
});

/** A video of two seconds, made by the built child into a folder of the test. */
async function makeVideo(signal: AbortSignal, onProgress: (fraction: number) => void) {
  requireBuild();
  const { out } = await createSandbox();
  const order: VideoParameters = {
    prompt: 'Waves at noon',
    seed: 1,
    width: 640,
    height: 360,
    seconds: 2,
    references: [],
    fontFile: path.join(ROOT, 'assets/fonts/foley-sans.ttf'),
    output: path.join(out, 'video.mp4'),
  };
  const options = { result: Type.Null(), deadlineMs: 300_000, signal, onProgress };
  return { out, made: run('video', order, options) };
}

describe('the making of a video', { timeout: 300_000 }, () => {
  test('reports its progress with nearly every frame', async () => {
    const told: number[] = [];
    const { made, out } = await makeVideo(new AbortController().signal, (fraction) => {
      told.push(fraction);
    });
    await made;
    expect(told.length).toBeGreaterThan(40);
    expect([...told].sort((a, b) => a - b)).toEqual(told);
    expect(told.at(-1)).toBeLessThan(1);
    expect(await readdir(out)).toEqual(['video.mp4']);
  });

  test('ends at once when aborted, and writes nothing', async () => {
    const stop = new AbortController();
    const { made, out } = await makeVideo(stop.signal, () => {
      stop.abort(new Error('aborted by the test'));
    });
    await expect(made).rejects.toThrow('aborted by the test');
    expect(await readdir(out)).toEqual([]);
  });

  test('is done by the next process when its own is killed, and charged once', async () => {
    const sandbox = await createSandbox();
    const flags = ['--data-dir', 'data'];
    const first = await serveForPictures(flags, { sandbox });
    const before = await creditsOf(first);
    const body = { prompt: 'Waves at noon', model: 'vendor-video-1-flash', seconds: 2 };
    const { body: accepted } = await post(first, VIDEOS, body);
    first.running.signal('SIGKILL');
    await first.running.done;
    const second = await serveForPictures(flags, { sandbox });
    const data = await endOf(second, VIDEOS, accepted.data.id);
    expect(data).toMatchObject({ status: 'completed', progress: 100, error: null });
    expect(before - (await creditsOf(second))).toBe(data.credits_used);
  });
});
