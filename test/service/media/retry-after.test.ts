import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { systemFiles } from '../../../src/system/file-system.ts';
import { systemRandom } from '../../../src/system/random.ts';
import type { RunTask } from '../../../src/service/media/child/run-task.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { manualClock } from '../../api/manual-clock.ts';
import { mediaSources } from '../support/new-service.ts';
import { jsonPost, temporaryFolder, testService } from '../support/test-service.ts';

const IMAGES = '/api/open/v1/media/images/jobs';
const VIDEOS = '/api/open/v1/media/videos/jobs';
const PROMPT = { prompt: 'A red fox' };
const SMALL = { ...PROMPT, model: 'vendor-video-1-flash', size: '640x640', seconds: 8 };
const LARGE = { ...PROMPT, model: 'altG-video-2', size: '1920x1080', seconds: 12 };
const KEYED = { 'Idempotency-Key': 'order-1' };

/** A service whose media children are held until `fail` is called. */
async function heldService() {
  const clock = manualClock();
  const store = await openStore({ dataDir: await temporaryFolder(), clock, files: systemFiles });
  const held = new AbortController();
  const run: RunTask = async (_task, _order, { signal }) => {
    const ended = AbortSignal.any([signal, held.signal]);
    if (!ended.aborted) await once(ended, 'abort');
    throw new Error('held');
  };
  const media = { ...mediaSources({ clock, random: systemRandom, store }), run };
  const service = await testService({ clock, store, media });
  return { ...service, clock, fail: () => held.abort() };
}

async function imageModel({ call }: Awaited<ReturnType<typeof heldService>>): Promise<string> {
  const answer = await call('/api/open/v1/media/models?mediaType=image');
  return Object(await answer.json()).models[0].id;
}

const retryAfter = (response: Response): string | null => response.headers.get('Retry-After');

describe('Retry-After of an image or a video', () => {
  test.each([
    ['a short video', VIDEOS, SMALL, '2'],
    ['a long video', VIDEOS, LARGE, '12'],
    ['an image', IMAGES, PROMPT, '0'],
  ])('is the expected time of %s', async (_what, path, body, seconds) => {
    const service = await heldService();
    const model = await imageModel(service);
    const created = await service.call(path, jsonPost({ model, ...body }, KEYED));
    expect([created.status, retryAfter(created)]).toEqual([202, seconds]);
    const asked = await service.call(created.headers.get('Location') ?? '');
    expect(retryAfter(asked)).toBe(seconds);
    await service.service.close(AbortSignal.abort());
  });

  test('grows while the job waits, also for the same create, and ends with the job', async () => {
    const service = await heldService();
    const create = () => service.call(VIDEOS, jsonPost(SMALL, KEYED));
    const job = (await create()).headers.get('Location') ?? '';
    service.clock.advance(250_000);
    expect(retryAfter(await service.call(job))).toBe('5');
    expect(retryAfter(await create())).toBe('5');
    service.fail();
    const status = async () => Object(await (await service.call(job)).json()).data.status;
    await expect.poll(status).toBe('failed');
    expect(retryAfter(await service.call(job))).toBeNull();
    expect(retryAfter(await create())).toBeNull();
  });
});
