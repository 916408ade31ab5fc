import { describe, expect, it } from 'vitest';
import type { SpeechEngine } from '../../src/service/engine/speech-engine.ts';
import { SpeechQueue } from '../../src/service/speech/speak.ts';
import { manualClock } from '../api/manual-clock.ts';
import { OTHER_KEY, testService, voiceId } from './support/test-service.ts';

const CLARA = voiceId('Clara');
const OTHER = { Authorization: `Bearer ${OTHER_KEY}` };
const body = { text: 'One. Two.', voiceId: CLARA, format: 'wav' };

describe('the queue for speech', () => {
  it('refuses what is beyond --max-waiting with 429, the time, and no charge', async () => {
    const { balance, engine, speak } = await testService({ maxWaiting: 2 });
    const release = engine.holdBefore(0);
    const admitted = [speak(body), speak(body)];
    await expect.poll(engine.speaking).toBe(2);
    const refused = await speak(body, { 'Idempotency-Key': 'later' });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      code: 'ERR_RATE_LIMITED',
      message: 'The service is busy: 2 requests wait for it; retry in 1 s',
      details: { waiting: 2, maxWaiting: 2 },
    });
    release();
    const answers = await Promise.all(admitted);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    const before = await balance();
    const again = await speak(body, { 'Idempotency-Key': 'later' });
    expect(again.status).toBe(200);
    await again.arrayBuffer();
    expect((await balance()).credits).toBeLessThan(before.credits);
  });

  it('estimates the wait, and a later time for later refusals', async () => {
    const { clock, engine, speak } = await testService({ maxWaiting: 1 });
    const first = engine.holdBefore(0);
    const measured = speak(body);
    await expect.poll(engine.speaking).toBe(1);
    // A sentence of 20 ms has taken two minutes.
    clock.advance(120_000);
    first();
    await (await measured).arrayBuffer();
    const second = engine.holdBefore(0);
    const slow = speak(body);
    await expect.poll(engine.speaking).toBe(1);
    const [one, two] = [await speak(body), await speak(body)];
    const seconds = Number(one.headers.get('Retry-After'));
    expect(seconds).toBeGreaterThan(60);
    expect(Number(two.headers.get('Retry-After'))).toBeGreaterThanOrEqual(seconds);
    second();
    await (await slow).arrayBuffer();
  });

  it('gives an account with fewer requests the place of the newest of the account with the most', async () => {
    const { balance, engine, speak } = await testService({ maxWaiting: 2 });
    const release = engine.holdBefore(0);
    const [oldest, newest] = [speak(body), speak(body, { 'Idempotency-Key': 'displaced' })];
    await expect.poll(engine.speaking).toBe(2);
    const fair = speak(body, OTHER);
    const displaced = await newest;
    expect(displaced.status).toBe(429);
    expect(Number(displaced.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
    await expect.poll(engine.speaking).toBe(2);
    expect((await speak(body, OTHER)).status).toBe(429);
    release();
    for (const answer of [await oldest, await fair]) {
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    }
    const { credits } = await balance();
    const again = await speak(body, { 'Idempotency-Key': 'displaced' });
    expect(again.status).toBe(200);
    await again.arrayBuffer();
    expect((await balance()).credits).toBeLessThan(credits);
  });

  it('leaves a request alone that has audio, and does not count one whose reader is slow', async () => {
    const { engine, speak } = await testService({ maxWaiting: 1 });
    const unread = await speak(body);
    const other = await speak(body);
    expect([unread.status, other.status]).toEqual([200, 200]);
    const release = engine.holdBefore(1);
    const reading = other.arrayBuffer();
    release();
    expect((await reading).byteLength).toBeGreaterThan(44);
    await unread.arrayBuffer();
  });

  it('reports the outcome of a used key, also when the queue is full', async () => {
    const { engine, speak } = await testService({ maxWaiting: 1 });
    const key = { 'Idempotency-Key': 'done' };
    await (await speak(body, key)).arrayBuffer();
    const release = engine.holdBefore(0);
    const waiting = speak(body);
    await expect.poll(engine.speaking).toBe(1);
    const replayed = await speak(body, key);
    expect(await replayed.json()).toMatchObject({ code: 'ERR_REQUEST_ALREADY_COMPLETED' });
    release();
    await (await waiting).arrayBuffer();
  });

  it('ends speech that is longer than an hour', async () => {
    const queue = new SpeechQueue({ clock: manualClock() });
    const request = { text: 'Endless.', voice: 'v', speed: 1, pitch: 0 };
    const { signal } = new AbortController();
    const chunks: unknown[] = [];
    await expect(async () => {
      const speech = { account: 'first', speaker: ENDLESS, request, signal };
      for await (const chunk of queue.synthesize(speech)) chunks.push(chunk);
    }).rejects.toThrow('The speech is longer than 3600 s.');
    expect(chunks).toHaveLength(3);
  });
});

const ENDLESS: SpeechEngine = {
  name: 'endless',
  voices: [],
  warmUp: async () => undefined,
  async *synthesize() {
    for (;;) yield { samples: new Float32Array(1_000), sampleRate: 1 };
  },
  close: async () => undefined,
};
