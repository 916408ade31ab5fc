// Run with `node --test`: tests a speech feature against a service that is busy twice.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from 'foley/client';
import { startService } from 'foley/service';

const greet = async (client, name) => {
  const [{ voiceId }] = (await client.voices.list()).items;
  return client.speech.create({ text: `Good morning, ${name}.`, voiceId });
};

await test('greets although the service is busy twice', async (t) => {
  const service = await startService({ faults: ['POST /**; status=503; retry-after=0; times=2'] });
  t.after(() => service.close());
  assert.equal((await greet(createClient(service), 'Ada')).format, 'mp3');
  assert.equal(service.requests().filter(({ status }) => status === 503).length, 2);
});
