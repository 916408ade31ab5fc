import { Value } from 'typebox/value';
import { expect, test } from 'vitest';
import { request } from 'undici';
import { ErrorBody } from '../../../src/contract/error-body.ts';
import { Capabilities } from '../../../src/contract/models.ts';
import { Profile } from '../../../src/contract/account.ts';
import { VoiceAnswer, VoiceList } from '../../../src/contract/voices.ts';
import { decodeAudio, isSilent } from '../../harness/decode-audio.ts';
import { unavailable } from '../../fault-server/catalogue.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import {
  CAPABILITIES_PATH,
  healthyService,
  PROFILE_PATH,
  SPEECH_PATH,
  VOICES,
  VOICES_PATH,
} from '../../fault-server/healthy-service.ts';
import type { Rule } from '../../fault-server/script.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';

const audio = await tinyAudio();
const [voice] = VOICES;

async function start(faults: readonly Rule[] = [], key?: string) {
  const healthy = healthyService({ audio, ...(key === undefined ? {} : { key }) });
  const server = await startFaultServer([...faults, ...healthy]);
  const headers = { Authorization: 'Bearer some-key', 'Content-Type': 'application/json' };
  return {
    server,
    get: async (path: string, more = {}) =>
      request(server.origin + path, { headers: { ...headers, ...more } }),
    speak: async (body: unknown, more = {}) =>
      request(server.origin + SPEECH_PATH, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  };
}

test.each([
  [CAPABILITIES_PATH, Capabilities],
  [VOICES_PATH, VoiceList],
  [`${VOICES_PATH}/${voice.voiceId}`, VoiceAnswer],
  [PROFILE_PATH, Profile],
])('GET %s answers as the contract has it', async (path, schema) => {
  const { get } = await start();
  const { statusCode, body } = await get(path);
  expect(statusCode).toBe(200);
  expect([...Value.Errors(schema, await body.json())]).toStrictEqual([]);
});

test.each(['mp3', 'ogg', 'wav'] as const)(
  'speech comes as %s that can be heard',
  async (format) => {
    const { speak } = await start();
    const answer = await speak(
      { text: 'Hi 👋', voiceId: voice.voiceId, format, speed: 1.5 },
      { 'X-Request-Id': 'mine' },
    );
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': audio[format].type,
      'x-request-id': 'mine',
      'x-openapi-credits-used': '4',
    });
    const decoded = await decodeAudio(Buffer.from(await answer.body.arrayBuffer()));
    expect(decoded.format).toBe(format);
    expect(isSilent(decoded)).toBe(false);
  },
);

test.each([
  ['not JSON', '{', 400],
  ['an unknown property', { text: 'x', voiceId: voice.voiceId, token: 'x' }, 400],
  ['no text', { text: '', voiceId: voice.voiceId }, 400],
  ['a speed that is too high', { text: 'x', voiceId: voice.voiceId, speed: 2.5 }, 400],
  ['a flag that is a word', { text: 'x', voiceId: voice.voiceId, filterEmoji: 'true' }, 400],
  ['another voice’s model', { text: 'x', voiceId: voice.voiceId, modelId: 'altF-flash-v2.5' }, 400],
  ['a format of no model', { text: 'x', voiceId: voice.voiceId, format: 'flac' }, 400],
  ['an unknown voice', { text: 'x', voiceId: 'nobody' }, 404],
] as const)('speech of %s is refused in the envelope', async (_name, body, status) => {
  const { speak } = await start();
  const answer = await speak(body);
  expect(answer.statusCode).toBe(status);
  expect([...Value.Errors(ErrorBody, await answer.body.json())]).toStrictEqual([]);
});

test('everything but the public documents needs the right key', async () => {
  const { get, speak } = await start([], 'some-key');
  const wrong = { Authorization: 'Bearer other' };
  const none = { Authorization: '' };
  expect((await get(CAPABILITIES_PATH, none)).statusCode).toBe(200);
  expect((await get(VOICES_PATH)).statusCode).toBe(200);
  const refused = [
    await get(VOICES_PATH, wrong),
    await get(PROFILE_PATH, none),
    await speak({ text: 'x', voiceId: voice.voiceId }, wrong),
  ];
  expect(refused.map(({ statusCode }) => statusCode)).toStrictEqual([401, 401, 401]);
});

test('voices come in pages, personal ones when asked for', async () => {
  const { get } = await start();
  const list = async (query: string) => (await get(`${VOICES_PATH}?${query}`)).body.json();
  expect(await list('')).toMatchObject({ total: 1, items: [{ name: 'Nadia' }] });
  expect(await list('includePersonal=true&page=2&pageSize=1')).toMatchObject({
    total: 2,
    totalPages: 2,
    items: [{ name: 'Tomas' }],
  });
});

test('one fault stands before a healthy service', async () => {
  const { server, speak } = await start([
    { method: 'POST', path: SPEECH_PATH, times: 1, answer: unavailable('0') },
  ]);
  const speech = { text: 'x', voiceId: voice.voiceId };
  expect((await speak(speech)).statusCode).toBe(503);
  expect((await speak(speech)).statusCode).toBe(200);
  expect(server.requests).toHaveLength(2);
});
