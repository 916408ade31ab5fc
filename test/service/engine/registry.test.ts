import { expect, test } from 'vitest';
import { EngineRegistry } from '../../../src/service/engine/speech-engine.ts';
import type { SpeechEngine } from '../../../src/service/engine/speech-engine.ts';

function engineCalled(name: string, calls: string[] = []): SpeechEngine {
  return {
    name,
    voices: [{ id: `${name}-1`, language: 'en-US', sampleRate: 16_000, pitch: true }],
    warmUp: async () => void calls.push(`${name} warms up`),
    async *synthesize() {
      yield { samples: new Float32Array(1), sampleRate: 16_000 };
    },
    close: async () => void calls.push(`${name} closes`),
  };
}

test('finds a voice with its engine, and nothing that is not there', () => {
  const second = engineCalled('two');
  const registry = new EngineRegistry([engineCalled('one'), second]);
  expect(registry.find('two', 'two-1')).toEqual({ engine: second, voice: second.voices[0] });
  expect(registry.find('two', 'one-1')).toBeUndefined();
  expect(registry.find('three', 'one-1')).toBeUndefined();
});

test('lists every voice of every engine', () => {
  const registry = new EngineRegistry([engineCalled('one'), engineCalled('two')]);
  expect(registry.all().map(({ engine, voice }) => [engine.name, voice.id])).toEqual([
    ['one', 'one-1'],
    ['two', 'two-1'],
  ]);
});

test('closes all engines', async () => {
  const calls: string[] = [];
  const registry = new EngineRegistry([engineCalled('one', calls), engineCalled('two', calls)]);
  await registry.close();
  expect(calls).toEqual(['one closes', 'two closes']);
});

test('refuses two engines of one name', () => {
  expect(() => new EngineRegistry([engineCalled('one'), engineCalled('one')])).toThrow(RangeError);
});
