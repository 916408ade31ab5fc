import { describe, expect, test } from 'vitest';
import { VERSIONS } from '../../realtime/messages.ts';
import type { RawRealtimeClient } from '../../realtime/raw-client.ts';
import { plainRequest, realtimeService } from './realtime-service.ts';

async function connected(version: 'v2' | 'v3') {
  const service = await realtimeService();
  const client = await service.connect(version);
  await client.expect('authenticated');
  return { client, voiceId: plainRequest(version).voiceId };
}

async function errorOf(client: RawRealtimeClient): Promise<Readonly<Record<string, unknown>>> {
  return (await client.until('error')).at(-1) ?? {};
}

describe('v2 has names of its own', () => {
  test.each([
    ['voiceId', { voiceId: 'no-voice' }],
    ['modelId', { modelId: 'no-model' }],
    ['model_id', { model_id: 'no-model' }],
    ['chunkLength', { chunkLength: 60 }],
    [':voice_id', { ':voice_id': 'no-voice' }],
  ])(
    'the legacy profile refuses %s, and takes it for no field of its own',
    async (name, foreign) => {
      const { client, voiceId } = await connected('v2');
      const request = { voice_id: voiceId, model: 'vendor-s21pro', ...foreign };
      client.sendExactly({ event: 'start', event_id: 'a', request });
      const { code, message, path } = await errorOf(client);
      expect([code, path]).toEqual(['unsupported_parameter', `request.${name}`]);
      expect(message).toContain(name);
    },
  );

  test('product_v1 leaves it out with a warning', async () => {
    const { client, voiceId } = await connected('v2');
    const request = { voice_id: voiceId, model: 'vendor-s21pro', parameter_profile: 'product_v1' };
    client.sendExactly({ event: 'start', event_id: 'a', request: { ...request, voiceId: 'x' } });
    await client.expect('ready', { voiceId });
    const warning = await client.expect('warning', { path: 'request.voiceId' });
    expect(warning['message']).toContain('voiceId');
  });

  test('the legacy profile accepts generic controls that the model ignores, with a warning each', async () => {
    const { client, voiceId } = await connected('v2');
    const controls = { stability: 0.8, similarity: 1 };
    const request = { voice_id: voiceId, model: 'vendor-s21pro', ...controls };
    client.sendExactly({ event: 'start', event_id: 'a', request });
    await client.expect('ready');
    for (const name of Object.keys(controls)) {
      await client.expect('warning', { code: 'unsupported_parameter', path: `request.${name}` });
    }
  });

  test('product_v1 warns once about a control that is out of range and ignored', async () => {
    const { client } = await connected('v2');
    const request = plainRequest('v2', { speed: 3, stability: 9 });
    client.send({ event: 'start', request });
    const { effectiveRequest } = await client.expect('ready');
    expect(effectiveRequest).toMatchObject({ speed: 2 });
    expect(effectiveRequest).not.toHaveProperty('stability');
    await client.expect('warning', { code: 'clamped', path: 'request.speed' });
    await client.expect('warning', { code: 'unsupported_parameter', path: 'request.stability' });
    client.send({ event: 'ping' });
    expect((await client.next('pong')).event).toBe('pong');
  });

  test('and nothing of v3 stands for what is missing', async () => {
    const { client, voiceId } = await connected('v2');
    const request = { voiceId, modelId: 'vendor-s21pro' };
    client.sendExactly({ event: 'start', event_id: 'a', request });
    expect(await errorOf(client)).toMatchObject({
      code: 'invalid_message',
      path: 'request.voice_id',
      message: expect.stringMatching(/^request\.voice_id is missing/),
    });
  });
});

describe.each(VERSIONS)('a mistake on %s', (version) => {
  test('a map without an event is an invalid message, and can be corrected', async () => {
    const { client } = await connected(version);
    for (const frame of [{}, { event: 3 }, { text: 'Hello.' }]) {
      client.sendExactly(frame);
      expect(await errorOf(client)).toMatchObject({
        code: 'invalid_message',
        path: 'event',
        terminal: false,
      });
    }
    client.send({ event: 'start', request: plainRequest(version) });
    await client.expect('ready');
  });

  test.each([[[10_001]], [[5_000, 5_001]], [[10_000, 1]]])(
    'too much text in pieces of %j has one code',
    async (sizes) => {
      const { client } = await connected(version);
      client.send({ event: 'start', request: plainRequest(version) });
      await client.expect('ready');
      for (const size of sizes) {
        client.send({ event: 'input', text: 'a'.repeat(size), commit: false });
      }
      expect(await errorOf(client)).toMatchObject({ code: 'segment_too_large', path: 'text' });
    },
  );

  test('a segment id that was used leaves alive what was accepted', async () => {
    const { client } = await connected(version);
    const request = plainRequest(version);
    client.send({ event: 'start', mode: 'reliable', requestId: 'r', request });
    await client.expect('ready');
    const texts = ['The first one is here. And it is not short.', 'The second one.', 'A third.'];
    for (const [index, text] of texts.entries()) {
      client.send({ event: 'text', sequence: index + 1, text });
      client.send({ event: 'flush', segmentId: `s${Math.min(index + 1, 2)}` });
    }
    expect(await errorOf(client)).toMatchObject({
      code: 'idempotency_conflict',
      terminal: false,
    });
    client.send({ event: 'flush', segmentId: 's3' });
    client.send({ event: 'stop' });
    const messages = await client.until('finish');
    const completed = client.messages.filter(({ event }) => event === 'segment_completed');
    expect(completed.map(({ segmentId }) => segmentId)).toEqual(['s1', 's2', 's3']);
    expect(messages.at(-1)).toMatchObject({ reason: 'completed', units: texts.join('').length });
  });

  test('what is used is shown, also where nothing was asked for or nothing came of it', async () => {
    const { client } = await connected(version);
    const more = { textNormalization: false, speed: 1.2 };
    client.send({ event: 'start', request: plainRequest(version, more) });
    const { effectiveRequest } = await client.expect('ready');
    expect(effectiveRequest).toMatchObject({
      speed: 1.2,
      volume: 0,
      textNormalization: false,
      format: 'mp3',
    });
  });
});
