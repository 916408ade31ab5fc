import { describe, expect, it } from 'vitest';
import { testService, voiceId } from './support/test-service.ts';

const CLARA = voiceId('Clara');
const ROSE = voiceId('Rose');

interface Refusal {
  readonly name: string;
  readonly body: Record<string, unknown>;
  readonly message: string;
  readonly field?: string;
}

const REFUSALS: readonly Refusal[] = [
  { name: 'no text', body: { text: undefined }, message: 'text is missing; it is required' },
  {
    name: 'empty text',
    body: { text: '' },
    message: 'text has 0 characters; allowed: a string of 1 to 10000 characters',
  },
  {
    name: 'white space',
    body: { text: ' \t\n\u3000' },
    message: 'text has only white space',
  },
  {
    name: 'a number for text',
    body: { text: 5 },
    message: 'text is 5; allowed: a string of 1 to 10000 characters',
  },
  {
    name: 'a long text',
    body: { text: 'a'.repeat(10_001) },
    message: 'text has 10001 characters; allowed: a string of 1 to 10000 characters',
  },
  {
    name: 'a text too long for its model',
    body: { text: '😀'.repeat(1_001), modelId: 'vendor-s21pro-free' },
    message: 'text has 1001 characters; vendor-s21pro-free allows at most 1000',
  },
  {
    name: 'half a surrogate pair',
    body: { text: 'a\ud83d' },
    message: 'text contains an unpaired surrogate (UTF-16), which is not a character',
  },
  {
    name: 'no voice',
    body: { voiceId: undefined },
    message: 'voiceId is missing; it is required',
    field: 'voiceId',
  },
  {
    name: 'an empty voice',
    body: { voiceId: '' },
    message: 'voiceId has 0 characters; allowed: a string that is not empty',
    field: 'voiceId',
  },
  {
    name: 'an unknown model',
    body: { modelId: 'nope' },
    message:
      'modelId "nope" is unknown; allowed: vendor-s21pro, vendor-s21pro-flash, vendor-s21pro-free, vendor-s21-flash, vendor-s2pro or vendor-s1',
    field: 'modelId',
  },
  {
    name: 'a model of another family',
    body: { modelId: 'altC-v3-flash' },
    message:
      'modelId "altC-v3-flash" does not work with voice Clara; allowed: vendor-s21pro, vendor-s21pro-flash, vendor-s21pro-free, vendor-s21-flash, vendor-s2pro or vendor-s1',
    field: 'modelId',
  },
  {
    name: 'an unknown format',
    body: { format: 'flac' },
    message: 'format is "flac"; allowed: mp3, wav or ogg',
    field: 'format',
  },
  {
    name: 'a format that the model has not',
    body: { voiceId: voiceId('Greta'), format: 'wav' },
    message: 'format is wav; altD-tts-2.0 supports mp3 or ogg',
    field: 'format',
  },
  {
    name: 'a high speed',
    body: { speed: 3 },
    message: 'speed is 3; allowed: 0.5 to 2',
    field: 'speed',
  },
  {
    name: 'a text for speed',
    body: { speed: 'fast' },
    message: 'speed is "fast"; allowed: a number from 0.5 to 2',
    field: 'speed',
  },
  {
    name: 'null for speed',
    body: { speed: null },
    message: 'speed is null; allowed: a number from 0.5 to 2',
    field: 'speed',
  },
  {
    name: 'a low volume',
    body: { volume: -20.5 },
    message: 'volume is -20.5; allowed: -20 to 20',
    field: 'volume',
  },
  {
    name: 'a high pitch',
    body: { pitch: 13 },
    message: 'pitch is 13; allowed: -12 to 12',
    field: 'pitch',
  },
  {
    name: 'a pitch out of range even where it is ignored',
    body: { voiceId: ROSE, pitch: -13 },
    message: 'pitch is -13; allowed: -12 to 12',
    field: 'pitch',
  },
  {
    name: 'stability below the vendor’s',
    body: { stability: 0.4 },
    message: 'stability is 0.4; vendor-s21pro-flash allows 0.5 to 1.5',
    field: 'stability',
  },
  {
    name: 'similarity above the vendor’s',
    body: { similarity: 1.6 },
    message: 'similarity is 1.6; allowed: 0 to 1.5',
    field: 'similarity',
  },
  {
    name: 'stability above altF’s',
    body: { voiceId: ROSE, stability: 1.2 },
    message: 'stability is 1.2; altF-flash-v2.5 allows 0 to 1',
    field: 'stability',
  },
  {
    name: 'speed above altF’s',
    body: { voiceId: ROSE, speed: 1.3 },
    message: 'speed is 1.3; altF-flash-v2.5 allows 0.7 to 1.2',
    field: 'speed',
  },
  {
    name: 'an empty language',
    body: { language: '' },
    message: 'language has 0 characters; allowed: a string of 1 to 64 characters',
    field: 'language',
  },
  {
    name: 'a long language',
    body: { language: 'x'.repeat(65) },
    message: 'language has 65 characters; allowed: a string of 1 to 64 characters',
    field: 'language',
  },
  {
    name: 'a long emotion',
    body: { emotion: 'x'.repeat(65) },
    message: 'emotion has 65 characters; allowed: a string of 1 to 64 characters',
    field: 'emotion',
  },
  {
    name: 'a long instruction',
    body: { instruction: 'x'.repeat(1_601) },
    message: 'instruction has 1601 characters; allowed: a string of at most 1600 characters',
    field: 'instruction',
  },
  {
    name: 'a text for textNormalization',
    body: { textNormalization: 'true' },
    message: 'textNormalization is "true"; allowed: true or false',
    field: 'textNormalization',
  },
  {
    name: 'a text for filterEmoji',
    body: { filterEmoji: 'false' },
    message: 'filterEmoji is "false"; allowed: true or false',
    field: 'filterEmoji',
  },
  {
    name: 'a number for filterEmoji',
    body: { filterEmoji: 1 },
    message: 'filterEmoji is 1; allowed: true or false',
    field: 'filterEmoji',
  },
  {
    name: 'nothing left by the filter',
    body: { text: ' (◕‿◕) ', filterEmoji: true },
    message: 'text has only white space',
  },
  {
    name: 'a list for voiceId',
    body: { voiceId: [CLARA] },
    message: 'voiceId is a list; allowed: a string that is not empty',
    field: 'voiceId',
  },
];

describe('a speech request that is refused', () => {
  it.each(REFUSALS)('$name', async ({ body, message, field = 'text' }) => {
    const { speak, balance } = await testService();
    const headers = { 'Idempotency-Key': 'once' };
    const response = await speak({ text: 'Hello', voiceId: CLARA, ...body }, headers);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      code: 'ERR_INVALID_REQUEST',
      message,
      requestId: expect.any(String),
      details: { errors: [{ field, message }] },
    });
    expect(await balance()).toEqual({ credits: 1_000_000, quota: 1_000_000 });
    const good = await speak({ text: 'Hello', voiceId: CLARA }, headers);
    expect(good.status).toBe(200);
    await good.body?.cancel();
  });

  it.each(['provider', 'token', 'engineModelId', 'reference_id', '__proto__', 'constructor'])(
    'has the unknown property %s',
    async (name) => {
      const { call } = await testService();
      const response = await call('/api/open/v3/speech/tts', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: `{"text":"Hello","voiceId":"${CLARA}","${name}":"sk-secret"}`,
      });
      expect(response.status).toBe(400);
      const text = await response.text();
      expect(JSON.parse(text)).toMatchObject({
        message: expect.stringMatching(`^"${name}" is unknown; allowed: text, voiceId, `),
      });
      expect(text).not.toContain('sk-secret');
    },
  );

  it('hears of every field that is wrong', async () => {
    const { speak } = await testService();
    const response = await speak({ speed: 3, pitch: 'x', extra: 1, voiceId: CLARA });
    const body: unknown = await response.json();
    expect(body).toMatchObject({ message: expect.stringContaining('(and 3 more)') });
    expect(body).toMatchObject({ details: { errors: { length: 4 } } });
  });

  it('hears of at most 20 fields, and how many more there are', async () => {
    const { call, speak } = await testService();
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`x${at}`, 1]));
    const form = new FormData();
    for (let part = 0; part < 10_000; part += 1) form.append('audioFiles', 'text');
    for (const [answer, count] of [
      [speak({ ...many, text: 'Hello', voiceId: CLARA }), 10_000],
      [call('/api/open/v1/voices', { method: 'POST', body: form }), 102],
    ] as const) {
      const body: unknown = await (await answer).json();
      expect(body).toMatchObject({
        code: 'ERR_INVALID_REQUEST',
        message: expect.stringContaining(`(and ${count - 1} more)`),
        details: { errors: { length: 20 } },
      });
    }
  });

  it('repeats what was given short and harmless', async () => {
    const { speak } = await testService();
    const format = `\u001b[31m\u202e${'x'.repeat(1_000)}`;
    const response = await speak({ text: 'Hello', voiceId: CLARA, format });
    const message = String(Object(await response.json()).message);
    expect(message.length).toBeLessThan(120);
    expect(message).not.toMatch(/[\u0000-\u001f\u202e]/);
  });

  it.each(['nope', CLARA.toUpperCase(), '../../etc/passwd', 'x'.repeat(10_000)])(
    'has no such voice: %s',
    async (unknown) => {
      const { speak } = await testService();
      const response = await speak({ text: 'Hello', voiceId: unknown });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ code: 'ERR_VOICE_NOT_FOUND' });
    },
  );

  it('names a model that is not available', async () => {
    const { speak, call } = await testService({ unavailableModels: ['vendor-s21pro-flash'] });
    const implied = await speak({ text: 'Hello', voiceId: CLARA });
    expect(implied.status).toBe(503);
    expect(await implied.json()).toMatchObject({
      code: 'ERR_MODEL_UNAVAILABLE',
      details: { modelId: 'vendor-s21pro-flash' },
    });
    const other = await speak({ text: 'Hello', voiceId: CLARA, modelId: 'vendor-s1' });
    expect(other.status).toBe(200);
    await other.body?.cancel();
    const capabilities = await (await call('/api/open/v3/speech/tts/capabilities')).json();
    expect(capabilities).toMatchObject({
      models: expect.arrayContaining([
        expect.objectContaining({ id: 'vendor-s21pro-flash', available: false }),
      ]),
    });
  });
});
