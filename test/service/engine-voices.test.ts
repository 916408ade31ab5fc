import { expect, test } from 'vitest';
import {
  createCatalogue,
  describeVoice,
  engineVoices,
} from '../../src/service/voices/catalogue.ts';
import { EngineRegistry } from '../../src/service/engine/speech-engine.ts';
import type { EngineVoice, SpeechEngine } from '../../src/service/engine/speech-engine.ts';

function engine(name: string, voices: readonly EngineVoice[]): SpeechEngine {
  return {
    name,
    voices,
    warmUp: async () => {},
    async *synthesize() {
      yield { samples: new Float32Array(1), sampleRate: 22_050 };
    },
    close: async () => {},
  };
}

const german = { id: 'de', name: 'Anna', language: 'de', sampleRate: 22_050, pitch: true };
const added = (): EngineRegistry =>
  new EngineRegistry([
    engine('hibari', [{ id: 'clara', language: 'en-US', sampleRate: 16_000, pitch: true }]),
    engine('espeak-ng', [german, { ...german, id: 'fr+f4', name: 'Zoé', language: 'fr' }]),
  ]);

const named = (name: string) => [{ ...german, name }];

test('natural voices are listed first: those of added engines right after the default voice', () => {
  const builtIn = ['clara', 'martin'].map((id) => ({ ...german, id, language: 'en-US' }));
  const engines = new EngineRegistry([
    engine('hibari', builtIn),
    engine('espeak-ng', named('Robot')),
    engine('kokoro', named('Heart')),
    engine('mine', named('Mine')),
  ]);
  const { voices } = createCatalogue({ engines, unavailableModels: [] });
  const names = voices.map(({ name }) => name);
  expect(names).toEqual(['Clara', 'Heart', 'Mine', 'Martin', 'Robot']);
});

test('an added engine’s voices have ids that never change', () => {
  const builtIn = ['clara', 'martin'].map((id) => ({ ...german, id, language: 'en-US' }));
  const engines = new EngineRegistry([
    engine('hibari', builtIn),
    engine('espeak-ng', [german, { ...german, id: 'fr+f4', name: 'Zoé', language: 'fr' }]),
  ]);
  const { voices, voice } = createCatalogue({ engines, unavailableModels: [] });
  const [anna, zoe] = voices.filter(({ engine: { name } }) => name === 'espeak-ng');
  expect(anna).toMatchObject({ name: 'Anna', primaryLanguage: 'de', family: 'vendor' });
  expect(zoe?.name).toBe('Zoé');
  expect(anna?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(engineVoices(added()).map(({ id }) => id)).toEqual([anna?.id, zoe?.id]);
  expect(new Set(voices.map(({ id }) => id)).size).toBe(voices.length);
  expect(voice(anna?.id ?? '')?.speaker.name).toBe('espeak-ng');
});

test('descriptions say which voices are natural', () => {
  const engines = new EngineRegistry([
    engine('hibari', [{ ...german, id: 'clara', language: 'en-US' }]),
    engine('kokoro', [german]),
    engine('espeak-ng', [german]),
    engine('other', [german]),
  ]);
  const { voices } = createCatalogue({ engines, unavailableModels: [] });
  expect(voices.map((voice) => describeVoice(voice))).toEqual([
    'adult woman; warm, clear; natural; American English',
    'de of kokoro; natural; German',
    'de of other; German',
    'de of espeak-ng; robotic; German',
  ]);
});
