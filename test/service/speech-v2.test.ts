import { describe, expect, it } from 'vitest';
import { BASE_URL, jsonPost, testService, voiceId } from './support/test-service.ts';
import type { TestService } from './support/test-service.ts';

const PATH = '/api/open/v2/speech/tts';
const BODY = { text: 'Hello. Again.', voiceId: voiceId('Clara'), modelId: 'vendor-s21pro' };
const GRANT = 1_000_000;

async function speak(
  { call }: Pick<TestService, 'call'>,
  body: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return call(PATH, jsonPost({ ...BODY, format: 'wav', ...body }, headers));
}

async function codeOf(response: Response): Promise<unknown> {
  return Object(await response.json()).code;
}

describe('POST /api/open/v2/speech/tts', () => {
  it('answers with audio and what it cost', async () => {
    const service = await testService();
    const response = await speak(service, {}, { 'X-Request-Id': 'r-1' });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'audio/wav',
      'x-request-id': 'r-1',
      'x-openapi-credits-used': '13',
      'x-openapi-quota-remaining': String(GRANT - 13),
    });
    expect(Buffer.from(await response.arrayBuffer()).toString('latin1', 0, 4)).toBe('RIFF');
  });

  it('makes each format, mp3 without one, and no pcm', async () => {
    const service = await testService();
    const types = [];
    for (const format of ['mp3', 'wav', 'ogg', undefined]) {
      const response = await speak(service, { format });
      await response.arrayBuffer();
      types.push(response.headers.get('Content-Type'));
    }
    expect(types).toEqual(['audio/mpeg', 'audio/wav', 'audio/ogg', 'audio/mpeg']);
    expect((await speak(service, { format: 'pcm' })).status).toBe(400);
  });

  it('gives the controls to the engine and says nothing of those it ignores', async () => {
    const service = await testService();
    const controls = { speed: 1.5, volume: 3, pitch: 4, stability: 0.9, emotion: 'happy' };
    const response = await speak(service, controls);
    expect(response.headers.has('X-OpenAPI-Ignored-Parameters')).toBe(false);
    await response.arrayBuffer();
    expect(service.engine.requests.at(-1)).toMatchObject({ speed: 1.5, pitch: 0 });
  });

  it('leaves kaomoji out when that is asked for, and takes JSON true alone for it', async () => {
    const service = await testService();
    const response = await speak(service, { text: 'Hi (◕‿◕) you', filterEmoji: true });
    expect(response.headers.get('X-OpenAPI-Credits-Used')).toBe('6');
    await response.arrayBuffer();
    expect(service.engine.requests.at(-1)?.text).toBe('Hi you');
    expect((await speak(service, { filterEmoji: 'false' })).status).toBe(400);
    expect((await speak(service, { text: '(◕‿◕)', filterEmoji: true })).status).toBe(400);
  });

  it.each([
    [{ text: '' }, 'text'],
    [{ text: 5 }, 'text'],
    [{ text: 'x'.repeat(10_001) }, 'text'],
    [{ voiceId: '' }, 'voiceId'],
    [{ speed: 0.4 }, 'speed'],
    [{ speed: '1' }, 'speed'],
    [{ volume: 21 }, 'volume'],
    [{ pitch: 13 }, 'pitch'],
    [{ stability: 1.6 }, 'stability'],
    [{ stability: 0.4 }, 'stability'],
    [{ instruction: 'x'.repeat(1_601) }, 'instruction'],
    [{ textNormalization: 'yes' }, 'textNormalization'],
    [{ modelId: 'altF-flash-v2.5' }, 'modelId'],
  ])('refuses %j and charges nothing', async (body, field) => {
    const service = await testService();
    const response = await speak(service, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'ERR_INVALID_REQUEST',
      details: { errors: [{ field }] },
    });
    expect((await service.balance()).credits).toBe(GRANT);
  });

  it('does not know an unknown voice: 404', async () => {
    const service = await testService();
    const response = await speak(service, { voiceId: 'nobody' });
    expect([response.status, await codeOf(response)]).toEqual([404, 'ERR_VOICE_NOT_FOUND']);
  });

  it('refuses a model that is not available: 503', async () => {
    const service = await testService({ unavailableModels: ['vendor-s21pro'] });
    const response = await speak(service, {});
    expect([response.status, await codeOf(response)]).toEqual([503, 'ERR_MODEL_UNAVAILABLE']);
  });
});

describe('the historical fields of v2', () => {
  it('are accepted with any value, and so are unknown fields', async () => {
    const service = await testService();
    const historical = { version: 'v1', qwenModel: { a: 1 }, minimaxEmotion: 7, providerKey: 'x' };
    for (const engineModelId of [undefined, '', 7]) {
      const response = await speak(service, { ...historical, modelId: undefined, engineModelId });
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    }
  });

  it('refuse a name of no model, as modelId does, unless modelId counts', async () => {
    const service = await testService();
    const response = await speak(service, { modelId: undefined, engineModelId: 'nope' });
    expect(response.status).toBe(400);
    const message = expect.stringMatching(/^engineModelId "nope" is unknown; allowed: vendor-/);
    expect(await response.json()).toMatchObject({
      details: { errors: [{ field: 'engineModelId', message }] },
    });
    const own = await speak(service, { engineModelId: 'nope' });
    expect(own.status).toBe(200);
    await own.arrayBuffer();
  });

  it('choose the model and the emotion where the fields of today do not', async () => {
    const service = await testService();
    const nora = { voiceId: voiceId('Nora'), modelId: undefined };
    const hd = await speak(service, { ...nora, engineModelId: 'altA-2.8-hd' });
    expect(hd.headers.get('X-OpenAPI-Credits-Used')).toBe('17');
    await hd.arrayBuffer();
    const plain = service.engine.requests.at(-1);
    const own = await speak(service, {
      ...nora,
      modelId: 'altA-2.8-turbo',
      engineModelId: 'altA-2.8-hd',
    });
    expect(own.headers.get('X-OpenAPI-Credits-Used')).toBe('10');
    await own.arrayBuffer();
    await (await speak(service, { ...nora, minimaxEmotion: 'sad' })).arrayBuffer();
    expect(service.engine.requests.at(-1)?.speed).toBeLessThan(plain?.speed ?? 0);
    await (
      await speak(service, { ...nora, emotion: 'neutral', minimaxEmotion: 'sad' })
    ).arrayBuffer();
    expect(service.engine.requests.at(-1)?.speed).toBe(plain?.speed);
  });

  it('do not authenticate: a token in the body is no key', async () => {
    const { service } = await testService();
    const init = jsonPost({ ...BODY, token: 'test-key' });
    const response = await service.fetch(new Request(BASE_URL + PATH, init));
    expect([response.status, await codeOf(response)]).toEqual([401, 'ERR_UNAUTHORIZED']);
  });
});

describe('the request id of v2', () => {
  it('is the key: a repetition is neither spoken nor charged again', async () => {
    const service = await testService();
    await (await speak(service, {}, { 'X-Request-Id': 'r' })).arrayBuffer();
    const again = await speak(service, {}, { 'X-Request-Id': 'r' });
    expect([again.status, await codeOf(again)]).toEqual([409, 'ERR_REQUEST_ALREADY_COMPLETED']);
    const other = await speak(service, { speed: 2 }, { 'X-Request-Id': 'r' });
    expect([other.status, await codeOf(other)]).toEqual([409, 'ERR_REQUEST_ID_CONFLICT']);
    expect((await service.balance()).credits).toBe(GRANT - 13);
  });

  it('in progress gives 409, and after a failure says that it was refunded', async () => {
    const service = await testService();
    const release = service.engine.holdBefore(1);
    const first = await speak(service, {}, { 'X-Request-Id': 'r' });
    const second = await speak(service, {}, { 'X-Request-Id': 'r' });
    expect(await codeOf(second)).toBe('ERR_REQUEST_IN_PROGRESS');
    release();
    await first.arrayBuffer();
    service.engine.failBefore(0);
    expect((await speak(service, {}, { 'X-Request-Id': 's' })).status).toBe(500);
    const again = await speak(service, {}, { 'X-Request-Id': 's' });
    expect(await codeOf(again)).toBe('ERR_REQUEST_PREVIOUSLY_REFUNDED');
    expect((await service.balance()).credits).toBe(GRANT - 13);
  });

  it('gives way to an Idempotency-Key', async () => {
    const service = await testService();
    const headers = { 'X-Request-Id': 'same', 'Idempotency-Key': 'k-1' };
    await (await speak(service, {}, headers)).arrayBuffer();
    const next = await speak(service, {}, { ...headers, 'Idempotency-Key': 'k-2' });
    expect(next.status).toBe(200);
    await next.arrayBuffer();
    const again = await speak(service, {}, { 'X-Request-Id': 'new', 'Idempotency-Key': 'k-1' });
    expect(await codeOf(again)).toBe('ERR_REQUEST_ALREADY_COMPLETED');
  });

  it('is the same with another token or unknown fields', async () => {
    const service = await testService();
    await (await speak(service, { token: 'one' }, { 'X-Request-Id': 'r' })).arrayBuffer();
    const again = await speak(service, { token: 'two', extra: 1 }, { 'X-Request-Id': 'r' });
    expect(await codeOf(again)).toBe('ERR_REQUEST_ALREADY_COMPLETED');
  });

  it.each(['two words', 'k'.repeat(129)])('may not be %j', async (id) => {
    const service = await testService();
    const response = await speak(service, {}, { 'X-Request-Id': id });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      message: expect.stringMatching(/^X-Request-Id .*; allowed: 1 to 128 visible ASCII/),
    });
  });

  it('may be missing: then each request is its own', async () => {
    const service = await testService();
    for (const _ of [1, 2]) await (await speak(service, {})).arrayBuffer();
    expect((await service.balance()).credits).toBe(GRANT - 26);
  });
});
