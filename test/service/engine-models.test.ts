import { describe, expect, it } from 'vitest';
import type { EngineControl } from '../../src/contract/engine.ts';
import { EngineRegistry } from '../../src/service/engine/speech-engine.ts';
import { jsonPost, testService } from './support/test-service.ts';
import { toneEngine } from './support/tone-engine.ts';

const IGNORED = 'X-OpenAPI-Ignored-Parameters';
const ALL_CONTROLS = {
  speed: 1.2,
  volume: 3,
  pitch: 2,
  stability: 0.5,
  similarity: 0.75,
  language: 'de',
  emotion: 'wistful',
  instruction: 'Speak slowly',
  textNormalization: true,
};

/** A service with an engine that has two models, and voices with these controls. */
async function serviceWith(...controls: readonly (readonly EngineControl[])[]) {
  const tones = toneEngine();
  const engine = {
    ...tones,
    name: 'natural',
    models: [{ id: 'local-big' }, { id: 'local-small' }],
    voices: controls.map((declared, index) => ({
      id: `v${index}`,
      language: 'en',
      languages: ['en', 'fr'],
      sampleRate: 16_000,
      pitch: declared.includes('pitch'),
      controls: declared,
    })),
  };
  const service = await testService({ engines: new EngineRegistry([toneEngine(), engine]) });
  const response = await service.call('/api/open/v3/voices?pageSize=100');
  const { items } = Object(await response.json());
  const voices: readonly Record<string, unknown>[] = items.slice(1, 1 + controls.length);
  const hear = async (body: object, voice = voices[0]) => {
    const spoken = await service.speak({ text: 'Hello', voiceId: voice?.['voiceId'], ...body });
    await spoken.clone().arrayBuffer();
    return { spoken, asked: tones.requests.at(-1), ignored: spoken.headers.get(IGNORED) };
  };
  return { ...service, voices, hear, tones };
}

describe('an engine with its own models', () => {
  it('lists them with the controls of its voices, and its voices with them', async () => {
    const { call, voices } = await serviceWith(['speed', 'stability'], ['emotion']);
    const response = await call('/api/open/v3/speech/tts/capabilities');
    const { models } = Object(await response.json());
    expect(models.slice(-2)).toEqual(
      ['local-big', 'local-small'].map((id) => ({
        id,
        available: true,
        maxTextLength: 10_000,
        outputFormats: ['mp3', 'wav', 'ogg'],
        controls: { speed: true, volume: false, pitch: false, stability: true, similarity: false },
        supportedOperations: { synchronous: true, asynchronous: true, alignedStreaming: true },
      })),
    );
    expect(voices[0]).toMatchObject({
      modelIds: ['local-big', 'local-small'],
      languages: ['en', 'fr'],
    });
    const v1 = await call('/api/open/v1/voices?provider=local');
    expect(Object(await v1.json()).total).toBe(2);
    const compat = await call('/v1/models/local-small');
    expect(compat.status).toBe(200);
  });

  it('speaks with the model of the request, else with its first', async () => {
    const { hear } = await serviceWith([]);
    expect((await hear({})).asked).toMatchObject({ model: 'local-big' });
    expect((await hear({ modelId: 'local-small' })).asked).toMatchObject({ model: 'local-small' });
    const { spoken } = await hear({ modelId: 'vendor-s21pro' });
    expect(spoken.status).toBe(400);
    expect(Object(await spoken.json()).message).toMatch(
      /"vendor-s21pro" does not work with voice v0; allowed: local-big or local-small$/,
    );
  });

  it.each([
    [
      [],
      'speed,volume,pitch,stability,similarity,language,emotion,instruction',
      { speed: 1, pitch: 0, controls: {} },
    ],
    [
      ['speed', 'volume', 'emotion'],
      'pitch,stability,similarity,language,instruction',
      { speed: 1.2, pitch: 0, controls: { volume: 3, emotion: 'wistful' } },
    ],
    [
      ['pitch', 'language', 'instruction', 'stability', 'similarity'],
      'speed,volume,emotion',
      {
        speed: 1,
        pitch: 2,
        controls: { language: 'de', instruction: 'Speak slowly', stability: 0.5, similarity: 0.75 },
      },
    ],
  ] as const)('with the controls %j ignores %s', async (declared, others, asked) => {
    const { hear } = await serviceWith(declared);
    const heard = await hear(ALL_CONTROLS);
    expect(heard.spoken.status).toBe(200);
    expect(heard.ignored?.split(',').filter((name) => name !== 'textNormalization')).toEqual(
      others.split(','),
    );
    expect(heard.asked).toMatchObject(asked);
    expect(heard.asked?.controls).toEqual(asked.controls);
  });

  it('does not list a language hint as ignored if the voice speaks the language', async () => {
    const { hear } = await serviceWith([]);
    expect((await hear({ language: 'fr-CA' })).ignored).toBe(null);
  });

  it('gets the model and the controls in jobs too', async () => {
    const { call, clock, tones, voices } = await serviceWith(['speed', 'emotion']);
    const body = { text: 'Hello', voiceId: voices[0]?.['voiceId'], modelId: 'local-small' };
    const created = await call(
      '/api/open/v3/speech/tts/jobs',
      jsonPost({ ...body, ...ALL_CONTROLS }, { 'Idempotency-Key': 'one' }),
    );
    expect(created.status).toBe(202);
    await expect
      .poll(() => {
        clock.advance(1_000);
        return tones.requests.at(-1);
      })
      .toMatchObject({ model: 'local-small', speed: 1.2, controls: { emotion: 'wistful' } });
  });
});
