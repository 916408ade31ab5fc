import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { createAudioFolder } from '../../src/service/speech/audio-files.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { systemRandom } from '../../src/system/random.ts';
import { systemClock } from '../../src/system/clock.ts';
import type { FileSystem } from '../../src/system/file-system.ts';
import { system } from '../../src/system/system.ts';
import type { RunTask } from '../../src/service/media/child/run-task.ts';
import { MediaTaskError } from '../../src/service/media/child/messages.ts';
import type { Store } from '../../src/service/store/open-store.ts';
import { readEvents } from '../harness/read-events.ts';
import { mediaSources } from './support/new-service.ts';
import { createTemporaryFolder } from '../../src/service/http/multipart-form.ts';
import { JOBS, jobService } from './jobs/job-service.ts';
import { jsonPost, temporaryFolder, testService, voiceId } from './support/test-service.ts';

const FULL = { code: 'ERR_STORAGE_FULL', details: { retryable: false } };

it('a database without room is 507, and nothing is charged', async () => {
  const { balance, events, speak, store } = await testService();
  store.read((db) => db.get('PRAGMA max_page_count = 1'));
  let charged = await balance();
  let response: Response;
  do {
    charged = await balance();
    response = await speak({ text: 'Hello.', voiceId: voiceId('Clara') });
    if (response.status === 200) await response.arrayBuffer();
  } while (response.status === 200);
  expect(response.status).toBe(507);
  expect(await response.json()).toMatchObject(FULL);
  store.read((db) => db.get('PRAGMA max_page_count = 100000'));
  await (await speak({ text: 'Hello.', voiceId: voiceId('Clara') })).arrayBuffer();
  // What the full disk kept in reserve is given back with the next write: only this request cost anything.
  expect(await balance()).toEqual({ credits: charged.credits - 3, quota: charged.quota - 6 });
  expect(events.filter(({ type }) => type === 'failure')).not.toEqual([]);
});

it('audio that cannot be stored is 507, and nothing is charged', async () => {
  const files: FileSystem = {
    ...systemFiles,
    open: () => Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' })),
  };
  const audio = createAudioFolder(`${await temporaryFolder()}/service.db`, { ...system, files });
  const { balance, call } = await testService({ audio });
  const before = await balance();
  const order = { text: 'Hello.', voiceId: voiceId('Clara'), cache: true };
  const response = await call('/api/open/v1/speech/tts', jsonPost(order));
  expect(response.status).toBe(507);
  expect(await response.json()).toMatchObject(FULL);
  expect(await balance()).toEqual(before);
});

it('speech that is cut because its end cannot be stored has a reason, and nothing is charged', async () => {
  const { store } = await testService();
  let isFull = false;
  const write: Store['write'] = (work) => {
    if (isFull) throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
    return store.write(work);
  };
  const { balance, call, speak } = await testService({ store: { ...store, write } });
  const before = await balance();
  const order = { text: 'Hello. Again.', voiceId: voiceId('Clara') };
  const response = await speak(order, { 'X-Request-Id': 'cut' });
  isFull = true;
  await expect(response.arrayBuffer()).rejects.toThrow();
  const why = async () => (await call('/api/open/requests/cut/error')).json();
  expect(await why()).toMatchObject({ code: 'ERR_STORAGE_FULL' });
  isFull = false;
  await (await speak(order)).arrayBuffer();
  const message = expect.stringContaining('The disk of the service is full');
  expect(await why()).toMatchObject({ code: 'ERR_GENERATION_FAILED', message });
  expect(before.quota - (await balance()).quota).toBe('Hello. Again.'.length);
});

it('an aligned stream whose end cannot be stored says so, and nothing is charged', async () => {
  const { store } = await testService();
  let isFull = false;
  const write: Store['write'] = (work) => {
    if (isFull) throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
    return store.write(work);
  };
  const { balance, call } = await testService({ store: { ...store, write } });
  const before = await balance();
  const order = jsonPost({ text: 'Hello. Again.', voiceId: voiceId('Clara') });
  const response = await call('/api/open/v3/speech/tts/aligned', order);
  isFull = true;
  const { last } = await readEvents(response);
  expect(last).toMatchObject({ name: 'error', data: { code: 'ERR_STORAGE_FULL' } });
  isFull = false;
  await (await call('/api/open/v3/speech/tts', order)).arrayBuffer();
  // What could not be stored is given back with the next write: only this request cost anything.
  expect(before.quota - (await balance()).quota).toBe('Hello. Again.'.length);
});

const run: RunTask = () => {
  const cause = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  return Promise.reject(new MediaTaskError('failed', 'no space left', cause));
};

it('an image that cannot be stored fails with the code, and is refunded', async () => {
  const clock = systemClock;
  const { store } = await testService();
  const media = { ...mediaSources({ clock, random: systemRandom, store }), run };
  const { balance, call } = await testService({ store, media });
  const before = await balance();
  const models = await call('/api/open/v1/media/models?mediaType=image');
  const { id: model } = Object(await models.json()).models[0];
  const order = jsonPost({ model, prompt: 'A red fox' }, { 'Idempotency-Key': 'k' });
  const created = await call('/api/open/v1/media/images/jobs', order);
  const job = async () => {
    const answer = await call(created.headers.get('Location') ?? '');
    return Object(await answer.json()).data;
  };
  await expect.poll(async () => (await job()).status).toBe('failed');
  expect(await job()).toMatchObject({ credits_used: 0, error: { code: 'ERR_STORAGE_FULL' } });
  expect(await balance()).toEqual(before);
});

it('a job that cannot be stored says so once, and continues when the disk has space again', async () => {
  const { store } = await testService();
  let isFull = false;
  const write: Store['write'] = (work) => {
    if (isFull) throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
    return store.write(work);
  };
  const service = await jobService({ store: { ...store, write } });
  const before = await service.balance();
  const release = service.directed.holdAt('Hello');
  const id = await service.create({ text: 'Hello. Again.' });
  await expect.poll(service.directed.held).toBe(1);
  isFull = true;
  release();
  const poll = async () => (await service.call(`${JOBS}/${id}`)).status;
  await expect.poll(poll, { interval: 5 }).toBe(507);
  // The next poll makes another attempt, and does not report the earlier failure again.
  expect(await poll()).toBe(200);
  await expect.poll(poll, { interval: 5 }).toBe(507);
  isFull = false;
  expect(await service.ended(id)).toMatchObject({ status: 'success' });
  expect((await service.balance()).credits).toBe(before.credits - 'Hello. Again.'.length);
});

it('an upload is copied whole, though the system writes a few bytes at a time', async () => {
  const files: FileSystem = {
    ...systemFiles,
    open: async (...args) => {
      const file = await systemFiles.open(...args);
      const { write, writev } = file;
      return Object.assign(file, {
        write: (bytes: Uint8Array, offset = 0, length = bytes.length, position?: number) =>
          write.call(file, bytes, offset, Math.min(length, 1_000), position),
        writev: ([first = new Uint8Array(0)]: readonly Uint8Array[]) =>
          writev.call(file, [first.subarray(0, 1_000)]),
      });
    },
  };
  const folder = createTemporaryFolder(`${await temporaryFolder()}/service.db`, {
    files,
    random: systemRandom,
  });
  const upload = await folder.create();
  const bytes = Uint8Array.from({ length: 200_000 }, (_, index) => index % 251);
  await upload.write(bytes);
  const copy = await folder.withCopy(upload, 'bin', async (path) => readFile(path));
  await upload.discard();
  expect(copy.equals(bytes)).toBe(true);
});
