import { describe, expect, it } from 'vitest';
import { VOICES } from '../../../src/service/voices/catalogue-voice.ts';
import { jsonPost, OTHER_KEY } from '../support/test-service.ts';
import { storeVoice } from '../../../src/service/voices/personal-voices.ts';
import type { PersonalVoice } from '../../../src/service/voices/personal-voices.ts';
import type { TemporaryFile } from '../../../src/service/http/multipart-form.ts';
import { recording, upload } from './form.ts';
import type { VoiceService } from './voice-service.ts';
import { voiceService } from './voice-service.ts';

const V1 = '/api/open/v1/voices';
const V3 = '/api/open/v3/voices';
const other = { Authorization: `Bearer ${OTHER_KEY}` };

async function items(
  { call }: Pick<VoiceService, 'call'>,
  path: string,
  headers: Record<string, string> = {},
): Promise<readonly Record<string, unknown>[]> {
  const separator = path.includes('?') ? '&' : '?';
  const response = await call(`${path}${separator}pageSize=100`, { headers });
  expect(response.status).toBe(200);
  return Object(await response.json()).items;
}

const idsOf = (list: readonly Record<string, unknown>[]) => list.map(({ voiceId }) => voiceId);

async function code(answer: Promise<Response>): Promise<readonly unknown[]> {
  const response = await answer;
  return [response.status, Object(await response.json()).code];
}

describe('a voice that is made', () => {
  it('is answered in the fields of v1, and says what it is', async () => {
    const service = await voiceService();
    const fields = {
      description: 'From a tape',
      languages: '["de","en-GB"]',
      visibility: 'public',
    };
    const voice = await service.make(fields);
    expect(voice).toEqual({
      voiceId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      title: 'Ada',
      description: 'From a tape',
      notices: [
        expect.stringMatching(
          /^Simulated, not a clone of the speaker: the built-in voice at about 1\d\d Hz, formants at \d\d %/,
        ),
      ],
      createdAt: new Date(service.clock.now()).toISOString(),
      id: voice['voiceId'],
      name: 'Ada',
      provider: 'vendor',
      isPersonal: true,
      visibility: 'public',
      languages: ['en-GB'],
    });
  });

  it('is the same for the same audio, and another for another', async () => {
    const service = await voiceService();
    const create = (medianHz: number) =>
      service.call(V1, upload({ name: 'Ada' }, [recording({ medianHz, seconds: 1 })]));
    for (const medianHz of [110, 110, 220]) expect((await create(medianHz)).status).toBe(200);
    const [first, again, different] = service.store.read((db) =>
      db.all('SELECT engine, engine_voice, pitch, speed FROM personal_voice ORDER BY number'),
    );
    expect(again).toEqual(first);
    expect(different).not.toEqual(first);
  });

  it('is in every list of its account behind the public ones, where personal voices are asked for', async () => {
    const service = await voiceService();
    const { voiceId } = await service.make();
    expect(idsOf(await items(service, V3))).not.toContain(voiceId);
    expect(idsOf(await items(service, V1))).not.toContain(voiceId);
    for (const path of [
      `${V3}?includePersonal=true`,
      `${V1}?modelType=all`,
      `${V1}?includePersonal=true`,
    ]) {
      const list = await items(service, path);
      expect(list).toHaveLength(VOICES.length + 1);
      expect(list.at(-1)).toMatchObject({ voiceId, isPersonal: true });
    }
    expect(
      idsOf(await items(service, `${V1}?modelType=personal&search=ADA&supportsLanguage=en`)),
    ).toEqual([voiceId]);
    expect(await items(service, `${V1}?modelType=personal&language=de`)).toEqual([]);
    const compat = Object(await (await service.call('/v1/audio/voices')).json()).voices;
    expect(compat.at(-1)).toEqual({ id: voiceId, name: 'Ada' });
    expect((await service.call(`${V3}/${String(voiceId)}`)).status).toBe(200);
  });

  it('is not there for another account, unless it is public', async () => {
    const service = await voiceService();
    const own = await service.make();
    const shared = await service.make({ visibility: 'public' });
    const list = await items(service, `${V3}?includePersonal=true`, other);
    expect(idsOf(list)).not.toContain(own['voiceId']);
    expect(list.find(({ voiceId }) => voiceId === shared['voiceId'])).toMatchObject({
      isPersonal: false,
    });
    const say = (voiceId: unknown) =>
      service.speak({ text: 'Hello.', voiceId }, other).then(({ status }) => status);
    expect(await say(own['voiceId'])).toBe(404);
    expect(await say(shared['voiceId'])).toBe(200);
    const remove = service.call(`${V1}/${String(shared['voiceId'])}`, {
      method: 'DELETE',
      headers: other,
    });
    expect(await code(remove)).toEqual([404, 'ERR_VOICE_NOT_FOUND']);
  });

  it('speaks on every surface', async () => {
    const service = await voiceService();
    const { voiceId } = await service.make();
    const text = 'Hello there.';
    const surfaces = [
      ['/api/open/v3/speech/tts', { text, voiceId }],
      ['/api/open/v3/speech/tts/aligned', { text, voiceId }],
      ['/api/open/v2/speech/tts', { text, voiceId }],
      ['/api/open/v1/speech/tts', { text, reference_id: voiceId }],
      ['/api/open/v1/speech/tts', { text, voiceId, cache: true }],
      ['/v1/tts', { text, reference_id: voiceId }],
      ['/v1/audio/speech', { input: text, voice: voiceId, model: 'vendor-s21pro-flash' }],
    ] as const;
    for (const [path, body] of surfaces) {
      const response = await service.call(path, jsonPost(body));
      expect([path, response.status]).toEqual([path, 200]);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
    const job = await service.call('/api/open/v3/speech/tts/jobs', jsonPost({ text, voiceId }));
    const { taskId } = Object(await job.json()).task;
    const status = async () =>
      Object(await (await service.call(`/api/open/v3/speech/tts/jobs/${taskId}`)).json()).task
        .status;
    await expect.poll(status).toBe('success');
  });

  it('is there for every service on the same data, and after its own has ended', async () => {
    const first = await voiceService();
    const second = await voiceService({ store: first.store });
    const { voiceId } = await first.make();
    expect((await second.speak({ text: 'Hello.', voiceId })).status).toBe(200);
    await first.service.close();
    const third = await voiceService({ store: first.store });
    expect((await third.speak({ text: 'Hello.', voiceId })).status).toBe(200);
    const remove = await second.call(`${V3}/${String(voiceId)}`, { method: 'DELETE' });
    expect(await remove.json()).toEqual({ voiceId });
    expect(await code(third.speak({ text: 'Hello.', voiceId }))).toEqual([
      404,
      'ERR_VOICE_NOT_FOUND',
    ]);
  });

  it('cannot be deleted while a job needs it, and what was spoken keeps its id', async () => {
    const service = await voiceService();
    const { voiceId } = await service.make();
    const release = service.engine.holdBefore(0);
    const jobs = '/api/open/v3/speech/tts/jobs';
    const created = await service.call(jobs, jsonPost({ text: 'Hello.', voiceId }));
    const { taskId } = Object(await created.json()).task;
    const remove = () => service.call(`${V1}/${String(voiceId)}`, { method: 'DELETE' });
    expect(await code(remove())).toEqual([409, 'ERR_VOICE_IN_USE']);
    release();
    const read = async () => Object(await (await service.call(`${jobs}/${taskId}`)).json()).task;
    await expect.poll(async () => (await read()).status).toBe('success');
    expect((await remove()).status).toBe(200);
    expect(await read()).toMatchObject({ status: 'success', voiceId });
    expect((await service.call(`${jobs}/${taskId}/audio`)).status).toBe(200);
    expect(await code(service.call(jobs, jsonPost({ text: 'Hello.', voiceId })))).toEqual([
      404,
      'ERR_VOICE_NOT_FOUND',
    ]);
  });
});

describe('a client that leaves', () => {
  it('while its voice is being made gets none, and none is kept', async () => {
    const service = await voiceService();
    const release = service.engine.holdBefore(0);
    const leaving = new AbortController();
    const asked = service.call(V1, { ...form(), signal: leaving.signal });
    await expect.poll(() => service.engine.requests.length).toBeGreaterThan(0);
    leaving.abort();
    release();
    await asked;
    expect(service.store.read((db) => db.all('SELECT * FROM personal_voice'))).toEqual([]);
    expect(service.events.filter(({ type }) => type === 'failure')).toEqual([]);
    await service.make();
  });
});

describe('a disk that is full', () => {
  it.each([
    ['at once', { create: () => Promise.reject(full()), withCopy: noCopy }],
    ['on the way', { create: () => Promise.resolve(writtenTo()), withCopy: noCopy }],
  ])(
    '%s is not a fault of the form: 507, reported to the operator of the service',
    async (_when, uploads) => {
      const service = await voiceService({ uploads });
      expect(await code(service.call(V1, form()))).toEqual([507, 'ERR_STORAGE_FULL']);
      expect(service.events.filter(({ type }) => type === 'failure')).toMatchObject([
        { error: { code: 'ENOSPC' } },
      ]);
    },
  );
});

describe('an account', () => {
  it('may not have more than a hundred voices, and may again when it has deleted one', async () => {
    const service = await voiceService();
    const { voiceId } = await service.make();
    const [made] = service.store.read((db) => db.all('SELECT id FROM personal_voice'));
    expect(made).toEqual({ id: voiceId });
    service.store.write((db) => {
      for (let number = 1; number < 100; number += 1) {
        storeVoice(db, filler(`filler-${number}`, service.clock.now()));
      }
    });
    const before = await service.balance();
    const refused = service.call(V1, form());
    expect(await code(refused)).toEqual([402, 'ERR_VOICE_LIMIT_REACHED']);
    expect(await service.balance()).toEqual(before);
    await service.make({}, OTHER_KEY);
    await service.call(`${V1}/${String(voiceId)}`, { method: 'DELETE' });
    await service.make();
  });
});

function form(): RequestInit {
  return upload({ name: 'Ada' }, [recording({ medianHz: 150, seconds: 1 })]);
}

function filler(id: string, createdAt: number): PersonalVoice {
  return {
    id,
    name: id,
    family: 'vendor',
    primaryLanguage: 'en',
    languages: ['en'],
    engine: { name: 'hibari', voice: 'clara', pitch: 0, speed: 1 },
    made: { accountId: 'first', description: '', visibility: 'private', createdAt },
  };
}

function full(): Error {
  return Object.assign(new Error('no space left'), { code: 'ENOSPC' });
}

function noCopy(): Promise<never> {
  return Promise.reject(full());
}

function writtenTo(): TemporaryFile {
  return {
    fd: -1,
    size: 0,
    write: () => Promise.reject(full()),
    async *read() {},
    discard: async () => {},
  };
}
