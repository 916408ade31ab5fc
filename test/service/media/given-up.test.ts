import { expect, test } from 'vitest';
import { MAX_ATTEMPTS } from '../../../src/service/jobs/lifecycle.ts';
import { writeMediaFile } from '../../../src/service/media/media-files.ts';
import { CREDITS, mediaJobsFixture } from './media-jobs.ts';

test('a job that is given up keeps nothing but what may be fetched', async () => {
  const before = await mediaJobsFixture();
  const { store } = before;
  const [id = ''] = before.accept('video_dubbing');
  await expect.poll(() => before.begun).toHaveLength(1);
  await before.put(id, 'video', 'speech.wav', 'draft-1-result.mp4');
  store.write((db) => {
    db.run('UPDATE job SET attempts = ?', [MAX_ATTEMPTS]);
    writeMediaFile(db, { id: 'speech', folder: id, name: 'speech.wav', contentType: 'audio/wav' });
  });
  const { begun, credits, filesOf, jobs, rowOf } = await mediaJobsFixture({
    store,
    others: 'dead',
  });
  jobs.start();
  await expect.poll(() => rowOf(id)?.['status']).toBe('failed');
  await expect.poll(() => filesOf(id)).toEqual(['speech.wav']);
  expect([begun, credits()]).toEqual([[], CREDITS]);
});

test('a job that was given back keeps what the next process needs', async () => {
  const { accept, begun, filesOf, jobs, put } = await mediaJobsFixture();
  const [id = ''] = accept('lip_sync');
  await expect.poll(() => begun).toHaveLength(1);
  await put(id, 'video', 'audio');
  await jobs.close(0, AbortSignal.abort());
  expect(await filesOf(id)).toEqual(['audio', 'video']);
});
