import { Check } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { FAMILIES } from '../../src/contract/families.ts';
import { Capabilities } from '../../src/contract/models.ts';
import { Profile } from '../../src/contract/account.ts';
import { VoiceAnswer, VoiceList } from '../../src/contract/voices.ts';
import { VOICES } from '../../src/service/voices/catalogue-voice.ts';
import { EngineRegistry } from '../../src/service/engine/speech-engine.ts';
import { jsonPost, OTHER_KEY, testService, voiceId } from './support/test-service.ts';

const VOICES_PATH = '/api/open/v3/voices';
const PROFILE = '/api/open/v1/profile';

describe('GET /api/open/v3/speech/tts/capabilities', () => {
  it('declares every model of the spec, and nothing that this service cannot do', async () => {
    const { call } = await testService();
    const body: unknown = await (await call('/api/open/v3/speech/tts/capabilities')).json();
    expect(Check(Capabilities, body)).toBe(true);
    const { models, route } = Object(body);
    expect(route).toBe('/api/open/v3/speech/tts');
    expect(models.map((model: { id: string }) => model.id)).toEqual(
      FAMILIES.flatMap((family) => family.models),
    );
    for (const model of models) {
      expect(model.supportedOperations).toEqual({
        synchronous: true,
        asynchronous: true,
        alignedStreaming: !['vendor-s1', 'altD-tts-2.0'].includes(model.id),
      });
    }
  });
});

describe('GET /api/open/v3/voices', () => {
  it('gives a page of voices, the default voice first', async () => {
    const { call } = await testService();
    const body: unknown = await (await call(VOICES_PATH)).json();
    expect(Check(VoiceList, body)).toBe(true);
    expect(body).toMatchObject({ total: VOICES.length, page: 1, pageSize: 20, totalPages: 1 });
    expect(Object(body).items[0]).toEqual({
      voiceId: voiceId('Clara'),
      name: 'Clara',
      isPersonal: false,
      primaryLanguage: 'en-US',
      languages: ['en-US'],
      modelIds: FAMILIES[0]?.models,
      description: 'adult woman; warm, clear; natural; American English',
    });
  });

  it('pages without gaps, overlaps or an end that fails', async () => {
    const { call } = await testService();
    const ids = [];
    for (let page = 1; page <= 5; page += 1) {
      const response = await call(`${VOICES_PATH}?page=${page}&pageSize=4&includePersonal=true`);
      const { items, totalPages } = Object(await response.json());
      expect(totalPages).toBe(4);
      ids.push(...items.map((item: { voiceId: string }) => item.voiceId));
    }
    expect(ids).toEqual(VOICES.map((voice) => voice.id));
  });

  it.each([
    ['page=0', 'page is 0; allowed: an integer, 1 or more'],
    ['page=1.5', 'page is "1.5"; allowed: an integer, 1 or more'],
    ['page=x', 'page is "x"; allowed: an integer, 1 or more'],
    ['page=', 'page has 0 characters; allowed: an integer, 1 or more'],
    ['page=1&page=2', 'page is given more than once'],
    ['pageSize=101', 'pageSize is 101; allowed: an integer from 1 to 100'],
    ['includePersonal=1', 'includePersonal is "1"; allowed: true or false'],
    ['search=x', '"search" is unknown; allowed: page, pageSize or includePersonal'],
    ['__proto__=1', '"__proto__" is unknown; allowed: page, pageSize or includePersonal'],
  ])('refuses ?%s', async (query, message) => {
    const { call } = await testService();
    const response = await call(`${VOICES_PATH}?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'ERR_INVALID_REQUEST', message });
  });

  it('leaves out voices that no engine speaks', async () => {
    const { call, engine } = await testService();
    const voices = engine.voices.filter(({ id }) => id !== 'clara');
    const engines = new EngineRegistry([{ ...engine, voices }]);
    const less = await testService({ engines });
    const { items } = Object(await (await less.call(VOICES_PATH)).json());
    expect(items[0].name).toBe('Martin');
    expect((await less.call(`${VOICES_PATH}/${voiceId('Clara')}`)).status).toBe(404);
    expect((await call(`${VOICES_PATH}/${voiceId('Clara')}`)).status).toBe(200);
  });
});

describe('GET /api/open/v3/voices/{voiceId}', () => {
  it('gives the item of the list with the request id', async () => {
    const { call } = await testService();
    const { items } = Object(await (await call(VOICES_PATH)).json());
    const one: unknown = await (await call(`${VOICES_PATH}/${items[3].voiceId}`)).json();
    expect(Check(VoiceAnswer, one)).toBe(true);
    expect(one).toEqual({ ...items[3], requestId: expect.any(String) });
  });

  it('answers HEAD without a body', async () => {
    const { call } = await testService();
    const response = await call(`${VOICES_PATH}/${voiceId('Clara')}`, { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });
});

describe('/api/open/v1/profile', () => {
  it('shows the account of the key', async () => {
    const { call } = await testService({ allowance: { credits: 70, quota: 90 } });
    const body: unknown = await (await call(PROFILE)).json();
    expect(Check(Profile, body)).toBe(true);
    expect(body).toEqual({
      user_id: 'first',
      api_quota_remaining: 90,
      tier: 'embedded',
      credits: 70,
    });
  });

  it('stores the webhook address, for this account alone', async () => {
    const { call } = await testService();
    const update = jsonPost({ webhookUrl: 'https://hook.example/in?x=1' });
    const updated: unknown = await (await call(PROFILE, update)).json();
    expect(updated).toMatchObject({ webhookUrl: 'https://hook.example/in?x=1' });
    expect(await (await call(PROFILE)).json()).toEqual(updated);
    const other = await call(PROFILE, { headers: { Authorization: `Bearer ${OTHER_KEY}` } });
    expect(await other.json()).not.toHaveProperty('webhookUrl');
    for (const webhookUrl of [null, '']) {
      await call(PROFILE, update);
      const cleared = await call(PROFILE, jsonPost({ webhookUrl }));
      expect(await cleared.json()).not.toHaveProperty('webhookUrl');
    }
  });

  it.each([
    [{}, 'webhookUrl is missing; it is required'],
    [{ webhookUrl: 'hook.example' }, 'webhookUrl '],
    [{ webhookUrl: 'https://user:pw@hook.example/' }, 'webhookUrl has a user name or password'],
    [{ webhookUrl: 'ftp://hook.example/' }, 'webhookUrl is not an http or https address'],
    [{ webhookUrl: 'javascript:alert(1)' }, 'webhookUrl is not an http or https address'],
    [{ webhookUrl: 'https://' }, 'webhookUrl '],
    [{ webhookUrl: `https://hook.example/${'x'.repeat(2_048)}` }, 'webhookUrl has 2069 characters'],
    [{ webhookUrl: 'https://hook.example/', tier: 'gold' }, '"tier" is unknown'],
  ])('refuses %j', async (body, message) => {
    const { call } = await testService();
    const response = await call(PROFILE, jsonPost(body));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ message: expect.stringContaining(message) });
  });

  it('is brought back to its allowance when less than half is left, at the next start', async () => {
    const allowance = { credits: 10, quota: 100 };
    const { store, speak, balance } = await testService({ allowance });
    const body = { text: 'Hello', voiceId: voiceId('Clara'), modelId: 'vendor-s21pro' };
    await (await speak(body)).arrayBuffer();
    expect(await (await testService({ store, allowance })).balance()).toEqual({
      credits: 5,
      quota: 95,
    });
    await (await speak({ ...body, text: 'Hi' })).arrayBuffer();
    expect(await balance()).toEqual({ credits: 3, quota: 93 });
    expect(await (await testService({ store, allowance })).balance()).toEqual(allowance);
  });
});
