import { describe, expect, test } from 'vitest';
import { createVoice, voiceUpload } from '../../src/api/resources/voices.ts';
import {
  createVoiceDesign,
  designRequest,
  saveDesignRequest,
  saveVoiceDesign,
} from '../../src/api/resources/designs.ts';
import { failureOf, newClient } from './new-client.ts';
import { rawServer, reply } from './raw-server.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const KEY = { idempotencyKey: { value: 'key-1', madeByTool: true } };
const CHOICE = { designId: 'd-1', candidateId: 'c-1', name: 'Ada' };
const ORDER = { prompt: 'Low', previewText: 'Hi' };

async function clientOf(body: unknown) {
  const text = JSON.stringify(body);
  const server = await rawServer((socket) => socket.write(reply(200, JSON_TYPE, text)));
  return newClient(server.url).client;
}

describe('a created voice is read in either form', () => {
  test.each<[unknown, object]>([
    [
      { voiceId: 'v', title: 'Ada', description: '', createdAt: '2026-01-01T00:00:00Z' },
      { voiceId: 'v', name: 'Ada', createdAt: '2026-01-01T00:00:00Z' },
    ],
    [
      { voiceId: 'v', name: 'Ada', isPersonal: true, requestId: 'r' },
      { voiceId: 'v', name: 'Ada', createdAt: undefined, requestId: 'r' },
    ],
    [
      { id: 'v', name: 'Ada', provider: 'vendor' },
      { voiceId: 'v', name: 'Ada' },
    ],
    [
      { voice: { id: 'v' }, creditsUsed: 3 },
      { voiceId: 'v', name: undefined, creditsUsed: 3 },
    ],
    [{ data: { voiceId: 'v', created_at: 'x' } }, { voiceId: 'v', createdAt: 'x' }],
    [{ voiceId: 'v', designId: 'd-1', candidateId: 'c-1' }, { voiceId: 'v' }],
  ])('%j', async (body, voice) => {
    const client = await clientOf(body);
    const upload = voiceUpload({ name: 'Ada', audioFiles: [] }, 'boundary');
    expect(await createVoice(client, upload, {})).toMatchObject({ ...voice, raw: body });
    expect(await saveVoiceDesign(client, saveDesignRequest(CHOICE, KEY))).toMatchObject(voice);
  });

  test.each<[unknown]>([
    [{}],
    [[{ voiceId: 'v' }]],
    [null],
    ['v'],
    [{ voiceId: '' }],
    [{ voiceId: 7 }],
    [{ designId: 'd-1', candidateId: 'c-1' }],
  ])('%j names no voice, but one may have been created', async (body) => {
    const client = await clientOf(body);
    const upload = voiceUpload({ name: 'Ada', audioFiles: [] }, 'boundary');
    const calls = [
      () => createVoice(client, upload, {}),
      () => saveVoiceDesign(client, saveDesignRequest(CHOICE, KEY)),
    ];
    for (const call of calls) {
      expect(await failureOf(call())).toMatchObject({ exit: 'badAnswer', billed: 'unknown' });
    }
  });
});

describe('a design', () => {
  test.each<[unknown, object]>([
    [
      { designId: 'd', candidates: [{ candidateId: 'c', previewAudioUrl: '/p' }] },
      { designId: 'd', candidates: [{ candidateId: 'c', previewAudioUrl: '/p' }] },
    ],
    [
      { design: { id: 'd', candidates: [{ id: 'c' }] }, billing: { creditsUsed: 2 } },
      { designId: 'd', candidates: [{ candidateId: 'c' }], creditsUsed: 2 },
    ],
    [
      { designId: 'd', candidates: [], expiresAt: 'x' },
      { designId: 'd', expiresAt: 'x' },
    ],
  ])('%j is read', async (body, design) => {
    expect(await createVoiceDesign(await clientOf(body), designRequest(ORDER, KEY))).toMatchObject(
      design,
    );
  });

  test.each<[unknown]>([
    [{ candidates: [] }],
    [{ designId: 'd' }],
    [{ designId: 'd', candidates: [{ previewAudioUrl: '/p' }] }],
    [{ designId: 'd', candidates: ['c'] }],
    [{ designId: 'd', candidates: {} }],
    [[]],
  ])('%j is unusable, and may have been billed', async (body) => {
    const made = createVoiceDesign(await clientOf(body), designRequest(ORDER, KEY));
    expect(await failureOf(made)).toMatchObject({ exit: 'badAnswer', billed: 'unknown' });
  });
});
