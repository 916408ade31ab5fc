import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { openStore } from '../../src/service/store/open-store.ts';
import { jsonPost, KEY, temporaryFolder, testService, voiceId } from './support/test-service.ts';

const SPEECH = '/api/open/v3/speech/tts';
const PROFILE = '/api/open/v1/profile';

describe('every answer', () => {
  it.each<[string, string, RequestInit, number, string]>([
    ['unknown path', '/nothing', {}, 404, 'ERR_NOT_FOUND'],
    ['slash at the end', '/api/open/v3/voices/', {}, 404, 'ERR_NOT_FOUND'],
    ['wrong method', SPEECH, { method: 'GET' }, 405, 'ERR_METHOD_NOT_ALLOWED'],
    ['odd method', PROFILE, { method: 'DELETE' }, 405, 'ERR_METHOD_NOT_ALLOWED'],
    ['preflight', SPEECH, { method: 'OPTIONS' }, 405, 'ERR_METHOD_NOT_ALLOWED'],
    ['no JSON', SPEECH, { method: 'POST', body: 'x' }, 415, 'ERR_UNSUPPORTED_MEDIA_TYPE'],
    ['unknown voice', '/api/open/v3/voices/x', {}, 404, 'ERR_VOICE_NOT_FOUND'],
    ['no key', PROFILE, { headers: { Authorization: '' } }, 401, 'ERR_UNAUTHORIZED'],
  ])('has the error body for %s', async (_name, path, init, status, code) => {
    const { call } = await testService();
    const headers = new Headers(init.headers);
    headers.set('X-Request-Id', 'trace-1');
    const response = await call(path, { ...init, headers });
    expect(response.status).toBe(status);
    expect(response.headers.get('Content-Type')).toContain('application/json');
    const body: unknown = await response.json();
    expect(body).toMatchObject({ code, requestId: 'trace-1' });
    expect(Object.keys(Object(body)).sort()).toEqual(['code', 'message', 'requestId']);
  });

  it('names the methods that a path has', async () => {
    const { call } = await testService();
    const wrong = await call(PROFILE, { method: 'PUT' });
    expect(wrong.headers.get('Allow')).toBe('GET, HEAD, POST');
  });

  it('says nothing of the inside when the service itself breaks', async () => {
    const { call, store, events } = await testService();
    store.write((db) => db.script('DROP TABLE balance'));
    const response = await call(PROFILE);
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ code: 'ERR_INTERNAL' });
    expect(text).not.toMatch(/balance|SQL|\bat /i);
    expect(events).toContainEqual(expect.objectContaining({ type: 'failure' }));
  });

  it('asks to come again while another process holds the database', async () => {
    const dataDir = await temporaryFolder();
    const options = { dataDir, clock: systemClock, files: systemFiles, busyTimeoutMs: 1 };
    const store = await openStore(options);
    const { call } = await testService({ store });
    const other = new Database(store.path);
    other.exec('BEGIN IMMEDIATE');
    const busy = await call(PROFILE, jsonPost({ webhookUrl: 'https://hook.example/' }));
    other.exec('ROLLBACK');
    other.close();
    expect(busy.status).toBe(503);
    expect(busy.headers.get('Retry-After')).toBe('1');
    expect(await busy.json()).toMatchObject({ code: 'ERR_SERVICE_UNAVAILABLE' });
    expect((await call(PROFILE)).status).toBe(200);
    store.close();
  });
});

describe('the operator of the service', () => {
  it('hears of every request, but of no key, query or text', async () => {
    const { call, speak, events } = await testService();
    await call('/api/open/v3/voices?page=0', { headers: { 'X-Request-Id': 'trace-3' } });
    await (await speak({ text: 'Whisper', voiceId: voiceId('Clara') })).arrayBuffer();
    expect(events[0]).toEqual({
      type: 'request',
      method: 'GET',
      path: '/api/open/v3/voices',
      status: 400,
      durationMs: 0,
      requestId: 'trace-3',
      account: 'first',
      credits: undefined,
      faults: [],
    });
    expect(events[1]).toMatchObject({ status: 200, account: 'first', credits: '4' });
    expect(JSON.stringify(events)).not.toMatch(new RegExp(`${KEY}|page=|Whisper`));
  });
});

describe('the request id', () => {
  it.each(['a', 'b'.repeat(128), '!~trace/1'])('is echoed when it is sane: %s', async (id) => {
    const { call } = await testService();
    const response = await call(PROFILE, { headers: { 'X-Request-Id': id } });
    expect(response.headers.get('X-Request-Id')).toBe(id);
  });

  it.each(['', 'b'.repeat(129), 'two words', 'caf\u00e9'])(
    'is made when it is not: %j',
    async (id) => {
      const { call } = await testService();
      const response = await call(PROFILE, { headers: { 'X-Request-Id': id } });
      expect(response.headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('is on audio too', async () => {
    const { speak } = await testService();
    const body = { text: 'Hi', voiceId: voiceId('Clara') };
    const response = await speak(body, { 'X-Request-Id': 'trace-2' });
    expect(response.headers.get('X-Request-Id')).toBe('trace-2');
    await response.body?.cancel();
  });
});

describe('a JSON body', () => {
  it('may name its character set', async () => {
    const { call } = await testService();
    const init = jsonPost({ webhookUrl: 'https://hook.example/' });
    const response = await call(PROFILE, {
      ...init,
      headers: { 'Content-Type': 'Application/JSON; charset="UTF-8"' },
    });
    expect(response.status).toBe(200);
  });

  it.each([
    ['another type', 'text/json', 415],
    ['another character set', 'application/json; charset=latin1', 415],
    ['a type that begins alike', 'application/jsonp', 415],
  ])('may not have %s', async (_name, type, status) => {
    const { call } = await testService();
    const init = jsonPost({ webhookUrl: 'https://hook.example/' });
    const response = await call(PROFILE, { ...init, headers: { 'Content-Type': type } });
    expect(response.status).toBe(status);
  });

  it.each([
    ['empty', '', 'The body is empty'],
    ['cut', '{"text":', 'not valid JSON'],
    ['a list', '[]', 'allowed: an object'],
    ['null', 'null', 'allowed: an object'],
    ['not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 'not valid UTF-8'],
    ['deep', '['.repeat(100_000), 'not valid JSON'],
  ])('may not be %s', async (_name, body, message) => {
    const { call } = await testService();
    const headers = { 'Content-Type': 'application/json' };
    const response = await call(SPEECH, { method: 'POST', headers, body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'ERR_INVALID_REQUEST',
      message: expect.stringContaining(message),
    });
  });

  it('with a value of another pattern is shown one that fits', async () => {
    const { call } = await testService();
    const order = { prompt: 'A fox', model: 'altG-video-1', size: '640 x 360' };
    const headers = { 'Idempotency-Key': 'k' };
    const response = await call('/api/open/v1/media/videos/jobs', jsonPost(order, headers));
    const message = 'size is "640 x 360"; allowed: a string such as 1280x720';
    expect(await response.json()).toMatchObject({
      details: { errors: [{ field: 'size', message }] },
    });
  });

  it('is limited to the size of the longest text, with or without an announced length', async () => {
    const { call } = await testService();
    const headers = { 'Content-Type': 'application/json' };
    const large = ' '.repeat(256 * 1024 + 1);
    const told = await call(SPEECH, { method: 'POST', headers, body: large });
    expect(told.status).toBe(413);
    const untold = await call(SPEECH, {
      method: 'POST',
      headers,
      body: new Blob([large]).stream(),
      duplex: 'half',
    });
    expect(untold.status).toBe(413);
    expect(await untold.json()).toMatchObject({ code: 'ERR_PAYLOAD_TOO_LARGE' });
  });

  it('holds the longest text, written as escapes', async () => {
    const { call } = await testService();
    const escapes = String.raw`\ud83d\ude00`.repeat(9_999);
    const init = jsonPost({});
    const body = `{"voiceId":"${voiceId('Clara')}","text":"a${escapes}"}`;
    const response = await call(SPEECH, { ...init, body });
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });
});
