import { describe, expect, test } from 'vitest';
import { firstVoiceId, startServe } from '../binary/support/serve.ts';
import type { ServingFoley } from '../binary/support/serve.ts';

const V3 = '/api/open/v3';
const TEXT = 'A sound that is stored.';

/** What leads to a stored file of each kind: its path, which needs no other request. */
const KINDS: Readonly<Record<string, (serving: ServingFoley) => Promise<string>>> = {
  'the audio of a job': (serving) => jobPath(serving, 'audio'),
  'a segment of a job': (serving) => jobPath(serving, 'segments/0'),
  'the signed address of a job': async (serving) => {
    const { headers } = await serving.ask(
      (await jobPath(serving, 'audio')).replace(`${V3}/speech`, '/api/open'),
    );
    return String(headers['location']);
  },
  'cached speech': async (serving) => {
    const body = { text: TEXT, voiceId: await firstVoiceId(serving), cache: true };
    const { audio_url } = await json(serving, '/api/open/v1/speech/tts', body);
    return pathOf(String(audio_url));
  },
  'the preview of a voice design': async (serving) => {
    const body = { prompt: 'A calm voice of a woman', previewText: `${TEXT} `.repeat(5).trim() };
    const { candidates } = await json(serving, '/api/open/v1/voice-designs', body);
    return String(Object(candidates)[0].previewAudioUrl);
  },
  'the result of an image job': async (serving) => {
    const body = { prompt: 'A quiet harbour', model: 'altG-image-1' };
    const { data } = await json(serving, '/api/open/v1/media/images/jobs', body);
    const job = await ended(serving, `/api/open/v1/media/images/jobs/${String(Object(data).id)}`);
    return pathOf(String(job['result_url']));
  },
};

describe.each(Object.entries(KINDS))('%s', (_kind, find) => {
  test('can be asked for in parts, and only for its headers', async () => {
    const serving = await startServe();
    const path = await find(serving);
    const ask = (headers: Readonly<Record<string, string>>) => serving.ask(path, { headers });
    const { bytes, headers: whole } = await ask({});
    const size = bytes.length;
    expect(whole).toMatchObject({ 'accept-ranges': 'bytes', 'content-length': String(size) });
    const etag = String(whole['etag']);
    expect(etag).toMatch(/^"[^"]+"$/);

    const head = await serving.ask(path, { method: 'HEAD', headers: { Range: 'bytes=0-9' } });
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    expect(head.headers).toMatchObject({
      'accept-ranges': 'bytes',
      'content-length': String(size),
      etag,
    });

    for (const [range, start, end] of [
      ['bytes=0-0', 0, 1],
      ['bytes=10-19', 10, 20],
      [`bytes=100-`, 100, size],
      ['bytes=-7', size - 7, size],
      [`bytes=5-${size * 2}`, 5, size],
      [`bytes=-${size * 2}`, 0, size],
    ] as const) {
      const part = await ask({ Range: range });
      expect([range, part.status]).toEqual([range, 206]);
      expect(part.headers).toMatchObject({
        'content-length': String(end - start),
        'content-range': `bytes ${start}-${end - 1}/${size}`,
        'content-type': whole['content-type'],
        etag,
      });
      expect(part.bytes.equals(bytes.subarray(start, end))).toBe(true);
    }

    for (const range of ['bytes=5-2', 'bytes=0-1,4-5', 'items=0-1', 'bytes=-', 'bytes=a-b']) {
      const answer = await ask({ Range: range });
      expect([range, answer.status, answer.bytes.length]).toEqual([range, 200, size]);
    }

    for (const range of [`bytes=${size}-`, 'bytes=-0', `bytes=${'9'.repeat(40)}-`]) {
      const beyond = await ask({ Range: range });
      expect([range, beyond.status]).toEqual([range, 416]);
      expect(beyond.headers['content-range']).toBe(`bytes */${size}`);
      expect(JSON.parse(beyond.bytes.toString())).toMatchObject({
        code: 'ERR_RANGE_NOT_SATISFIABLE',
      });
    }

    const same = await ask({ Range: 'bytes=0-1', 'If-Range': etag });
    expect(same.status).toBe(206);
    for (const other of ['"another"', `W/${etag}`, 'Wed, 21 Oct 2015 07:28:00 GMT']) {
      const answer = await ask({ Range: 'bytes=0-1', 'If-Range': other });
      expect([other, answer.status, answer.bytes.length]).toEqual([other, 200, size]);
    }
    const known = await ask({ 'If-None-Match': `"x", W/${etag}` });
    expect([known.status, known.bytes.length, known.headers['etag']]).toEqual([304, 0, etag]);
  });
});

async function jobPath(serving: ServingFoley, what: string): Promise<string> {
  const body = { text: TEXT, voiceId: await firstVoiceId(serving) };
  const { task } = await json(serving, `${V3}/speech/tts/jobs`, body);
  const path = `${V3}/speech/tts/jobs/${String(Object(task).taskId)}`;
  await ended(serving, path);
  return `${path}/${what}`;
}

async function json(
  { ask }: ServingFoley,
  path: string,
  body: unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const headers = { 'Idempotency-Key': 'one' };
  const { bytes, status } = await ask(path, { method: 'POST', body, headers });
  expect(status, bytes.toString()).toBeLessThan(300);
  return Object(JSON.parse(bytes.toString()));
}

/** Polls a job until it succeeded. */
async function ended(
  { ask }: ServingFoley,
  path: string,
): Promise<Readonly<Record<string, unknown>>> {
  const look = async (): Promise<Readonly<Record<string, unknown>>> => {
    const body: unknown = JSON.parse((await ask(path)).bytes.toString());
    const { data, task } = Object(body);
    return Object(task ?? data);
  };
  await expect.poll(async () => (await look())['status']).toMatch(/^(success|completed)$/);
  return look();
}

function pathOf(address: string): string {
  const { pathname, search } = new URL(address);
  return pathname + search;
}
