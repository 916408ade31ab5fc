import { describe, expect, test } from 'vitest';
import type { NamedVoice, VoiceOptions } from '../../src/speech/voice-choice.ts';
import { chooseVoice } from '../../src/speech/voice-choice.ts';

const VOICES = [
  { voiceId: 'id-1', name: 'Clara' },
  { voiceId: 'id-2', name: 'Miles' },
  { voiceId: 'id-3', name: 'Nora' },
  { voiceId: 'id-4', name: 'nora' },
];

async function choose(
  options: Partial<VoiceOptions>,
  voices: readonly NamedVoice[] = VOICES,
): Promise<{ voice: string; asked: boolean }> {
  let asked = false;
  const voice = await chooseVoice({ target: 'hosted', ...options }, async function* () {
    asked = true;
    yield* voices;
  });
  return { voice, asked };
}

describe('the voice', () => {
  test.each<[string, Partial<VoiceOptions>, string, boolean]>([
    ['given by id is sent as it is, unasked', { voice: 'x y' }, 'x y', false],
    [
      'given by id comes before what is configured',
      { voice: 'x', configuredVoice: 'c' },
      'x',
      false,
    ],
    ['given by name is looked up, whatever its case', { voiceName: 'MILES' }, 'id-2', true],
    [
      'given by name comes before what is configured',
      { voiceName: 'Miles', configuredVoice: 'c' },
      'id-2',
      true,
    ],
    ['configured is sent as it is', { configuredVoice: 'c' }, 'c', false],
    ['of the embedded service is its first by default', { target: 'embedded' }, 'id-1', true],
  ])('%s', async (_, options, voice, asked) => {
    expect(await choose(options)).toEqual({ voice, asked });
  });

  test.each<[string, Partial<VoiceOptions>, RegExp, RegExp]>([
    ['must be named for a hosted service', {}, /no voice is selected/, /--voice/],
    [
      'with an unknown name gets the nearest names',
      { voiceName: 'Mils' },
      /"Mils"/,
      /Did you mean Miles\?/,
    ],
    [
      'with a name like none gets some names',
      { voiceName: 'zzzzzz' },
      /"zzzzzz"/,
      /Clara, Miles, Nora, nora/,
    ],
    [
      'with an ambiguous name gets the ids',
      { voiceName: 'nora' },
      /2 voices/,
      /--voice id-3 or --voice id-4/,
    ],
  ])('%s', async (_, options, message, hint) => {
    await expect(choose(options)).rejects.toThrow(
      expect.objectContaining({
        exit: 'usage',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      }),
    );
  });
});
