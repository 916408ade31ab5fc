import { expect, test } from 'vitest';
import { getCapabilities, modelCheck } from '../../src/api/resources/models.ts';
import { getProfile, updateProfile } from '../../src/api/resources/profile.ts';
import { allVoices, getVoice, listVoices } from '../../src/api/resources/voices.ts';
import { failureOf, newClient } from './new-client.ts';
import type { RawServer } from './raw-server.ts';
import { errorReply, rawServer, reply } from './raw-server.ts';

const VOICE = {
  voiceId: 'v-1',
  name: 'Ada',
  isPersonal: false,
  primaryLanguage: 'en',
  languages: ['en'],
  modelIds: ['m-1'],
};
const MODEL = {
  id: 'm-1',
  available: true,
  maxTextLength: 500,
  outputFormats: ['mp3'],
  controls: { speed: true },
  supportedOperations: { synchronous: true },
};
const CAPABILITIES = { contractVersion: '3', route: '/api/open/v3/speech/tts', models: [MODEL] };

/** Starts a server that sends one JSON document for every request. */
function answering(body: unknown): Promise<RawServer> {
  return rawServer((socket) => socket.write(json(body)));
}

function json(body: unknown): Buffer {
  return reply(200, { 'content-type': 'application/json; charset=utf-8' }, JSON.stringify(body));
}

test('a page of voices has the unchanged body too', async () => {
  const body = {
    total: 1,
    page: 2,
    pageSize: 5,
    totalPages: 2,
    items: [{ ...VOICE, mood: 'calm' }],
    requestId: 'r',
  };
  const server = await answering(body);
  const { client } = newClient(server.url);
  const { raw, value } = await listVoices(client, { page: 2, pageSize: 5, includePersonal: true });
  expect(server.requests[0]?.path).toBe(
    '/api/open/v3/voices?page=2&pageSize=5&includePersonal=true',
  );
  expect(value).toEqual({ ...body, items: [VOICE] });
  expect(raw).toEqual(body);
});

test('all voices are requested page by page, up to the last', async () => {
  const server = await rawServer((socket, _request, index) =>
    socket.write(
      json({
        total: 3,
        page: index + 1,
        pageSize: 100,
        totalPages: 3,
        items: [{ ...VOICE, voiceId: `v-${index}` }],
        requestId: 'r',
      }),
    ),
  );
  const { client } = newClient(server.url);
  const ids: string[] = [];
  for await (const { raw, voice } of allVoices(client)) {
    expect(raw).toMatchObject({ voiceId: voice.voiceId });
    ids.push(voice.voiceId);
  }
  expect(ids).toEqual(['v-0', 'v-1', 'v-2']);
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/api/open/v3/voices?page=1&pageSize=100',
    '/api/open/v3/voices?page=2&pageSize=100',
    '/api/open/v3/voices?page=3&pageSize=100',
  ]);
});

test('listing stops at the first empty page', async () => {
  const server = await rawServer((socket, _request, index) =>
    socket.write(json({ totalPages: 1e9, items: index === 0 ? [VOICE] : [] })),
  );
  const { client } = newClient(server.url);
  const voices: unknown[] = [];
  for await (const item of allVoices(client)) voices.push(item);
  expect(voices).toHaveLength(1);
  expect(server.requests).toHaveLength(2);
});

test('one voice is requested with its id percent-encoded', async () => {
  const server = await answering({ ...VOICE, requestId: 'r' });
  const { client } = newClient(server.url);
  expect((await getVoice(client, 'v-1')).value).toEqual(VOICE);
  for (const id of ['a/b?c#d', '%2e%2e', 'ä ö']) await getVoice(client, id);
  expect(server.requests.map(({ path }) => path.replace('/api/open/v3/voices/', ''))).toEqual([
    'v-1',
    'a%2Fb%3Fc%23d',
    '%252e%252e',
    '%C3%A4%20%C3%B6',
  ]);
});

test.each(['', '.', '..'])('the id "%s" is refused before a request', async (id) => {
  const server = await answering(VOICE);
  const { client } = newClient(server.url);
  expect(await failureOf((async () => getVoice(client, id))())).toMatchObject({ exit: 'usage' });
  expect(server.requests).toHaveLength(0);
});

test('optional fields of a voice may be missing', async () => {
  const server = await answering({ voiceId: 'v-1', languages: null });
  const { client } = newClient(server.url);
  expect((await getVoice(client, 'v-1')).value).toEqual({
    voiceId: 'v-1',
    name: 'v-1',
    isPersonal: false,
    primaryLanguage: '',
    languages: [],
    modelIds: [],
  });
});

test.each([
  ['a list that is none', { items: {} }],
  ['an item that is none', { items: [null] }],
  ['an item without an id', { items: [{ name: 'Ada' }] }],
  ['languages that are none', { items: [{ ...VOICE, languages: [1] }] }],
  ['a text', 'voices'],
])('voices with %s are an unusable response', async (_name, body) => {
  const server = await answering(body);
  const { client } = newClient(server.url);
  expect(await failureOf(listVoices(client))).toMatchObject({
    exit: 'badAnswer',
    requestId: 'id-1',
  });
});

test('capabilities need no key, and missing fields get defaults', async () => {
  const server = await answering(CAPABILITIES);
  const { client } = newClient(server.url, { address: { apiKey: undefined } });
  const { value } = await getCapabilities(client);
  expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
  expect(value.models).toEqual([
    {
      ...MODEL,
      controls: { speed: true, volume: false, pitch: false, stability: false, similarity: false },
      supportedOperations: { synchronous: true, asynchronous: false, alignedStreaming: false },
    },
  ]);
});

test.each([
  ['is there', json(CAPABILITIES), 'm-1', true],
  ['is not listed', json(CAPABILITIES), 'm-2', false],
  [
    'is switched off',
    json({ ...CAPABILITIES, models: [{ ...MODEL, available: false }] }),
    'm-1',
    false,
  ],
  ['is unknown without capabilities', errorReply(503, 'ERR_MODEL_UNAVAILABLE'), 'm-1', undefined],
])('a model %s', async (_name, answer, modelId, expected) => {
  const server = await rawServer((socket) => socket.write(answer));
  const { client } = newClient(server.url);
  expect(await modelCheck(client, modelId, undefined)?.()).toBe(expected);
  expect(server.requests).toHaveLength(1);
});

test('the profile keeps unknown fields', async () => {
  const profile = { user_id: 'u', api_quota_remaining: 3, tier: 'pro', credits: 1.5, plan: 'x' };
  const server = await answering(profile);
  const { client } = newClient(server.url);
  expect((await getProfile(client)).value).toEqual(profile);
  await updateProfile(client, { webhookUrl: 'https://hook.example/' });
  expect(server.requests[1]).toMatchObject({
    method: 'POST',
    path: '/api/open/v1/profile',
    body: '{"webhookUrl":"https://hook.example/"}',
  });
});

test('a profile without credits is an unusable response', async () => {
  const server = await answering({ user_id: 'u', api_quota_remaining: 3, tier: 'pro' });
  const { client } = newClient(server.url);
  expect(await failureOf(getProfile(client))).toMatchObject({ exit: 'badAnswer' });
});
