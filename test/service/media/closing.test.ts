import { expect, test } from 'vitest';
import type { StoredMediaKind } from '../../../src/service/jobs/job-records.ts';
import { CREDITS, mediaJobsFixture, PRICE } from './media-jobs.ts';

const KINDS: readonly StoredMediaKind[] = ['lip_sync', 'image', 'video'];

test.each(KINDS)('a %s that comes while the service closes is refused: 503', async (kind) => {
  const { credits, jobs, request, rowOf } = await mediaJobsFixture();
  const closed = jobs.close(60_000);
  const late = request(kind);
  expect(() => jobs.accept(late)).toThrow(
    expect.objectContaining({ code: 'ERR_SERVICE_UNAVAILABLE', message: 'The service is closing' }),
  );
  await closed;
  expect([rowOf(late.id), credits()]).toEqual([undefined, CREDITS]);
});

test('a lip sync whose speech was still spoken then is left to the next process', async () => {
  const first = await mediaJobsFixture();
  const { events, jobs, request, rowOf, store } = first;
  await jobs.close(60_000);
  const late = request('video_dubbing');
  const accepted = store.write((db) => jobs.acceptWithin(db, late));
  if (!('job' in accepted)) throw new Error(`the job is in ${accepted.kind}`);
  jobs.enqueue(accepted.job);
  expect(rowOf(late.id)).toMatchObject({ status: 'pending', owner_id: null });
  expect(events).toEqual([{ type: 'jobs-left', count: 1 }]);
  const next = await mediaJobsFixture({ store });
  next.jobs.start();
  await expect.poll(() => next.begun).toEqual(['align-sound']);
  next.endAll();
  await expect.poll(() => rowOf(late.id)?.['status']).toBe('done');
  expect([first.begun, next.credits()]).toEqual([[], CREDITS - PRICE]);
});
