import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { system } from '../../src/system/system.ts';
import { createAudioFolder } from '../../src/service/speech/audio-files.ts';
import { verifyLedger } from '../../src/service/ledger/ledger.ts';
import { decodeAudio } from '../harness/decode-audio.ts';
import { BASE_URL, jsonPost, OTHER_KEY, testService, voiceId } from './support/test-service.ts';
import type { TestService } from './support/test-service.ts';

const PATH = '/api/open/v1/speech/tts';
const BODY = { text: 'Hello. Again.', voiceId: voiceId('Clara'), modelId: 'vendor-s21pro' };
const COST = 13;
const GRANT = 1_000_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

async function speak(
  { call }: Pick<TestService, 'call'>,
  body: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return call(PATH, jsonPost({ ...BODY, ...body }, headers));
}

interface Cached {
  readonly audio_url: string;
  readonly credits_used: number;
  readonly quota_remaining: number;
}

/** Asks for the address of stored audio. */
async function cached(
  service: Pick<TestService, 'call'>,
  body: object = {},
  headers: Record<string, string> = {},
): Promise<Cached> {
  const response = await speak(service, { ...body, cache: true }, headers);
  expect(response.status).toBe(200);
  expect(response.headers.get('Content-Type')).toBe('application/json');
  const { audio_url, credits_used, quota_remaining, ...rest } = Object(await response.json());
  expect(rest).toEqual({});
  return { audio_url, credits_used, quota_remaining };
}

/** Follows an address as anybody would, without a key. */
function download({ service }: TestService, url: string): Promise<Response> {
  return service.fetch(new Request(url));
}

async function codeOf(response: Response): Promise<unknown> {
  return Object(await response.json()).code;
}

describe('POST /api/open/v1/speech/tts', () => {
  it.each([{}, { cache: false }])('with %j answers with audio and what it cost', async (body) => {
    const service = await testService();
    const response = await speak(service, body);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'audio/mpeg',
      'x-openapi-credits-used': String(COST),
      'x-openapi-quota-remaining': String(GRANT - COST),
    });
    expect((await decodeAudio(new Uint8Array(await response.arrayBuffer()))).format).toBe('mp3');
  });

  it('knows the voice by its older name', async () => {
    const service = await testService();
    const older = { voiceId: undefined, reference_id: voiceId('Martin') };
    await (await speak(service, older)).arrayBuffer();
    expect(service.engine.requests.at(-1)?.voice).toBe('martin');
    await (await speak(service, { reference_id: voiceId('Martin') })).arrayBuffer();
    expect(service.engine.requests.at(-1)?.voice).toBe('clara');
    const missing = await speak(service, { voiceId: undefined });
    expect(await missing.json()).toMatchObject({ message: 'voiceId is missing; it is required' });
    const unknown = await speak(service, { voiceId: undefined, reference_id: 'unknown' });
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({
      message: 'reference_id "unknown" is unknown',
    });
  });

  it('gives the controls to the engine, and says nothing of those it ignores', async () => {
    const service = await testService();
    const nora = { voiceId: voiceId('Nora'), modelId: undefined };
    const controls = { speed: 2, pitch: 3, stability: 0.9, textNormalization: false, extra: 1 };
    const response = await speak(service, { ...nora, ...controls });
    expect(response.headers.has('X-OpenAPI-Ignored-Parameters')).toBe(false);
    await response.arrayBuffer();
    expect(service.engine.requests.at(-1)).toMatchObject({ speed: 2, pitch: 3 });
  });

  it.each([
    [{ text: '' }, 'text'],
    [{ format: 'pcm' }, 'format'],
    [{ cache: 'yes' }, 'cache'],
    [{ speed: 2.1 }, 'speed'],
    [{ volume: -21 }, 'volume'],
    [{ stability: 0.4 }, 'stability'],
    [{ filterEmoji: 1 }, 'filterEmoji'],
    [{ modelId: 'none' }, 'modelId'],
  ])('refuses %j, with and without a cache', async (body, field) => {
    const service = await testService();
    for (const cache of [{}, { cache: true }]) {
      const response = await speak(service, { ...cache, ...body });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ details: { errors: [{ field }] } });
    }
    expect((await service.balance()).credits).toBe(GRANT);
  });

  it('leaves kaomoji out, with and without a cache', async () => {
    const service = await testService();
    const body = { text: 'Hi (◕‿◕) you', filterEmoji: true };
    await (await speak(service, body)).arrayBuffer();
    expect((await cached(service, body)).credits_used).toBe(6);
    expect(service.engine.requests.map(({ text }) => text)).toEqual(['Hi you', 'Hi you']);
  });
});

describe('the request id of v1', () => {
  it('is the key of a request for audio', async () => {
    const service = await testService();
    await (await speak(service, {}, { 'X-Request-Id': 'r' })).arrayBuffer();
    const again = await speak(service, {}, { 'X-Request-Id': 'r' });
    expect([again.status, await codeOf(again)]).toEqual([409, 'ERR_REQUEST_ALREADY_COMPLETED']);
    const other = await speak(service, { cache: true }, { 'X-Request-Id': 'r' });
    expect(await codeOf(other)).toBe('ERR_REQUEST_ID_CONFLICT');
    expect((await service.balance()).credits).toBe(GRANT - COST);
  });

  it('counts beside an Idempotency-Key, so that a client that begins to send both is charged once', async () => {
    const service = await testService();
    await (await speak(service, {}, { 'X-Request-Id': 'r' })).arrayBuffer();
    const both = { 'X-Request-Id': 'r', 'Idempotency-Key': 'k' };
    const again = await speak(service, {}, both);
    expect([again.status, await codeOf(again)]).toEqual([409, 'ERR_REQUEST_ALREADY_COMPLETED']);
    expect((await service.balance()).credits).toBe(GRANT - COST);
    await (await speak(service, { speed: 2 }, both)).arrayBuffer();
    const repeated = await speak(service, { speed: 2 }, both);
    expect(await codeOf(repeated)).toBe('ERR_REQUEST_ALREADY_COMPLETED');
  });

  it('counts beside an Idempotency-Key for a cached answer and for a job', async () => {
    const service = await testService();
    const both = { 'X-Request-Id': 'r', 'Idempotency-Key': 'k' };
    const first = await cached(service, {}, { 'X-Request-Id': 'r' });
    expect(await cached(service, {}, both)).toEqual(first);
    const create = async (headers: Record<string, string>): Promise<unknown> => {
      const body = { text: 'Hello.', voiceId: voiceId('Clara') };
      const answer = await service.call('/api/open/v1/speech/tts/jobs', jsonPost(body, headers));
      expect(answer.status).toBe(202);
      return Object(await answer.json()).taskId;
    };
    const job = await create({ 'X-Request-Id': 'j' });
    expect(await create({ 'X-Request-Id': 'j', 'Idempotency-Key': 'k-2' })).toBe(job);
  });

  it('in progress gives 409 and costs nothing more', async () => {
    const service = await testService();
    const release = service.engine.holdBefore(1);
    const first = cached(service, {}, { 'X-Request-Id': 'r' });
    await expect.poll(() => service.engine.speaking()).toBe(1);
    const second = await speak(service, { cache: true }, { 'X-Request-Id': 'r' });
    expect([second.status, await codeOf(second)]).toEqual([409, 'ERR_REQUEST_IN_PROGRESS']);
    release();
    await first;
    expect((await service.balance()).credits).toBe(GRANT - COST);
  });
});

describe('a request with cache', () => {
  it('answers with an address, which gives the whole audio without a key', async () => {
    const service = await testService();
    const answer = await cached(service);
    expect(answer).toEqual({
      audio_url: expect.stringMatching(
        /^http:\/\/127\.0\.0\.1:4747\/api\/open\/tts\/cached\/[0-9a-f-]{36}\?expires=\d+&signature=[\w-]+$/,
      ),
      credits_used: COST,
      quota_remaining: GRANT - COST,
    });
    const response = await download(service, answer.audio_url);
    expect(response.status).toBe(200);
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(response.headers.get('Content-Type')).toBe('audio/mpeg');
    expect(response.headers.get('Content-Length')).toBe(String(bytes.byteLength));
    expect((await decodeAudio(bytes)).durationMs).toBeGreaterThan(0);
  });

  it('makes an mp3, a wav and an ogg with their exact length', async () => {
    const service = await testService();
    const words = 2;
    for (const format of ['mp3', 'wav', 'ogg']) {
      const { audio_url } = await cached(service, { format });
      const bytes = Buffer.from(await (await download(service, audio_url)).arrayBuffer());
      if (format === 'mp3') expect(bytes.subarray(0, 200).includes('Info')).toBe(true);
      const audio = await decodeAudio(bytes);
      expect(audio.format).toBe(format);
      expect(audio.durationMs).toBeCloseTo(words * 20, 1);
    }
  });

  it('of which the request is sent again is answered the same, and not charged again', async () => {
    const service = await testService();
    const first = await cached(service, {}, { 'X-Request-Id': 'r' });
    for (const headers of [{ 'X-Request-Id': 'r' }, { 'Idempotency-Key': 'r' }]) {
      expect(await cached(service, {}, headers)).toEqual(first);
    }
    expect(service.engine.requests).toHaveLength(1);
    expect((await service.balance()).credits).toBe(GRANT - COST);
    const other = await speak(service, { cache: true, speed: 2 }, { 'X-Request-Id': 'r' });
    expect(await codeOf(other)).toBe('ERR_REQUEST_ID_CONFLICT');
    const plain = await speak(service, {}, { 'X-Request-Id': 'r' });
    expect(await codeOf(plain)).toBe('ERR_REQUEST_ID_CONFLICT');
  });

  it('is answered the same by the next service on the same data', async () => {
    const first = await testService();
    const answer = await cached(first, {}, { 'X-Request-Id': 'r' });
    const { store } = first;
    const audio = createAudioFolder(store.path, { ...system, clock: first.clock });
    const next = await testService({ store, audio });
    expect(await cached(next, {}, { 'X-Request-Id': 'r' })).toEqual(answer);
    expect((await download(next, answer.audio_url)).status).toBe(200);
    expect(next.engine.requests).toHaveLength(0);
  });

  it('belongs to its account: the same id of another account is another request', async () => {
    const service = await testService();
    const mine = await cached(service, {}, { 'X-Request-Id': 'r' });
    const others = { 'X-Request-Id': 'r', Authorization: `Bearer ${OTHER_KEY}` };
    const theirs = await cached(service, {}, others);
    expect(theirs.audio_url).not.toBe(mine.audio_url);
    expect(service.engine.requests).toHaveLength(2);
  });

  it('gives an address that cannot be forged', async () => {
    const service = await testService();
    const { audio_url } = await cached(service);
    const later = new URL(audio_url);
    later.searchParams.set('expires', '99999999999');
    const [, id = ''] = /cached\/([^?]+)/.exec(audio_url) ?? [];
    const otherId = audio_url.replace(id, '00000000-0000-4000-8000-000000000000');
    const short = audio_url.slice(0, -1);
    for (const url of [later.href, otherId, short]) {
      const response = await download(service, url);
      expect([response.status, await codeOf(response)]).toEqual([403, 'ERR_FORBIDDEN']);
    }
    const bare = await service.service.fetch(new Request(`${BASE_URL}/api/open/tts/cached/${id}`));
    expect(bare.status).toBe(400);
  });

  it('is gone after a day: its file, its address, and its answer', async () => {
    const service = await testService();
    const { audio_url } = await cached(service, {}, { 'X-Request-Id': 'r' });
    const folder = path.join(service.dataDir, 'audio');
    expect(await readdir(folder)).toHaveLength(1);
    service.clock.advance(DAY_MS + 1_000);
    expect((await download(service, audio_url)).status).toBe(403);
    const again = await speak(service, { cache: true }, { 'X-Request-Id': 'r' });
    expect(await codeOf(again)).toBe('ERR_REQUEST_ALREADY_COMPLETED');
    await cached(service, {}, { 'X-Request-Id': 's' });
    await expect.poll(() => readdir(folder)).toHaveLength(1);
  });

  it('that fails is refunded and leaves nothing', async () => {
    const service = await testService();
    service.engine.failBefore(1);
    const response = await speak(service, { cache: true }, { 'X-Request-Id': 'r' });
    expect([response.status, await codeOf(response)]).toEqual([500, 'ERR_GENERATION_FAILED']);
    const again = await speak(service, { cache: true }, { 'X-Request-Id': 'r' });
    expect(await codeOf(again)).toBe('ERR_REQUEST_PREVIOUSLY_REFUNDED');
    expect((await service.balance()).credits).toBe(GRANT);
    expect(await readdir(path.join(service.dataDir, 'audio'))).toEqual([]);
    verifyLedger(service.store, { full: true });
  });

  it('that cannot be said was no request', async () => {
    const service = await testService();
    const body = { text: '...', cache: true };
    expect((await speak(service, body, { 'X-Request-Id': 'r' })).status).toBe(400);
    expect((await service.balance()).credits).toBe(GRANT);
    await cached(service, {}, { 'X-Request-Id': 'r' });
  });

  it('whose client leaves is refunded', async () => {
    const service = await testService();
    service.engine.holdBefore(1);
    const leaving = new AbortController();
    const init = jsonPost({ ...BODY, cache: true });
    const asked = service.call(PATH, { ...init, signal: leaving.signal });
    await expect.poll(() => service.engine.speaking()).toBe(1);
    leaving.abort();
    expect((await asked).status).toBe(500);
    expect((await service.balance()).credits).toBe(GRANT);
  });

  it('sent many times at once is spoken and charged once', async () => {
    const service = await testService();
    const asked = Array.from({ length: 20 }, () =>
      speak(service, { cache: true }, { 'X-Request-Id': 'r' }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(19);
    expect((await service.balance()).credits).toBe(GRANT - COST);
  });
});
