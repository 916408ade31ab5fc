import { describe, expect, test } from 'vitest';
import { mediaJobsFixture } from './media-jobs.ts';

const KINDS = [
  'video',
  'video',
  'lip_sync',
  'video_dubbing',
  'lip_sync',
  'image',
  'image',
] as const;
/** What is worked on at once of all these. */
const AT_ONCE = ['align-sound', 'align-sound', 'image', 'video'];

describe('a video that takes long', () => {
  test('keeps other videos waiting, and neither images nor lip syncs', async () => {
    const { accept, begun, rowOf } = await mediaJobsFixture();
    const ids = accept(...KINDS);
    await expect.poll(() => [...begun].sort()).toEqual(AT_ONCE);
    expect(ids.map((id) => rowOf(id)?.['status'])).toEqual([
      'processing',
      'pending',
      'processing',
      'processing',
      'pending',
      'processing',
      'pending',
    ]);
  });

  test('does so too when a process that died had left it', async () => {
    const { accept, store } = await mediaJobsFixture();
    accept(...KINDS);
    const { begun, jobs } = await mediaJobsFixture({ store, others: 'dead' });
    jobs.start();
    await expect.poll(() => [...begun].sort()).toEqual(AT_ONCE);
  });

  test('and one that is asked for lets it by as well', async () => {
    const { accept, begun, jobs } = await mediaJobsFixture();
    const [, , image = ''] = accept('video', 'video', 'image');
    jobs.find('first', 'image', image);
    await expect.poll(() => [...begun].sort()).toEqual(['image', 'video']);
  });
});

describe('media jobs of every kind that are under way at closing', () => {
  test('are counted and finished, also those that still wait', async () => {
    const { accept, begun, endAll, events, jobs, rowOf } = await mediaJobsFixture();
    const ids = accept(...KINDS);
    await expect.poll(() => begun.length).toBe(AT_ONCE.length);
    const closed = jobs.close(60_000);
    expect(events).toEqual([{ type: 'finishing-jobs', count: KINDS.length }]);
    endAll();
    await expect.poll(() => begun.length).toBe(KINDS.length);
    endAll();
    await closed;
    expect(ids.map((id) => rowOf(id)?.['status'])).toEqual(ids.map(() => 'done'));
    expect(events).toHaveLength(1);
  });

  test.each(['a hurry', 'the end of its time'])('are all given back by %s', async (reason) => {
    const { accept, begun, clock, events, jobs, rowOf } = await mediaJobsFixture();
    const ids = accept(...KINDS);
    await expect.poll(() => begun.length).toBe(AT_ONCE.length);
    const hurry = new AbortController();
    const closed = jobs.close(60_000, hurry.signal);
    if (reason === 'a hurry') hurry.abort();
    else clock.advance(60_000);
    await closed;
    const given = { status: 'pending', owner_id: null, attempts: 0 };
    expect(ids.map((id) => rowOf(id))).toMatchObject(ids.map(() => given));
    expect(events.at(-1)).toEqual({ type: 'jobs-left', count: KINDS.length });
    expect(begun).toHaveLength(AT_ONCE.length);
    expect(clock.running()).not.toContain(60_000);
  });
});
