import { Check } from 'typebox/schema';
import { expect, it } from 'vitest';
import { EngineVoiceRecord } from '../../src/contract/engine.ts';
import { standInDescription } from './piper/stand-in.ts';

const { voicesOf } = await import(new URL('../../engines/piper/voices.mjs', import.meta.url).href);

function voiceFor(code: string) {
  const [voice] = voicesOf('/voices/one.onnx', standInDescription({ language: { code } }));
  return voice;
}

it.each([
  ['en_US', ['Latn']],
  ['uk_UA', ['Latn', 'Cyrl']],
  ['ja_JP', ['Latn', 'Hani', 'Hira', 'Kana']],
  // Klingon, Sindarin and a code of the user's own have no known script.
  ['tlh', undefined],
  ['sjn', undefined],
  ['xx_XX', undefined],
])('a Piper voice for %s has the scripts %j', (code, expected) => {
  const { id, language, sampleRate, scripts } = voiceFor(code);
  expect(scripts).toEqual(expected);
  expect(Check(EngineVoiceRecord, { id, language, sampleRate, scripts })).toBe(true);
});
