import { expect, test } from 'vitest';
import { ESPEAK_NG_LANGUAGES, ReferenceSpeaker } from '../../src/engines/reference-speech.ts';
import type { EngineRegistration } from '../../src/contract/engine.ts';
import { systemClock } from '../../src/system/clock.ts';

const { VOICES } = await import(
  new URL('../../engines/espeak-ng/voices.mjs', import.meta.url).href
);

const OWN: EngineRegistration = {
  name: 'own',
  command: 'no-such-program',
  args: [],
  cwd: '.',
  version: '1',
  license: 'MIT',
  voices: [{ id: 'v', language: 'da', sampleRate: 16_000, words: true }],
};

async function failureFor(language: string, added: readonly EngineRegistration[] = []) {
  const speaker = new ReferenceSpeaker({ added, clock: systemClock, env: {} });
  const { signal } = new AbortController();
  return speaker.speak({ text: 'Hi.', language }, signal).catch((error: unknown) => error);
}

test('the languages of espeak-ng are those of its voices', () => {
  const languages = new Set(
    VOICES.map(({ language }: { language: string }) => language.replace(/-.*/, '')),
  );
  expect(languages).toEqual(new Set(ESPEAK_NG_LANGUAGES));
});

test.each(['de', 'de-AT', 'de_DE', 'ZH'])('for %s, espeak-ng is advised', async (language) => {
  const advice = { hint: expect.stringContaining('foley engine add espeak-ng') };
  expect(await failureFor(language)).toMatchObject(advice);
  expect(await failureFor(language, [OWN])).toMatchObject(advice);
});

test.each(['fi', 'xx', 'fi_FI'])('for %s, espeak-ng is not advised', async (language) => {
  const notAdvised = { hint: expect.not.stringContaining('engine add espeak-ng') };
  expect(await failureFor(language)).toMatchObject(notAdvised);
  expect(await failureFor(language, [OWN])).toMatchObject(notAdvised);
});

test('English needs no engine, also as the locale of a system', async () => {
  for (const language of ['en', 'en_US', 'en_US.UTF-8', 'EN-gb']) {
    const speaker = new ReferenceSpeaker({ added: [], clock: systemClock, env: {} });
    const { words } = await speaker.speak(
      { text: 'Hi there.', language },
      new AbortController().signal,
    );
    expect(words).toHaveLength(2);
    await speaker.close();
  }
});
