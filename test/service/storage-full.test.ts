import { expect, it } from 'vitest';
import { createAudioFolder } from '../../src/service/speech/audio-files.ts';
import { systemFiles } from '../../src/effects/file-system.ts';
import { systemRandom } from '../../src/effects/random.ts';
import { systemClock } from '../../src/effects/clock.ts';
import type { FileSystem } from '../../src/effects/file-system.ts';
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
  const effects = { clock: systemClock, random: systemRandom, platform: process.platform, files };
  const audio = createAudioFolder(`${await temporaryFolder()}/service.db`, effects);
  const { balance, call } = await testService({ audio });
  const before = await balance();
  const order = { text: 'Hello.', voiceId: voiceId('Clara'), cache: true };
  const response = await call('/api/open/v1/speech/tts', jsonPost(order));
  expect(response.status).toBe(507);
  expect(await response.json()).toMatchObject(FULL);
  expect(await balance()).toEqual(before);
});
