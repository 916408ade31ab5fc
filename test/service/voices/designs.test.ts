import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { VoiceCandidate, VoiceDesign } from '../../../src/contract/voice-design.ts';
import { verifyLedger } from '../../../src/service/ledger/ledger.ts';
import { jsonPost } from '../support/test-service.ts';
import type { VoiceService } from './voice-service.ts';
import { voiceService } from './voice-service.ts';

const DESIGNS = '/api/open/v1/voice-designs';
const BODY = { prompt: 'An old woman with a low, calm voice', previewText: 'Hello there.' };
const PRICE = 3 * 12;
const DAY_MS = 24 * 60 * 60 * 1_000;

interface Told {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function told(answer: Promise<Response>): Promise<Told> {
  const response = await answer;
  return { status: response.status, body: Object(await response.json()) };
}

function design({ call }: VoiceService, key: string, body: unknown = BODY): Promise<Told> {
  return told(call(DESIGNS, jsonPost(body, { 'Idempotency-Key': key })));
}

async function made(
  service: VoiceService,
  key = 'key',
  body: unknown = BODY,
): Promise<VoiceDesign> {
  const answer = await design(service, key, body);
  expect([answer.status, answer.body]).toEqual([200, answer.body]);
  return Object(answer.body);
}

function save(
  { call }: VoiceService,
  designId: string,
  body: Readonly<Record<string, unknown>>,
  key = 'save',
): Promise<Told> {
  const init = jsonPost({ name: 'Ada', ...body }, { 'Idempotency-Key': key });
  return told(call(`${DESIGNS}/${designId}/voices`, init));
}

function candidateOf(candidates: VoiceDesign['candidates'], index: number): VoiceCandidate {
  const candidate = candidates[index];
  if (candidate === undefined) throw new Error(`there is no candidate ${index}`);
  return candidate;
}

const codeOf = ({ status, body }: Told) => [status, body['code']];

async function audioFolders({ dataDir }: VoiceService): Promise<readonly string[]> {
  return readdir(join(dataDir, 'audio')).catch(() => []);
}

describe('a voice design', () => {
  it('proposes three different voices, each with a preview, and reports its cost', async () => {
    const service = await voiceService();
    const before = await service.balance();
    const { billing, candidates } = await made(service);
    expect(billing).toEqual({
      characters: PRICE,
      creditsUsed: PRICE,
      quotaRemaining: before.quota - PRICE,
    });
    expect((await service.balance()).credits).toBe(before.credits - PRICE);
    const heard = await Promise.all(
      candidates.map(async ({ previewAudioUrl }) => {
        const preview = await service.call(previewAudioUrl);
        expect(preview.headers.get('Content-Type')).toBe('audio/mpeg');
        return Buffer.from(await preview.arrayBuffer()).toString('base64');
      }),
    );
    expect(new Set(heard).size).toBe(3);
    verifyLedger(service.store, { full: true });
  });

  it('follows the words of its prompt, and says what it is', async () => {
    const service = await voiceService();
    const described = async (key: string, prompt: string) =>
      (await made(service, key, { ...BODY, prompt })).candidates.map(
        ({ description }) => description,
      );
    const simulated = 'Simulated: the built-in voice at about';
    const words = 'from the words old, woman, slow, deep';
    expect(await described('one', 'An old woman, slow and deep')).toEqual([
      `${simulated} 142 Hz, formants at 94 %, pace at 70 %, darker by 0.4 dB per octave; ${words}`,
      `${simulated} 131 Hz, formants at 94 %, pace at 68 %, darker by 1 dB per octave; ${words}`,
      `${simulated} 154 Hz, formants at 94 %, pace at 73 %, brighter by 0.2 dB per octave; ${words}`,
    ]);
    const [young] = await described('two', 'A young man, fast and high');
    expect(young).toMatch(/about 142 Hz, .*, pace at 127 %/);
    const [plain] = await described('three', 'Anything');
    expect(plain).toBe(`${simulated} 152 Hz, formants at 93 %; no known word in the prompt`);
  });

  it('names in its notices what the voice cannot do, also in a replay', async () => {
    const service = await voiceService();
    const body = { ...BODY, prompt: 'A sad woman with a German accent' };
    for (const key of ['key', 'key']) {
      const { candidates, notices } = await made(service, key, body);
      expect(notices).toEqual([
        'Simulated: variations of the built-in voice in pitch, timbre, pace and brightness',
        'The built-in voice cannot do: sad, german, accent',
      ]);
      const { candidateId } = candidateOf(candidates, 0);
      expect(candidateOf(candidates, 0).description).toContain('cannot do: sad, german, accent');
      const { designId } = await made(service, key, body);
      const saved = await save(service, designId, { candidateId });
      expect(saved.body['notices']).toEqual([candidateOf(candidates, 0).description]);
    }
    const { notices } = await made(service, 'other', BODY);
    expect(notices).toHaveLength(1);
  });

  it('is of the families that are asked for, in turn', async () => {
    const service = await voiceService();
    const { candidates } = await made(service, 'key', { ...BODY, providers: ['altF', 'altA'] });
    expect(candidates.map(({ provider }) => provider)).toEqual(['altA', 'altF', 'altA']);
    const { candidateId } = candidateOf(candidates, 0);
    const { designId } = await made(service, 'key', { ...BODY, providers: ['altF', 'altA'] });
    const { body } = await save(service, designId, { candidateId });
    const { voiceId } = body;
    const speak = (modelId: string) =>
      service.speak({ text: 'Hi.', voiceId, modelId }).then(({ status }) => status);
    expect([await speak('altA-2.8-hd'), await speak('vendor-s21pro')]).toEqual([200, 400]);
  });

  it('is the same for the same key, and charged once', async () => {
    const service = await voiceService();
    const first = await made(service);
    const balance = await service.balance();
    expect({ ...(await made(service)), requestId: '' }).toEqual({ ...first, requestId: '' });
    expect(await service.balance()).toEqual(balance);
    expect(codeOf(await design(service, 'key', { ...BODY, prompt: 'A man' }))).toEqual([
      409,
      'ERR_REQUEST_ID_CONFLICT',
    ]);
  });

  it('is gone after a day, with its previews, for every endpoint', async () => {
    const service = await voiceService();
    const { designId, candidates, expiresAt } = await made(service);
    const { candidateId, previewAudioUrl } = candidateOf(candidates, 0);
    expect(Date.parse(expiresAt) - service.clock.now()).toBe(DAY_MS);
    service.clock.advance(DAY_MS - 1);
    expect((await service.call(previewAudioUrl)).status).toBe(200);
    service.clock.advance(1);
    const gone = [404, 'ERR_DESIGN_NOT_FOUND'];
    expect(codeOf(await told(service.call(previewAudioUrl)))).toEqual(gone);
    expect(codeOf(await save(service, designId, { candidateId }))).toEqual(gone);
    expect(codeOf(await design(service, 'key'))).toEqual([409, 'ERR_REQUEST_ALREADY_COMPLETED']);
    await expect.poll(() => audioFolders(service)).toEqual([]);
    expect(service.store.read((db) => db.all('SELECT * FROM voice_candidate'))).toEqual([]);
  });

  it('that fails is given back, and leaves nothing', async () => {
    const service = await voiceService();
    const before = await service.balance();
    await made(service);
    const folders = await audioFolders(service);
    service.engine.failBefore(0);
    expect(codeOf(await design(service, 'other'))).toEqual([500, 'ERR_GENERATION_FAILED']);
    expect((await service.balance()).credits).toBe(before.credits - PRICE);
    expect(codeOf(await design(service, 'other'))).toEqual([
      409,
      'ERR_REQUEST_PREVIOUSLY_REFUNDED',
    ]);
    expect(await audioFolders(service)).toEqual(folders);
    verifyLedger(service.store, { full: true });
  });

  it('with nothing to say or too little credit is refused, and its key stays free', async () => {
    const poor = await voiceService({ openingCredits: PRICE - 1 });
    expect(codeOf(await design(poor, 'key'))).toEqual([402, 'ERR_INSUFFICIENT_CREDITS']);
    const service = await voiceService();
    const mute = { ...BODY, previewText: '…' };
    expect(codeOf(await design(service, 'key', mute))).toEqual([400, 'ERR_INVALID_REQUEST']);
    await made(service);
  });

  it('belongs to its account', async () => {
    const service = await voiceService();
    const { candidates } = await made(service);
    const headers = { Authorization: 'Bearer other-key' };
    const { previewAudioUrl } = candidateOf(candidates, 0);
    expect(codeOf(await told(service.call(previewAudioUrl, { headers })))).toEqual([
      404,
      'ERR_DESIGN_NOT_FOUND',
    ]);
  });
});

describe('a candidate that is saved', () => {
  it('is a permanent voice, the same for the same key, and outlives the design', async () => {
    const service = await voiceService();
    const { designId, candidates } = await made(service);
    const { candidateId, description } = candidateOf(candidates, 1);
    const balance = await service.balance();
    const first = await save(service, designId, { candidateId, visibility: 'public' });
    expect(first.body).toMatchObject({
      title: 'Ada',
      visibility: 'public',
      designId,
      candidateId,
      description,
    });
    const again = await save(service, designId, { candidateId, visibility: 'public' });
    expect(again.body).toEqual(first.body);
    expect(await service.balance()).toEqual(balance);
    service.clock.advance(2 * DAY_MS);
    expect((await save(service, designId, { candidateId, visibility: 'public' })).body).toEqual(
      first.body,
    );
    const { voiceId } = first.body;
    expect((await service.speak({ text: 'Hello.', voiceId })).status).toBe(200);
    for (const id of [designId, candidateId]) {
      expect((await service.speak({ text: 'Hello.', voiceId: id })).status).toBe(404);
    }
    await service.call(`/api/open/v1/voices/${String(voiceId)}`, { method: 'DELETE' });
    const deleted = await save(service, designId, { candidateId, visibility: 'public' });
    expect(codeOf(deleted)).toEqual([409, 'ERR_REQUEST_ALREADY_COMPLETED']);
  });

  it('that is refused uses no key up', async () => {
    const service = await voiceService();
    const { designId, candidates } = await made(service);
    const { candidateId } = candidateOf(candidates, 0);
    const refused = [
      await save(service, 'nothing', { candidateId }),
      await save(service, designId, { candidateId: 'nothing' }),
      await save(service, designId, { candidateId, language: 'de' }),
      await save(service, designId, { candidateId, name: ' ' }),
    ];
    expect(refused.map((answer) => codeOf(answer))).toEqual([
      [404, 'ERR_DESIGN_NOT_FOUND'],
      [404, 'ERR_CANDIDATE_NOT_FOUND'],
      [400, 'ERR_INVALID_REQUEST'],
      [400, 'ERR_INVALID_REQUEST'],
    ]);
    expect((await save(service, designId, { candidateId })).status).toBe(200);
    verifyLedger(service.store, { full: true });
  });
});
