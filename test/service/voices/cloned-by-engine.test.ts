import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EngineError, EngineRegistry } from '../../../src/service/engine/speech-engine.ts';
import { second, wholeSpeech } from '../engine/process/engine-under-test.ts';
import { testService } from '../support/test-service.ts';
import { toneEngine } from '../support/tone-engine.ts';
import { recording, upload } from './form.ts';

const REFERENCE = recording({ medianHz: 150, seconds: 1 });

/** A service whose engine `natural` speaks German and can clone voices. */
async function cloningService() {
  const tones = toneEngine({ wordMs: 100 });
  const heard: { path: string; isWhole: boolean; text: string }[] = [];
  const engine = {
    ...tones,
    name: 'natural',
    models: [{ id: 'local-natural' }],
    voices: [
      { id: 'one', language: 'de', sampleRate: 16_000, pitch: false, controls: ['speed' as const] },
    ],
    clone: async ({ audio, text }: { readonly audio: string; readonly text: string }) => {
      const isWhole = readFileSync(audio).equals(Buffer.from(REFERENCE.bytes));
      heard.push({ path: audio, isWhole, text });
      if (text === 'fails') throw new EngineError('failed', 'The engine natural says: too short.');
      return 'clone:handle';
    },
  };
  const engines = new EngineRegistry([toneEngine({ wordMs: 100 }), engine]);
  const service = await testService({ engines });
  const create = async (fields: Readonly<Record<string, string>>) => {
    const request = upload({ name: 'Ada', ...fields }, [REFERENCE]);
    const response = await service.call('/api/open/v3/voices', request);
    return { status: response.status, body: Object(await response.json()) };
  };
  return { ...service, tones, heard, create };
}

describe('an engine that clones voices', () => {
  it('gets the recording and what it says, and speaks the voice', async () => {
    const { create, heard, speak, tones } = await cloningService();
    const { body, status } = await create({ languages: '["de"]', referenceText: 'Hallo.' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'Ada',
      languages: ['de'],
      modelIds: ['local-natural'],
      description: '',
      notices: ['Cloned by natural'],
    });
    const path = expect.stringMatching(/^\/.*\.wav$/);
    expect(heard).toEqual([{ isWhole: true, text: 'Hallo.', path }]);
    expect(existsSync(heard[0]?.path ?? '')).toBe(false);

    const spoken = await speak({ text: 'Hallo', voiceId: body.voiceId, speed: 1.5, pitch: 2 });
    expect(spoken.status).toBe(200);
    expect(spoken.headers.get('X-OpenAPI-Ignored-Parameters')).toBe('pitch');
    await spoken.arrayBuffer();
    expect(tones.requests.at(-1)).toMatchObject({
      voice: 'clone:handle',
      model: 'local-natural',
      speed: 1.5,
    });
  });

  it('refuses a recording in its own words', async () => {
    const { create, heard } = await cloningService();
    const { body, status } = await create({ languages: '["de"]', referenceText: 'fails' });
    expect(status).toBe(400);
    expect(body.message).toBe('audioFiles: The engine natural says: too short');
    expect(existsSync(heard[0]?.path ?? '')).toBe(false);
  });

  it('is not asked for a voice of another language', async () => {
    const { create, heard } = await cloningService();
    const { body } = await create({ languages: '["en"]' });
    expect(body.notices).toEqual([expect.stringMatching(/^Simulated/)]);
    expect(heard).toEqual([]);
  });

  it('gets its own name of the voice in requests, in any process', async () => {
    const { engine } = second({ cloning: true }, 'clones');
    const { signal } = new AbortController();
    const voice = await engine.clone?.({ audio: '/tmp/a.wav', text: 'Hello.' }, signal);
    expect(voice).toBe('clone:of /tmp/a.wav: Hello.');
    const registry = new EngineRegistry([engine]);
    expect(registry.find('tested', voice ?? '')?.voice).toMatchObject({
      id: voice,
      language: 'en',
    });
    await expect(wholeSpeech(engine, { voice: voice ?? '' })).rejects.toThrow(
      'The engine tested says: of /tmp/a.wav: Hello.',
    );
    const failure = await engine.clone?.({ audio: '/tmp/a.wav', text: '' }, signal).catch(String);
    expect(failure).toBe('EngineError: The engine tested says: the words are required');
    const none = new EngineRegistry([second().engine]);
    expect(none.find('tested', 'clone:x')).toBeUndefined();
  });
});
