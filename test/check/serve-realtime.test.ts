import { expect, test, vi } from 'vitest';
import { PROFILE_PATH } from '../fault-server/healthy-service.ts';
import { createSandbox } from '../harness/sandbox.ts';
import type { RawRealtimeClient } from '../realtime/raw-client.ts';
import { connectRealtime } from '../realtime/raw-client.ts';
import type { ServingFoley } from '../binary/support/serve.ts';
import { firstVoiceId, startServe } from '../binary/support/serve.ts';
import { longText } from '../binary/support/sound.ts';

vi.setConfig({ testTimeout: 120_000 });

const KEYS = ['--credits', '100000'];

async function begin(
  service: ServingFoley,
  more: Readonly<Record<string, unknown>> = {},
): Promise<RawRealtimeClient> {
  const { baseUrl, apiKey: key } = service;
  const client = await connectRealtime({ version: 'v3', baseUrl, key, timeoutMs: 60_000 });
  await client.expect('authenticated');
  const request = { voiceId: await firstVoiceId(service), modelId: 'vendor-s21pro', format: 'wav' };
  client.send({ event: 'start', mode: 'reliable', requestId: 'r', request, ...more });
  return client;
}

function say(client: RawRealtimeClient, number: number, text: string): void {
  client.send({ event: 'text', sequence: number, text });
  client.send({ event: 'flush', segmentId: `s${number}` });
}

async function creditsOf({ ask }: ServingFoley): Promise<number> {
  return Number(Object(JSON.parse((await ask(PROFILE_PATH)).bytes.toString())).credits);
}

async function statusOf({ ask }: ServingFoley): Promise<unknown> {
  return JSON.parse((await ask('/v3/tts/requests/r')).bytes.toString());
}

test('a foley serve that is killed while it speaks gives everything back at its next start, and speaks it then for one charge', async () => {
  const sandbox = await createSandbox();
  const first = await startServe([], { sandbox });
  const before = await creditsOf(first);
  const text = longText(40).slice(0, 1_900);
  const client = await begin(first);
  await client.expect('ready');
  say(client, 1, 'Whole.');
  const whole = (await client.until('segment_completed')).at(-1);
  say(client, 2, text);
  await client.until('audio');
  first.running.signal('SIGKILL');
  await first.running.done;
  expect(await client.ended()).toEqual({ kind: 'dropped' });

  const second = await startServe([], { sandbox });
  expect(await creditsOf(second)).toBe(before - 'Whole.'.length);
  expect(await statusOf(second)).toMatchObject({ state: 'failed_retryable', units: 6 });
  const again = await begin(second, { retryFailed: true });
  await again.expect('ready');
  say(again, 2, text);
  again.send({ event: 'stop' });
  const messages = await again.until('finish');
  expect(messages.at(-1)).toMatchObject({ reason: 'completed' });
  const heard = client.audio.subarray(Number(whole?.['audioBytes']));
  expect(heard.length).toBeGreaterThan(0);
  expect(again.audio.subarray(0, heard.length).equals(heard)).toBe(true);
  expect(await creditsOf(second)).toBe(before - 'Whole.'.length - Array.from(text).length);
});

test('a foley serve that is stopped finishes what it accepted, and says that it restarts', async () => {
  const service = await startServe(['--verbose', ...KEYS]);
  const client = await begin(service);
  await client.expect('ready');
  say(client, 1, 'The last words.');
  await client.until('segment_accepted');
  service.running.signal('SIGTERM');
  const messages = await client.until('finish');
  expect(messages.map(({ event }) => event)).toContain('segment_completed');
  expect(messages.at(-1)).toMatchObject({ reason: 'server_draining' });
  expect(await client.ended()).toMatchObject({ kind: 'closed', code: 1012 });
  const { stderr } = await service.running.done;
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => Object(JSON.parse(line)));
  expect(lines).toContainEqual(
    expect.objectContaining({ event: 'request', path: '/v3/tts/live', status: 101 }),
  );
});

test('a fault rule breaks a conversation in its audio, once, and it can be gone on with', async () => {
  const service = await startServe([
    ...KEYS,
    '--fault',
    'GET /v3/tts/live; reset-after=20000; times=1',
  ]);
  const client = await begin(service);
  await client.expect('ready');
  const text = longText(10);
  say(client, 1, text);
  expect(await client.ended()).toEqual({ kind: 'dropped' });
  expect(client.audio.length).toBeGreaterThan(0);
  await expect.poll(async () => Object(await statusOf(service)).state).toBe('failed_retryable');
  const again = await begin(service, { retryFailed: true });
  await again.expect('ready');
  say(again, 1, text);
  again.send({ event: 'stop' });
  await again.until('finish');
  expect(again.audio.subarray(0, client.audio.length).equals(client.audio)).toBe(true);
  expect(await creditsOf(service)).toBe(100_000 - text.length);
});

test('frames that lie and connections that pile up leave a foley serve that answers, in bounded memory', async () => {
  const service = await startServe(KEYS);
  const { baseUrl, apiKey: key, running } = service;
  const before = running.peakMemoryBytes();
  for (let round = 0; round < 3; round += 1) {
    const client = await connectRealtime({ version: 'v3', baseUrl, key });
    await client.expect('authenticated');
    await client.sendGiant(100 * 1024 * 1024);
    await client.ended();
    const other = await connectRealtime({ version: 'v3', baseUrl, key });
    await other.sendEmptyFragments(20_000);
    await other.ended();
  }
  expect((await service.ask('/healthz')).status).toBe(200);
  expect(running.peakMemoryBytes() - before).toBeLessThan(150 * 1024 * 1024);
});
