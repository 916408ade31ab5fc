import { describe, expect, it } from 'vitest';
import { FAMILIES } from '../../src/contract/families.ts';
import { VOICES } from '../../src/service/voices/catalogue-voice.ts';
import type { TestService } from './support/test-service.ts';
import { testService, voiceId } from './support/test-service.ts';

const IGNORED = 'X-OpenAPI-Ignored-Parameters';
const ALL_CONTROLS = {
  speed: 1.1,
  volume: 2,
  pitch: 3,
  stability: 0.9,
  similarity: 0.9,
  language: 'en',
  emotion: 'happy',
  instruction: 'Speak slowly',
  textNormalization: true,
  filterEmoji: true,
};

/** Speaks one word; gives what the engine was asked for and which controls were ignored. */
async function hear({ speak, engine }: TestService, voice: string, controls: object) {
  const response = await speak({ text: 'Hello', voiceId: voiceId(voice), ...controls });
  expect(response.status).toBe(200);
  await response.arrayBuffer();
  return { asked: engine.requests.at(-1), ignored: response.headers.get(IGNORED) };
}

describe('the controls of a model', () => {
  it.each([
    ['Clara', undefined, 'pitch,stability,similarity,emotion,instruction'],
    ['Nora', undefined, 'stability,similarity,instruction'],
    ['Iris', undefined, 'stability,similarity,emotion,instruction'],
    ['Iris', 'altB-audio-3.0-tts-plus', 'stability,similarity,emotion'],
    ['Paul', undefined, 'pitch,stability,similarity,emotion,instruction'],
    ['Greta', undefined, 'pitch,stability,similarity,emotion,instruction'],
    ['Leo', undefined, 'pitch,stability,similarity,emotion,instruction'],
    ['Rose', undefined, 'volume,pitch,stability,similarity,emotion,instruction'],
  ])('of %s (%s) leave %s aside', async (voice, modelId, ignored) => {
    const service = await testService();
    const controls = modelId === undefined ? ALL_CONTROLS : { ...ALL_CONTROLS, modelId };
    expect((await hear(service, voice, controls)).ignored).toBe(ignored);
  });

  it('are not mentioned when all are applied', async () => {
    const service = await testService();
    expect((await hear(service, 'Clara', { speed: 1.1, volume: 3 })).ignored).toBe(null);
  });

  it.each([
    ['Clara', { stability: 0.5, similarity: 1.5 }],
    ['Rose', { stability: 0, similarity: 1, speed: 0.7 }],
    ['Rose', { speed: 1.2 }],
    ['Clara', { speed: 0.5, volume: -20 }],
    ['Nora', { speed: 2, volume: 20, pitch: -12, stability: 0, similarity: 1.5 }],
  ])('of %s reach their ends %j', async (voice, controls) => {
    const service = await testService();
    expect((await hear(service, voice, controls)).asked).toBeDefined();
  });

  it('reach the engine on top of what makes the voice', async () => {
    const service = await testService();
    const { asked } = await hear(service, 'Nora', { speed: 2, pitch: 3 });
    expect(asked).toMatchObject({ voice: 'nora', speed: 2, pitch: 3 });
  });

  it('do not reach the engine where they are ignored', async () => {
    const service = await testService();
    const { asked } = await hear(service, 'Clara', { pitch: 3 });
    expect(asked).toMatchObject({ voice: 'clara', speed: 1, pitch: 0 });
  });

  it('change the level: 6 dB is twice', async () => {
    const { speak } = await testService();
    const peaks = [];
    for (const volume of [0, 6]) {
      const body = { text: 'Hello', voiceId: voiceId('Clara'), format: 'wav', volume };
      const bytes = new Uint8Array(await (await speak(body)).arrayBuffer());
      const view = new DataView(bytes.buffer);
      const samples = Array.from({ length: 300 }, (_, at) => view.getInt16(44 + at * 2, true));
      peaks.push(Math.max(...samples));
    }
    expect((peaks[1] ?? 0) / (peaks[0] ?? 1)).toBeCloseTo(2, 1);
  });
});

describe('directions', () => {
  it('of an emotion change pace and pitch on altA', async () => {
    const service = await testService();
    const plain = await hear(service, 'Nora', {});
    const sad = await hear(service, 'Nora', { emotion: 'SAD' });
    expect(sad.ignored).toBe(null);
    expect(sad.asked?.speed).toBeLessThan(plain.asked?.speed ?? 0);
    expect(sad.asked?.pitch).toBeLessThan(plain.asked?.pitch ?? 0);
  });

  it('of an unknown emotion are listed as ignored', async () => {
    const service = await testService();
    expect((await hear(service, 'Nora', { emotion: 'wistful' })).ignored).toBe('emotion');
  });

  it('of an instruction are followed by its words, or listed as ignored', async () => {
    const service = await testService();
    const modelId = 'altB-audio-3.0-tts-flash';
    const plain = await hear(service, 'Iris', { modelId });
    const slow = await hear(service, 'Iris', { modelId, instruction: 'Slowly, in a deep voice' });
    expect(slow.ignored).toBe(null);
    expect(slow.asked?.speed).toBeLessThan(plain.asked?.speed ?? 0);
    expect(slow.asked?.pitch).toBeLessThan(plain.asked?.pitch ?? 0);
    const strange = await hear(service, 'Iris', { modelId, instruction: 'Like a pirate' });
    expect(strange.ignored).toBe('instruction');
    expect(strange.asked).toEqual(plain.asked);
  });

  it.each([
    ['en', null],
    ['en-GB', null],
    ['EN_us', null],
    ['de', 'language'],
    ['enx', 'language'],
  ])('of the language %s leave %s aside', async (language, ignored) => {
    const service = await testService();
    expect((await hear(service, 'Clara', { language })).ignored).toBe(ignored);
  });

  it('to speak numbers as they are written reach the engine', async () => {
    const service = await testService();
    const written = await hear(service, 'Clara', { textNormalization: false });
    expect(written.ignored).toBe(null);
    expect(written.asked?.textNormalization).toBe(false);
    expect((await hear(service, 'Clara', {})).asked?.textNormalization).toBe(true);
  });

  it.each([true, false])('bill the written text with textNormalization %s', async (given) => {
    const { speak } = await testService();
    const text = 'Dr. Smith paid $1,250,000.75 on 03/04/2024, see https://example.com/docs.';
    const order = { text, voiceId: voiceId('Clara'), textNormalization: given };
    const response = await speak(order);
    await response.arrayBuffer();
    expect(response.headers.get('X-OpenAPI-Credits-Used')).toBe(String(Math.ceil(text.length / 2)));
  });
});

describe('filterEmoji', () => {
  it('keeps kaomoji from the engine and off the bill', async () => {
    const { speak, engine } = await testService();
    const response = await speak({
      text: 'Hi (◕‿◕) you',
      voiceId: voiceId('Clara'),
      modelId: 'vendor-s21pro',
      filterEmoji: true,
    });
    await response.arrayBuffer();
    expect(engine.requests.at(-1)?.text).toBe('Hi you');
    expect(response.headers.get('X-OpenAPI-Credits-Used')).toBe('6');
  });

  it('comes after the limits', async () => {
    const { speak } = await testService();
    const text = `${'(◕‿◕)'.repeat(2_000)}a`;
    const body = { text, voiceId: voiceId('Clara'), filterEmoji: true };
    expect((await speak(body)).status).toBe(400);
  });
});

describe('the catalogue', () => {
  it('has a voice for every model, and voices that differ in engine, pitch or pace', () => {
    expect(new Set(VOICES.map((voice) => voice.family)).size).toBe(FAMILIES.length);
    const sounds = VOICES.map(({ engine }) => `${engine.voice} ${engine.pitch} ${engine.speed}`);
    expect(new Set(sounds).size).toBe(VOICES.length);
    expect(new Set(VOICES.map((voice) => voice.id)).size).toBe(VOICES.length);
    expect(new Set(VOICES.map((voice) => voice.name)).size).toBe(VOICES.length);
  });

  it.each(FAMILIES.flatMap(({ id, models }) => models.map((model) => [id, model] as const)))(
    'speaks with %s %s in each of its formats',
    async (family, modelId) => {
      const { speak, call } = await testService();
      const capabilities = Object(
        await (await call('/api/open/v3/speech/tts/capabilities')).json(),
      );
      const model = capabilities.models.find((one: { id: string }) => one.id === modelId);
      const voice = VOICES.find((one) => one.family === family);
      for (const format of model.outputFormats) {
        const response = await speak({ text: 'Hello', voiceId: voice?.id, modelId, format });
        expect(response.status).toBe(200);
        expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
      }
    },
  );
});
