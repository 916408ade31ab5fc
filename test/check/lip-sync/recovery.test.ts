import { expect, test } from 'vitest';
import { createSandbox } from '../../harness/sandbox.ts';
import type { MediaPath } from '../../binary/support/media-calls.ts';
import {
  DUBBING,
  LIP_SYNC,
  creditsOf,
  endOf,
  fetchResult,
  post,
  serveFixtures,
} from '../../binary/support/media-calls.ts';
import { firstVoiceId, startServe } from '../../binary/support/serve.ts';
import { readMedia } from './read-mp4.ts';

const FLAGS = ['--data-dir', 'data'];
const PATHS: readonly MediaPath[] = [LIP_SYNC, DUBBING];

test.each(PATHS)(
  'a job of %s that was accepted is done by the next process, and charged once',
  { timeout: 300_000 },
  async (path) => {
    const sandbox = await createSandbox();
    const files = await serveFixtures('h264.mp4', 'beeps.ogg');
    const first = await startServe(FLAGS, { sandbox, timeoutMs: 300_000 });
    const before = await creditsOf(first);
    const reference_id = await firstVoiceId(first);
    const speech = { text: 'It goes on where it was.', reference_id };
    const body = {
      video_url: `${files}/h264.mp4`,
      ...(path === LIP_SYNC ? { audio_url: `${files}/beeps.ogg` } : speech),
    };
    const { body: accepted, status } = await post(first, path, body);
    expect(status).toBe(202);
    first.running.signal('SIGKILL');
    await first.running.done;
    const second = await startServe(FLAGS, { sandbox, timeoutMs: 300_000 });
    const data = await endOf(second, path, accepted.data.id);
    expect(data).toMatchObject({ status: 'completed', progress: 100, error: null });
    const used = path === LIP_SYNC ? data.credits_used : data.credits_used.total;
    expect(before - (await creditsOf(second))).toBe(used);
    const { audio, video } = await readMedia((await fetchResult(data)).bytes);
    expect([audio?.codec, video?.codec]).toEqual(['aac', 'avc']);
  },
);
