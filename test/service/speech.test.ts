import { describe, expect, it } from 'vitest';
import { decodeAudio } from '../harness/decode-audio.ts';
import { OTHER_KEY, testService, voiceId } from './support/test-service.ts';

const CLARA = voiceId('Clara');

describe('POST /api/open/v3/speech/tts', () => {
  it.each([
    ['mp3', 'audio/mpeg'],
    ['wav', 'audio/wav'],
    ['ogg', 'audio/ogg'],
  ])('speaks %s', async (format, type) => {
    const { speak } = await testService();
    const response = await speak({ text: 'Hello there. And again.', voiceId: CLARA, format });
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe(type);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (format !== 'wav') expect((await decodeAudio(bytes)).format).toBe(format);
    expect(bytes.byteLength).toBeGreaterThan(400);
  });

  it('answers with what was charged and what is left', async () => {
    const { speak, balance } = await testService();
    const response = await speak({ text: 'Hello', voiceId: CLARA, modelId: 'vendor-s21pro' });
    expect(response.headers.get('X-OpenAPI-Credits-Used')).toBe('5');
    expect(response.headers.get('X-OpenAPI-Quota-Remaining')).toBe('999995');
    expect(response.headers.has('X-OpenAPI-Ignored-Parameters')).toBe(false);
    await response.arrayBuffer();
    expect(await balance()).toEqual({ credits: 999_995, quota: 999_995 });
  });

  it('uses the default model of the voice’s family, which is cheaper, and rounds up', async () => {
    const { speak } = await testService();
    const response = await speak({ text: 'Hello', voiceId: CLARA });
    expect(response.headers.get('X-OpenAPI-Credits-Used')).toBe('3');
  });

  it('charges characters, not bytes or UTF-16 units', async () => {
    const { speak } = await testService();
    const response = await speak({ text: 'a😀é', voiceId: CLARA, modelId: 'vendor-s21pro' });
    expect(response.headers.get('X-OpenAPI-Credits-Used')).toBe('3');
  });

  it('sends the first bytes before the second sentence is spoken', async () => {
    const { speak, engine } = await testService();
    const release = engine.holdBefore(1);
    const response = await speak({ text: 'One. Two. Three.', voiceId: CLARA, format: 'wav' });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(first?.value?.byteLength).toBeGreaterThan(0);
    expect(engine.chunksMade()).toBe(1);
    release();
    for (let end = false; !end;) end = (await reader?.read())?.done ?? true;
    expect(engine.chunksMade()).toBe(3);
  });

  it('produces nothing before it is read', async () => {
    const { speak, engine } = await testService();
    const response = await speak({ text: 'One. Two. Three. Four.', voiceId: CLARA, format: 'wav' });
    expect(engine.chunksMade()).toBe(1);
    await response.arrayBuffer();
    expect(engine.chunksMade()).toBe(4);
  });

  it('stops the engine when the client goes, and the charge stands', async () => {
    const { speak, engine, balance } = await testService();
    engine.holdBefore(1);
    const body = { text: 'One. Two.', voiceId: CLARA, modelId: 'vendor-s21pro', format: 'wav' };
    const response = await speak(body, { 'Idempotency-Key': 'gone' });
    await response.body?.cancel();
    await expect.poll(engine.speaking).toBe(0);
    expect(await balance()).toEqual({ credits: 999_991, quota: 999_991 });
    const again = await speak(body, { 'Idempotency-Key': 'gone' });
    expect(await again.json()).toMatchObject({ code: 'ERR_REQUEST_ALREADY_COMPLETED' });
  });

  it('refunds a client that goes before the first byte', async () => {
    const { call, engine, balance } = await testService();
    engine.holdBefore(0);
    const leaving = new AbortController();
    const answer = call('/api/open/v3/speech/tts', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ text: 'Hello', voiceId: CLARA }),
      signal: leaving.signal,
    });
    await expect.poll(engine.speaking).toBe(1);
    leaving.abort();
    expect((await answer).status).toBe(500);
    await expect.poll(engine.speaking).toBe(0);
    expect(await balance()).toEqual({ credits: 1_000_000, quota: 1_000_000 });
  });

  it('refunds what fails before the first byte, and says nothing of the inside', async () => {
    const { speak, engine, balance, events } = await testService();
    engine.failBefore(0);
    const response = await speak(
      { text: 'Hello', voiceId: CLARA },
      { 'Idempotency-Key': 'broken' },
    );
    expect(response.status).toBe(500);
    const body = await response.text();
    expect(JSON.parse(body)).toMatchObject({
      code: 'ERR_GENERATION_FAILED',
      message: expect.stringContaining('The engine broke'),
    });
    expect(body).not.toMatch(/secret|stack|\.ts/);
    expect(await balance()).toEqual({ credits: 1_000_000, quota: 1_000_000 });
    expect(events).toContainEqual(expect.objectContaining({ type: 'failure' }));
    const again = await speak({ text: 'Hello', voiceId: CLARA }, { 'Idempotency-Key': 'broken' });
    expect(again.status).toBe(409);
    expect(await again.json()).toMatchObject({ code: 'ERR_REQUEST_PREVIOUSLY_REFUNDED' });
  });

  it('cuts and refunds what fails after the first byte', async () => {
    const { speak, engine, balance } = await testService();
    engine.failBefore(1);
    const response = await speak({ text: 'One. Two.', voiceId: CLARA, format: 'wav' });
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
    expect(await balance()).toEqual({ credits: 1_000_000, quota: 1_000_000 });
  });

  it('returns the error of a response that ended early, to its account only', async () => {
    const { speak, call, engine } = await testService();
    engine.failBefore(1);
    const failed = { 'X-Request-Id': 'early' };
    const response = await speak({ text: 'One. Two.', voiceId: CLARA, format: 'wav' }, failed);
    await expect(response.arrayBuffer()).rejects.toThrow();
    const found = await call('/api/open/requests/early/error');
    expect(found.status).toBe(200);
    expect(await found.json()).toEqual({
      code: 'ERR_GENERATION_FAILED',
      message: 'The speech could not be made: The engine broke. The charge was refunded',
      requestId: 'early',
    });
    const headers = { Authorization: `Bearer ${OTHER_KEY}` };
    const foreign = await call('/api/open/requests/early/error', { headers });
    expect(foreign.status).toBe(404);
    await (
      await speak({ text: 'One.', voiceId: CLARA }, { 'X-Request-Id': 'whole' })
    ).arrayBuffer();
    expect((await call('/api/open/requests/whole/error')).status).toBe(404);
  });

  it('does not count a text that cannot be spoken as a request', async () => {
    const { speak, balance } = await testService();
    const body = { text: '… — !', voiceId: CLARA };
    const response = await speak(body, { 'Idempotency-Key': 'silence' });
    expect(response.status).toBe(400);
    expect(await balance()).toEqual({ credits: 1_000_000, quota: 1_000_000 });
    const words = await speak({ text: 'Words', voiceId: CLARA }, { 'Idempotency-Key': 'silence' });
    expect(words.status).toBe(200);
    await words.arrayBuffer();
  });

  it('answers 402 with what is needed, and charges nothing', async () => {
    const { speak, balance } = await testService({ allowance: { credits: 4, quota: 100 } });
    const body = { text: 'Hello', voiceId: CLARA, modelId: 'vendor-s21pro' };
    const response = await speak(body, { 'Idempotency-Key': 'poor' });
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({
      code: 'ERR_INSUFFICIENT_CREDITS',
      details: { needed: { credits: 5 }, available: { credits: 4 } },
    });
    expect(await balance()).toEqual({ credits: 4, quota: 100 });
    const smaller = await speak({ ...body, text: 'Hi' }, { 'Idempotency-Key': 'poor' });
    expect(smaller.status).toBe(200);
    await smaller.arrayBuffer();
  });

  it('answers 402 when the quota is short', async () => {
    const { speak } = await testService({ allowance: { credits: 100, quota: 4 } });
    const response = await speak({ text: 'Hello', voiceId: CLARA });
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({
      message: expect.stringContaining('5 units of API quota; the account has 4'),
    });
  });

  it('finishes what runs when it closes, and takes nothing new', async () => {
    const { speak, service, engine } = await testService();
    const release = engine.holdBefore(1);
    const response = await speak({ text: 'One. Two.', voiceId: CLARA, format: 'wav' });
    const closed = service.close();
    expect((await speak({ text: 'Three.', voiceId: CLARA })).status).toBe(503);
    release();
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(44);
    await closed;
  });

  it('lets a slow listener hear the end when it closes', async () => {
    const { speak, service, engine, clock, store, events } = await testService();
    const release = engine.holdBefore(1);
    const response = await speak({ text: 'One. Two.', voiceId: CLARA, format: 'wav' });
    const closed = service.close();
    expect(events.at(-1)).toEqual({ type: 'finishing-answers', count: 1 });
    clock.advance(60_000);
    release();
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(44);
    await closed;
    const states = store.read((db) => db.all('SELECT state FROM reservation'));
    expect(states).toMatchObject([{ state: 'committed' }]);
  });

  it('cuts and refunds running responses soon after the hurry signal', async () => {
    const { speak, service, engine, clock, store } = await testService();
    engine.holdBefore(1);
    const response = await speak({ text: 'One. Two.', voiceId: CLARA, format: 'wav' });
    const hurry = new AbortController();
    const closed = service.close(hurry.signal);
    hurry.abort();
    clock.advance(1_000);
    await closed;
    await expect(response.arrayBuffer()).rejects.toThrow();
    const states = store.read((db) => db.all('SELECT state FROM reservation'));
    expect(states).toMatchObject([{ state: 'refunded' }]);
  });

  it('cuts and refunds what does not end in time when it closes', async () => {
    const { speak, service, engine, clock, store } = await testService({ graceMs: 5_000 });
    engine.holdBefore(1);
    const response = await speak({ text: 'One. Two.', voiceId: CLARA, format: 'wav' });
    const closed = service.close();
    clock.advance(5_000);
    await closed;
    await expect(response.arrayBuffer()).rejects.toThrow();
    const states = store.read((db) => db.all('SELECT state FROM reservation'));
    expect(states).toMatchObject([{ state: 'refunded' }]);
  });
});
