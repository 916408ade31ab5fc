import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Check } from 'typebox/schema';
import { describe, expect, it, onTestFinished } from 'vitest';
import { encodeSpeech } from '../../../src/service/engine/encode/encode-speech.ts';
import { JobV1 } from '../../../src/contract/jobs.ts';
import type { EncodeSpeech } from '../../../src/service/speech/encode.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { BASE_URL, jsonPost, OTHER_KEY } from '../support/test-service.ts';
import { BODY, JOBS, JOBS_V1, jobService, paragraphs } from './job-service.ts';

const OTHER = { headers: { Authorization: `Bearer ${OTHER_KEY}` } };

async function codeOf(response: Response): Promise<unknown> {
  return [response.status, Object(await response.json()).code];
}

describe('the audio of a job', () => {
  it.each([
    ['mp3', 'audio/mpeg'],
    ['wav', 'audio/wav'],
    ['ogg', 'audio/ogg'],
  ])('in %s says what and how much it is', async (format, type) => {
    const { call, create, ended } = await jobService();
    const id = await create({ format });
    await ended(id);
    const response = await call(`${JOBS}/${id}/audio`);
    expect(response.status).toBe(200);
    const bytes = await response.arrayBuffer();
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': type,
      'content-length': String(bytes.byteLength),
      'content-disposition': `inline; filename="${id}.${format}"`,
    });
    expect((await decodeAudio(new Uint8Array(bytes))).format).toBe(format);
  });

  it('is an attachment when it is asked for as one, and so is a segment', async () => {
    const { call, create, ended } = await jobService();
    const id = await create({ text: paragraphs('One', 'Two') });
    await ended(id);
    const disposition = async (path: string) =>
      (await call(`${JOBS}/${id}/${path}`)).headers.get('Content-Disposition');
    expect(await disposition('audio?download=1')).toBe(`attachment; filename="${id}.wav"`);
    expect(await disposition('audio?download=0')).toBe(`inline; filename="${id}.wav"`);
    expect(await disposition('segments/1?download=1')).toBe(`attachment; filename="${id}-1.wav"`);
    expect((await call(`${JOBS}/${id}/audio?download=yes`)).status).toBe(400);
  });

  it('can be had again, whole or only its headers', async () => {
    const { call, create, ended, bytes, balance } = await jobService();
    const id = await create();
    await ended(id);
    const before = await balance();
    const path = `${JOBS}/${id}/audio`;
    expect(await bytes(path)).toEqual(await bytes(path));
    const head = await call(path, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(Number(head.headers.get('Content-Length'))).toBe((await bytes(path)).length);
    expect(await balance()).toEqual(before);
  });

  it('is not there while the job runs, which says when to ask again', async () => {
    const { call, create, directed } = await jobService();
    directed.holdAt('Hello');
    const id = await create();
    for (const path of [`${JOBS}/${id}/audio`, `/api/open/tts/jobs/${id}/audio`]) {
      const response = await call(path);
      expect(response.headers.get('Retry-After')).toBe('0');
      expect(await codeOf(response)).toEqual([404, 'ERR_AUDIO_NOT_FOUND']);
    }
  });

  it('is missing once the file was deleted', async () => {
    const { call, create, ended, dataDir } = await jobService();
    const id = await create();
    await ended(id);
    await rm(join(dataDir, 'audio'), { recursive: true });
    expect(await codeOf(await call(`${JOBS}/${id}/audio`))).toEqual([404, 'ERR_AUDIO_NOT_FOUND']);
  });

  it.each(['2', '-1', '00', '0x0', 'a', '%20', '1e0'])('has no segment %s', async (index) => {
    const { call, create, ended } = await jobService();
    const id = await create({ text: paragraphs('One', 'Two') });
    await ended(id);
    const response = await call(`${JOBS}/${id}/segments/${index}`);
    expect(await codeOf(response)).toEqual([404, 'ERR_AUDIO_NOT_FOUND']);
  });
});

describe('a job whose audio is encoded slowly', () => {
  it('speaks a few segments ahead of the encoder, and all of them in the end', async () => {
    const { encodeLater, release } = standingEncoder();
    const { create, directed, ended } = await jobService({ encode: encodeLater });
    // Also when the test fails: the service waits for its encoder.
    onTestFinished(release);
    const words = ['One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight'];
    const id = await create({ text: paragraphs(...words), format: 'mp3' });
    await expect.poll(() => directed.texts.length).toBe(4);
    for (let turn = 0; turn < 500; turn += 1) await setImmediate();
    expect(directed.texts.length).toBe(4);
    release();
    expect(await ended(id)).toMatchObject({ status: 'success' });
    expect(directed.texts.length).toBe(words.length);
  });
});

/** An encoder that takes the first samples, and stands still until `release` is called. */
function standingEncoder() {
  const released = new AbortController();
  const encodeLater: EncodeSpeech = async function* encode(format, chunks, options) {
    const first = await chunks[Symbol.asyncIterator]().next();
    if (!released.signal.aborted) await once(released.signal, 'abort');
    yield* encodeSpeech(format, joined(first, chunks), options);
  };
  return { encodeLater, release: () => released.abort() };
}

async function* joined<Chunk>(
  first: IteratorResult<Chunk>,
  rest: AsyncIterable<Chunk>,
): AsyncGenerator<Chunk> {
  if (first.done !== true) yield first.value;
  yield* rest;
}

describe('a job of another account', () => {
  it('is nothing, wherever it is asked for', async () => {
    const { call, create, ended } = await jobService();
    const id = await create();
    await ended(id);
    for (const path of [
      `${JOBS}/${id}`,
      `${JOBS}/${id}/audio`,
      `${JOBS}/${id}/segments/0`,
      `${JOBS_V1}/${id}`,
      `/api/open/tts/jobs/${id}/audio`,
    ]) {
      expect((await call(path)).status).toBeLessThan(400);
      const asked = await call(path, OTHER);
      const absent = await call(path.replace(id, 'absent'), OTHER);
      expect([path, ...Object.values(await codeAndText(asked, id))]).toEqual([
        path,
        ...Object.values(await codeAndText(absent, 'absent')),
      ]);
    }
  });

  it.each(['..%2f..%2fservice.db', '%00', 'x'.repeat(2_000), "' OR 1=1 --"])(
    'has no id such as %j',
    async (id) => {
      const { call } = await jobService();
      const response = await call(`${JOBS}/${id}/audio`);
      expect(await codeOf(response)).toEqual([404, 'ERR_JOB_NOT_FOUND']);
    },
  );
});

/** The two differ in their ids only. */
async function codeAndText(response: Response, id: string) {
  const { code, message } = Object(await response.json());
  return { status: response.status, code, message: String(message).replace(id, 'ID') };
}

describe('a job of v1', () => {
  it('has the fields of v1, before and after it is done', async () => {
    const { call, directed, ended } = await jobService();
    const release = directed.holdAt('said');
    const created = await call(JOBS_V1, jsonPost({ ...BODY, text: paragraphs('One', 'Two') }));
    expect(created.status).toBe(202);
    const first: unknown = await created.json();
    expect(Check(JobV1, first)).toBe(true);
    const { id } = Object(first).task;
    const cost = paragraphs('One', 'Two').length;
    expect(first).toEqual({
      task: {
        id,
        taskId: id,
        status: 'pending',
        audioUrl: null,
        delivery: { playbackUrl: null, downloadUrl: null, downloadReady: false },
      },
      record: { id, status: 'pending' },
      requestId: expect.any(String),
      quotaRemaining: 1_000_000 - cost,
      creditsUsed: cost,
    });
    expect(created.headers.get('Location')).toBe(`${JOBS_V1}/${id}`);
    expect(created.headers.get('Retry-After')).toBe('1');
    release();
    await ended(id);
    const done: unknown = await (await call(`${JOBS_V1}/${id}`)).json();
    expect(Check(JobV1, done)).toBe(true);
    const playbackUrl = `/api/open/tts/jobs/${id}/audio`;
    const segment = (index: number) => `${JOBS}/${id}/segments/${index}`;
    expect(Object(done).task).toEqual({
      id,
      taskId: id,
      status: 'success',
      audioUrl: playbackUrl,
      delivery: { playbackUrl, downloadUrl: `${playbackUrl}?download=1`, downloadReady: true },
      segments: [0, 1].map((index) => ({
        index,
        status: 'success',
        playbackUrl: segment(index),
      })),
    });
    expect((await call(segment(1))).status).toBe(200);
  });

  it('takes the old name of the voice, and leaves alone what it does not know', async () => {
    const { call, directed } = await jobService();
    const { voiceId, ...rest } = BODY;
    const post = (body: object) => call(JOBS_V1, jsonPost({ ...rest, ...body }));
    expect((await post({ reference_id: voiceId, cache: true, token: 1 })).status).toBe(202);
    expect((await post({ voiceId, reference_id: 'unknown' })).status).toBe(202);
    await expect.poll(() => directed.texts.length).toBe(2);
    const nobody = await post({});
    expect(nobody.status).toBe(400);
    expect(await nobody.json()).toMatchObject({ message: 'voiceId is missing; it is required' });
    expect((await post({ voiceId, speed: 3 })).status).toBe(400);
  });

  it('says what failed', async () => {
    const { create, call, directed, ended } = await jobService();
    directed.failAt('Hello');
    const id = await create();
    await ended(id);
    expect(await (await call(`${JOBS_V1}/${id}`)).json()).toMatchObject({
      task: { status: 'fail', audioUrl: null, error: { code: 'ERR_GENERATION_FAILED' } },
      record: { status: 'fail' },
      creditsUsed: 0,
    });
  });

  it('leads to its audio by a link that needs no key', async () => {
    const { call, create, ended, service, bytes } = await jobService();
    const id = await create();
    await ended(id);
    const audio = await bytes(`${JOBS}/${id}/audio`);
    for (const [query, kind] of [
      ['', 'inline'],
      ['?download=1', 'attachment'],
    ]) {
      const response = await call(`/api/open/tts/jobs/${id}/audio${query}`);
      expect(response.status).toBe(302);
      const location = new URL(response.headers.get('Location') ?? '', BASE_URL);
      const stored = await service.fetch(new Request(location));
      expect(stored.status).toBe(200);
      expect(stored.headers.get('Content-Disposition')).toBe(`${kind}; filename="${id}.wav"`);
      expect(Buffer.from(await stored.arrayBuffer())).toEqual(audio);
    }
  });
});

/** A job with the link that leads to its audio. */
async function linked() {
  const jobs = await jobService();
  const id = await jobs.create();
  await jobs.ended(id);
  const response = await jobs.call(`/api/open/tts/jobs/${id}/audio`);
  const link = new URL(response.headers.get('Location') ?? '', BASE_URL);
  return { ...jobs, id, link };
}

describe('a signed link', () => {
  it('is good for five minutes', async () => {
    const { clock, service, link } = await linked();
    clock.advance(299_000);
    expect((await service.fetch(new Request(link))).status).toBe(200);
    clock.advance(2_000);
    const late = await service.fetch(new Request(link));
    expect(await codeOf(late)).toEqual([403, 'ERR_FORBIDDEN']);
  });

  it('is good at another service with the same data, and nowhere else', async () => {
    const { store, link } = await linked();
    const same = await jobService({ store });
    expect((await same.service.fetch(new Request(link))).status).toBe(200);
    const stranger = await jobService();
    expect((await stranger.service.fetch(new Request(link))).status).toBe(403);
  });

  it.each([
    ['a later end', (link: URL) => link.searchParams.set('expires', '99999999999')],
    ['another proof', (link: URL) => link.searchParams.set('signature', 'x'.repeat(43))],
    ['a shorter proof', (link: URL) => link.searchParams.set('signature', 'x')],
    ['another way of giving it', (link: URL) => link.searchParams.set('download', '1')],
  ])('is refused with %s', async (_name, change) => {
    const { service, link } = await linked();
    change(link);
    expect(await codeOf(await service.fetch(new Request(link)))).toEqual([403, 'ERR_FORBIDDEN']);
  });

  it('is no request with its end in another spelling', async () => {
    const { service, link } = await linked();
    link.searchParams.set('expires', `0${link.searchParams.get('expires')}`);
    expect(await codeOf(await service.fetch(new Request(link)))).toEqual([
      400,
      'ERR_INVALID_REQUEST',
    ]);
  });

  it('is refused for another job', async () => {
    const { service, link, id, create, ended } = await linked();
    const other = await create();
    await ended(other);
    link.pathname = link.pathname.replace(id, other);
    expect(await codeOf(await service.fetch(new Request(link)))).toEqual([403, 'ERR_FORBIDDEN']);
  });

  it.each(['expires', 'signature'])('is no request without its %s', async (name) => {
    const { service, link } = await linked();
    link.searchParams.delete(name);
    expect((await service.fetch(new Request(link))).status).toBe(400);
  });
});
