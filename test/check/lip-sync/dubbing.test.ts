import path from 'node:path';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { createSandbox } from '../../harness/sandbox.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import {
  DUBBING,
  LIP_SYNC,
  creditsOf,
  done,
  endOf,
  fetchResult,
  fixtureFile,
  post,
  serveFixtures,
  serveMedia,
} from '../../binary/support/media-calls.ts';
import type { ServingFoley } from '../../binary/support/serve.ts';
import { firstVoiceId, startServe } from '../../binary/support/serve.ts';
import { readMedia } from './read-mp4.ts';
import { decodesSilently } from './second-opinion.ts';

const TIME = { timeout: 300_000 };
const TEXT =
  'Every morning the old lighthouse keeper climbs the narrow stairs and looks at the sea.';
const TICK = 0.001;

async function orderFor(service: ServingFoley, more: object = {}) {
  const files = await serveFixtures('h264.mp4');
  const reference_id = await firstVoiceId(service);
  return { video_url: `${files}/h264.mp4`, text: TEXT, reference_id, ...more };
}

async function speechAt(url: string) {
  const { body, statusCode } = await request(url);
  expect(statusCode).toBe(200);
  return decodeAudio(Buffer.from(await body.arrayBuffer()));
}

describe('a dubbing', () => {
  test('ends with the speech or the video, and reports the cost of each part', TIME, async () => {
    const sandbox = await createSandbox();
    const service = await startServe([], { sandbox, timeoutMs: TIME.timeout });
    const before = await creditsOf(service);
    const data = await done(service, DUBBING, await orderFor(service));
    const speech = await speechAt(data.tts_audio_url);
    const seconds = speech.durationMs / 1_000;
    expect(seconds).toBeLessThan(10);
    const lipSync = Math.ceil(seconds) * 10;
    expect(data).toMatchObject({ status: 'completed', tempo: 1, error: null });
    expect(data.credits_used.lip_sync).toBe(lipSync);
    expect(data.credits_used.tts).toBeGreaterThan(0);
    expect(data.credits_used.total).toBe(data.credits_used.tts + lipSync);
    expect(before - (await creditsOf(service))).toBe(data.credits_used.total);
    const { bytes } = await fetchResult(data);
    const result = await readMedia(bytes);
    expect(Math.abs((result.seconds ?? 0) - seconds)).toBeLessThan(TICK);
    await decodesSilently(sandbox.out, bytes);
  });

  test('is fitted to its video at the same pitch where that is wanted', TIME, async () => {
    const sandbox = await createSandbox();
    const service = await startServe([], { sandbox, timeoutMs: TIME.timeout });
    const data = await done(
      service,
      DUBBING,
      await orderFor(service, { text: `${TEXT} ${TEXT} ${TEXT}`, fit_audio_to_video: true }),
    );
    const speech = await speechAt(data.tts_audio_url);
    expect(data.tempo).toBeCloseTo(speech.durationMs / 10_000, 3);
    expect(data.tempo).not.toBe(1);
    expect(data).toMatchObject({ billing_duration_seconds: 10, audio_duration_seconds: 10 });
    const { bytes } = await fetchResult(data);
    const result = await readMedia(bytes);
    expect(Math.abs((result.seconds ?? 0) - 10)).toBeLessThan(TICK);
    expect(Math.abs((result.audio?.end ?? 0) - 10)).toBeLessThan(TICK);
    await decodesSilently(sandbox.out, bytes);
  });
});

describe('a create with the same key', () => {
  test(
    'is answered as the first, costs nothing, and is a conflict for anything else',
    TIME,
    async () => {
      const service = await startServe([], { timeoutMs: TIME.timeout });
      const order = await orderFor(service);
      const headers = { 'Idempotency-Key': 'one' };
      const first = await post(service, DUBBING, order, headers);
      expect(first.status).toBe(202);
      await endOf(service, DUBBING, first.body.data.id);
      const before = await creditsOf(service);
      const again = await post(service, DUBBING, order, headers);
      expect([again.status, again.body]).toEqual([first.status, first.body]);
      expect(await creditsOf(service)).toBe(before);
      const other = await post(service, DUBBING, { ...order, text: 'Something else.' }, headers);
      expect([other.status, other.body.code]).toEqual([409, 'ERR_REQUEST_ID_CONFLICT']);
    },
  );
});

test(
  'a create whose first client disconnects continues for the second, and is charged once',
  TIME,
  async () => {
    const service = await startServe([], { timeoutMs: TIME.timeout });
    const video = await fixtureFile('h264.mp4');
    const held: (() => void)[] = [];
    const files = await serveMedia({
      'h264.mp4': (_, response) => void held.push(() => response.end(video)),
    });
    const order = { ...(await orderFor(service)), video_url: `${files}/h264.mp4` };
    const before = await creditsOf(service);
    const headers = { 'Idempotency-Key': 'left' };
    const leaving = new AbortController();
    const left = request(service.baseUrl + DUBBING, {
      method: 'POST',
      body: JSON.stringify(order),
      headers: {
        ...headers,
        'Content-Type': 'application/json',
        Authorization: `Bearer ${service.apiKey}`,
      },
      signal: leaving.signal,
    });
    await expect.poll(() => held.length).toBe(1);
    const joined = post(service, DUBBING, order, headers);
    // It is answered after the create above was read.
    await creditsOf(service);
    leaving.abort();
    await expect(left).rejects.toThrow();
    await creditsOf(service);
    for (const answer of held) answer();
    const { body, status } = await joined;
    expect([status, body.code]).toEqual([202, undefined]);
    const data = await endOf(service, DUBBING, body.data.id);
    expect(before - (await creditsOf(service))).toBe(data.credits_used.total);
  },
);

describe('speech that was billed stays, and is named, when lip sync cannot start', () => {
  test('outside of 0.5 to 2 times', TIME, async () => {
    const service = await startServe([], { timeoutMs: TIME.timeout });
    const order = await orderFor(service, { text: 'Hello.', fit_audio_to_video: true });
    const before = await creditsOf(service);
    const headers = { 'Idempotency-Key': 'too-short' };
    const { body, status } = await post(service, DUBBING, order, headers);
    expect([status, body.code]).toEqual([400, 'ERR_DUBBING_FIT_IMPOSSIBLE']);
    const { tts_audio_url: audioUrl, tts_credits_used: credits } = body.details;
    expect(before - (await creditsOf(service))).toBe(credits);
    expect((await speechAt(audioUrl)).durationMs).toBeGreaterThan(100);
    const again = await post(service, DUBBING, order, headers);
    expect([again.status, again.body.code]).toEqual([400, 'ERR_DUBBING_FIT_IMPOSSIBLE']);
    expect(again.body.details.tts_credits_used).toBe(credits);
    expect(before - (await creditsOf(service))).toBe(credits);
    const { video_url } = order;
    const finished = await done(service, LIP_SYNC, { video_url, audio_url: audioUrl });
    expect(finished.status).toBe('completed');
  });

  test('without credits for it', TIME, async () => {
    const service = await startServe(['--credits', '90'], { timeoutMs: TIME.timeout });
    const { body, status } = await post(service, DUBBING, await orderFor(service));
    expect([status, body.code]).toEqual([402, 'ERR_INSUFFICIENT_CREDITS']);
    expect(body.details).toMatchObject({
      available: { credits: 90 - body.details.tts_credits_used },
    });
    expect((await speechAt(body.details.tts_audio_url)).durationMs).toBeGreaterThan(1_000);
  });
});

test('a dubbing whose lip sync fails gives only that back', TIME, async () => {
  const service = await startServe(['--fault', `POST ${DUBBING}; job=fail`], {
    timeoutMs: TIME.timeout,
  });
  const before = await creditsOf(service);
  const data = await done(service, DUBBING, await orderFor(service));
  expect(data).toMatchObject({ status: 'failed', credits_used: { lip_sync: 0 } });
  expect(data.credits_used.total).toBe(data.credits_used.tts);
  expect(before - (await creditsOf(service))).toBe(data.credits_used.tts);
  expect((await speechAt(data.tts_audio_url)).durationMs).toBeGreaterThan(1_000);
});

test('a video that cannot be fetched costs nothing, and the key is free again', TIME, async () => {
  const service = await startServe([], { timeoutMs: TIME.timeout });
  const order = await orderFor(service);
  const before = await creditsOf(service);
  const headers = { 'Idempotency-Key': 'twice' };
  const missing = { ...order, video_url: `${path.posix.dirname(order.video_url)}/missing` };
  const refused = await post(service, DUBBING, missing, headers);
  expect([refused.status, refused.body.code]).toEqual([422, 'ERR_MEDIA_UNREACHABLE']);
  expect(await creditsOf(service)).toBe(before);
  expect((await post(service, DUBBING, order, headers)).status).toBe(202);
});
