import { describe, expect, it } from 'vitest';
import { VOICES } from '../../src/service/voices/catalogue-voice.ts';
import { jsonPost, testService, voiceId } from './support/test-service.ts';
import type { TestService } from './support/test-service.ts';

const GRANT = 1_000_000;
const TTS = { text: 'Hello. Again.', reference_id: voiceId('Clara') };
const SPEECH = { model: 'vendor-s21pro', input: 'Hello. Again.', voice: voiceId('Clara') };

type Post = (body: object, headers?: Record<string, string>) => Promise<Response>;

function postTts({ call }: Pick<TestService, 'call'>): Post {
  return (body, headers) => call('/v1/tts', jsonPost({ ...TTS, ...body }, headers));
}

function postSpeech({ call }: Pick<TestService, 'call'>): Post {
  return (body, headers) => call('/v1/audio/speech', jsonPost({ ...SPEECH, ...body }, headers));
}

async function creditsOf(response: Response): Promise<string | null> {
  expect(response.status).toBe(200);
  await response.arrayBuffer();
  return response.headers.get('X-OpenAPI-Credits-Used');
}

describe('POST /v1/tts', () => {
  it('answers with mp3 and what it cost', async () => {
    const service = await testService();
    const response = await postTts(service)({});
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'audio/mpeg',
      'x-openapi-credits-used': '7',
      'x-openapi-quota-remaining': String(GRANT - 13),
    });
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
  });

  it.each([
    ['mp3', 'audio/mpeg'],
    ['wav', 'audio/wav'],
    ['pcm', 'audio/pcm;rate=24000;channels=1'],
    ['opus', 'audio/mpeg'],
    ['ogg', 'audio/mpeg'],
    ['', 'audio/mpeg'],
  ])('of format %j is %s', async (format, type) => {
    const service = await testService();
    const response = await postTts(service)({ format });
    expect(response.headers.get('Content-Type')).toBe(type);
    await response.arrayBuffer();
  });

  it('falls back to mp3 for a format that the model does not make', async () => {
    const service = await testService();
    const greta = { reference_id: voiceId('Greta') };
    const wav = await postTts(service)({ ...greta, format: 'wav' });
    expect(wav.headers.get('Content-Type')).toBe('audio/mpeg');
    await wav.arrayBuffer();
    const pcm = await postTts(service)({ ...greta, format: 'pcm' });
    expect(pcm.headers.get('Content-Type')).toMatch(/^audio\/pcm/);
    await pcm.arrayBuffer();
  });

  it.each([
    ['s2.1-pro', '13'],
    ['s2.1-pro-free', '0'],
    ['s2.1-flash', '7'],
    ['s2.1-pro-flash', '7'],
    ['s2-pro', '13'],
    ['s1', '13'],
    ['s1-mini', '13'],
    ['speech-1.5', '13'],
    ['speech-1.6', '13'],
    ['1.6', '13'],
    ['vendor-s2pro', '13'],
    ['unheard-of', '7'],
    ['', '7'],
  ])('with the header model: %s costs %s credits', async (model, credits) => {
    const service = await testService();
    expect(await creditsOf(await postTts(service)({}, { model }))).toBe(credits);
  });

  it('gives the label to the model that the table names', async () => {
    const labels = {
      's2.1-pro': 'vendor-s21pro',
      's2.1-flash': 'vendor-s21-flash',
      s1: 'vendor-s1',
    };
    for (const [model, id] of Object.entries(labels)) {
      const service = await testService({ unavailableModels: [id] });
      const response = await postTts(service)({}, { model });
      expect(await response.json()).toMatchObject({ message: expect.stringContaining(id) });
    }
  });

  it('refuses a model that the voice does not have', async () => {
    const service = await testService();
    const response = await postTts(service)({}, { model: 'altF-flash-v2.5' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ details: { errors: [{ field: 'model' }] } });
  });

  it('speaks at prosody.speed, else at speed', async () => {
    const service = await testService();
    const post = postTts(service);
    const speeds = [];
    for (const body of [{ prosody: { speed: 1.5, volume: 3 }, speed: 2 }, { speed: 0.5 }, {}]) {
      await (await post(body)).arrayBuffer();
      speeds.push(service.engine.requests.at(-1)?.speed);
    }
    expect(speeds).toEqual([1.5, 0.5, 1]);
  });

  it('accepts unused fields, nulls and unknown fields', async () => {
    const service = await testService();
    const unused = { chunk_length: 'x', latency: { a: 1 }, mp3_bitrate: 128, references: [] };
    const nulls = { format: null, prosody: null, temperature: null, normalize: null };
    const inner = { prosody: { speed: null, volume: null } };
    const controls = { temperature: 0.9, top_p: 0.7, normalize: false };
    for (const body of [unused, nulls, inner, controls]) {
      const response = await postTts(service)(body);
      expect(response.status).toBe(200);
      expect(response.headers.has('X-OpenAPI-Ignored-Parameters')).toBe(false);
      await response.arrayBuffer();
    }
  });

  it.each([
    [{ reference_id: undefined }, 'reference_id', 'reference_id is missing; it is required'],
    [{ reference_id: 'unknown' }, 'reference_id', 'reference_id "unknown" is unknown'],
    [{ text: undefined }, 'text', 'text is missing; it is required'],
    [{ text: ' ' }, 'text', 'text has only white space'],
    [{ text: '...' }, 'text', 'text contains nothing that this voice can speak'],
    [{ prosody: { speed: 3 } }, 'prosody.speed', 'prosody.speed is 3; allowed: 0.5 to 2'],
    [{ prosody: 'fast' }, 'prosody', 'prosody is "fast"; allowed: an object'],
    [{ speed: 0.1 }, 'speed', 'speed is 0.1; allowed: 0.5 to 2'],
    [{ temperature: 0.4 }, 'temperature', /^temperature is 0.4; vendor-s21pro-flash allows 0.5/],
    [{ top_p: 1.6 }, 'top_p', 'top_p is 1.6; allowed: 0 to 1.5'],
    [{ normalize: 1 }, 'normalize', 'normalize is 1; allowed: true or false'],
  ])('refuses %j with 400 and charges nothing', async (body, field, message) => {
    const service = await testService();
    const response = await postTts(service)(body);
    expect(response.status).toBe(400);
    const expected = typeof message === 'string' ? message : expect.stringMatching(message);
    expect(await response.json()).toStrictEqual({
      code: 'ERR_INVALID_REQUEST',
      message: expected,
      requestId: expect.any(String),
      details: { errors: [{ field, message: expected }] },
    });
    expect((await service.balance()).credits).toBe(GRANT);
  });
});

describe('POST /v1/audio/speech', () => {
  it('answers with mp3 and what it cost', async () => {
    const service = await testService();
    const response = await postSpeech(service)({});
    expect(response.headers.get('Content-Type')).toBe('audio/mpeg');
    expect(await creditsOf(response)).toBe('13');
  });

  it('takes the voice as an object, and speaks at speed', async () => {
    const service = await testService();
    const body = { voice: { id: voiceId('Martin') }, speed: 2, instructions: 'Cheerfully' };
    await creditsOf(await postSpeech(service)(body));
    expect(service.engine.requests.at(-1)).toMatchObject({ voice: 'martin', speed: 2 });
  });

  it('of pcm is samples of 24 kHz and nothing else', async () => {
    const service = await testService();
    const response = await postSpeech(service)({ response_format: 'pcm' });
    expect(response.headers.get('Content-Type')).toBe('audio/pcm;rate=24000;channels=1');
    const words = 2;
    const wordMs = 20;
    const samples = (words * wordMs * 24_000) / 1_000;
    expect((await response.arrayBuffer()).byteLength).toBe(samples * 2);
  });

  it.each([
    [{ model: undefined }, 'model', 'model is missing; it is required'],
    [{ model: 'tts-1' }, 'model', /^model "tts-1" is unknown; allowed: vendor-s21pro, /],
    [{ model: 'altF-flash-v2.5' }, 'model', /does not work with voice Clara/],
    [{ input: undefined }, 'input', 'input is missing; it is required'],
    [{ input: '' }, 'input', /^input has 0 characters/],
    [{ input: '\t' }, 'input', 'input has only white space'],
    [{ voice: undefined }, 'voice', /^voice is/],
    [{ voice: 'alloy' }, 'voice', 'voice "alloy" is unknown'],
    [{ voice: 5 }, 'voice', /^voice is 5; allowed: .*an object with id$/],
    [{ voice: {} }, 'voice', /^voice is an object; allowed: .*an object with id$/],
    [{ response_format: 'opus' }, 'response_format', /allowed: mp3, wav or pcm$/],
    [{ speed: 4 }, 'speed', 'speed is 4; allowed: 0.5 to 2'],
    [
      { voice: voiceId('Greta'), model: 'altD-tts-2.0', response_format: 'wav' },
      'response_format',
      'response_format is wav; altD-tts-2.0 supports mp3 or ogg',
    ],
  ])('refuses %j with 400 and charges nothing', async (body, field, message) => {
    const service = await testService();
    const response = await postSpeech(service)(body);
    expect(response.status).toBe(400);
    const answer: unknown = await response.json();
    expect(answer).toMatchObject({ details: { errors: [{ field }] } });
    const { message: said } = Object(answer);
    if (typeof message === 'string') expect(said).toBe(message);
    else expect(said).toMatch(message);
    expect((await service.balance()).credits).toBe(GRANT);
  });
});

describe('either compatibility endpoint', () => {
  it.each([
    ['/v1/tts', TTS],
    ['/v1/audio/speech', SPEECH],
  ])('%s has the errors of its section: 400, 401, 402, 500', async (path, body) => {
    const service = await testService({ allowance: { credits: 20, quota: 20 } });
    const { call, engine } = service;
    const broken = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{' };
    expect((await call(path, broken)).status).toBe(400);
    expect((await call(path, jsonPost(body, { Authorization: 'Bearer wrong' }))).status).toBe(401);
    const text = 'x '.repeat(20);
    expect((await call(path, jsonPost({ ...body, text, input: text }))).status).toBe(402);
    engine.failBefore(0);
    expect((await call(path, jsonPost(body))).status).toBe(500);
    expect((await service.balance()).credits).toBe(20);
  });

  it.each([
    ['/v1/tts', TTS],
    ['/v1/audio/speech', SPEECH],
  ])('%s answers 503 for a model that is not available', async (path, body) => {
    const models = ['vendor-s21pro', 'vendor-s21pro-flash'];
    const { call } = await testService({ unavailableModels: models });
    const response = await call(path, jsonPost(body));
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'ERR_MODEL_UNAVAILABLE' });
  });

  it.each([
    ['/v1/tts', TTS, 14],
    ['/v1/audio/speech', SPEECH, 26],
  ])('%s knows no key: what is sent twice is spoken twice', async (path, body, cost) => {
    const service = await testService();
    const headers = { 'Idempotency-Key': 'k', 'X-Request-Id': 'r' };
    for (const _ of [1, 2]) await creditsOf(await service.call(path, jsonPost(body, headers)));
    expect((await service.balance()).credits).toBe(GRANT - cost);
  });
});

describe('GET /v1/audio/voices', () => {
  it('lists every voice with its id', async () => {
    const { call } = await testService();
    const response = await call('/v1/audio/voices');
    expect(await response.json()).toStrictEqual({
      voices: VOICES.map(({ id, name }) => ({ id, name })),
    });
    const anonymous = await call('/v1/audio/voices', { headers: { Authorization: 'Bearer x' } });
    expect(anonymous.status).toBe(401);
  });
});
