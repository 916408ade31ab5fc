import { describe, expect, test } from 'vitest';
import type { ChosenVoice, VoiceChoiceOptions } from '../../src/speech/voice-choice.ts';
import { chooseVoice } from '../../src/speech/voice-choice.ts';

const VOICES = [
  { voiceId: 'id-1', name: 'Clara', languages: ['en-US'] },
  { voiceId: 'id-2', name: 'Miles', languages: ['en-GB'] },
  { voiceId: 'id-3', name: 'Nora', languages: ['de', 'pt-PT'] },
  { voiceId: 'id-4', name: 'nora', languages: ['pt-BR'] },
];

async function choose(
  options: Partial<VoiceChoiceOptions>,
  voices: readonly ChosenVoice[] = VOICES,
): Promise<{ voice: string; asked: boolean }> {
  let asked = false;
  const notice = expect.unreachable;
  const voice = await chooseVoice({ target: 'hosted', notice, ...options }, async function* () {
    asked = true;
    yield* voices;
  });
  return { voice, asked };
}

describe('the voice', () => {
  test.each<[string, Partial<VoiceChoiceOptions>, string, boolean]>([
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
    [
      'of a language is the first that speaks it',
      { target: 'embedded', language: 'DE' },
      'id-3',
      true,
    ],
    ['of a region comes before others', { target: 'embedded', language: 'pt_br' }, 'id-4', true],
    ['of another region will do', { target: 'embedded', language: 'en-AU' }, 'id-1', true],
    ['given by id has any language', { target: 'hosted', voice: 'x', language: 'de' }, 'x', false],
    [
      'given by name has any language',
      { target: 'embedded', voice: 'miles', language: 'de' },
      'id-2',
      true,
    ],
    [
      'of an English text is the first, without a notice',
      { target: 'embedded', text: 'What is it that you and I are here for?' },
      'id-1',
      true,
    ],
  ])('%s', async (_, options, voice, asked) => {
    expect(await choose(options)).toEqual({ voice, asked });
  });

  test.each<[string, Partial<VoiceChoiceOptions>, RegExp]>([
    [
      'for a language that no voice speaks',
      { language: 'sv' },
      /no voice speaks "sv", and .* Clara speaks en-US: .*engine add espeak-ng.*voices list --language CODE/,
    ],
    [
      'for a text that looks French',
      { text: 'Le chat dort sur la table pendant que je suis dans le jardin.' },
      /looks French, but .* Clara speaks en-US: .*engine add.*-l fr.*voices list --language fr/,
    ],
    [
      'for a text whose language another voice speaks',
      { text: 'Guten Morgen, wie geht es Ihnen heute?' },
      /looks German, but [^;]*: choose a voice with `-l de`/,
    ],
  ])('is the first %s, with a notice', async (_, options, notice) => {
    const notices: string[] = [];
    const given = { target: 'embedded', notice: (line: string) => notices.push(line) } as const;
    expect(await choose({ ...given, ...options })).toMatchObject({ voice: 'id-1' });
    expect(notices).toEqual([expect.stringMatching(notice)]);
  });

  test.each<[string, Partial<VoiceChoiceOptions>, RegExp, RegExp]>([
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
