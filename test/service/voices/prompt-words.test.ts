import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  BEYOND,
  candidateVariations,
  describeWords,
  PROMPT_RULES,
  wantedVoice,
} from '../../../src/service/voices/prompt-words.ts';

const WOMAN = { pitch: 1, stretch: 1, pace: 1, brightness: 0 };
const MAN = { pitch: 0.58, stretch: 0.84, pace: 1, brightness: 0 };
const NEITHER = { pitch: 0.79, stretch: 0.93, pace: 1, brightness: 0 };

describe('a prompt', () => {
  it.each([
    ['', NEITHER],
    ['A voice', NEITHER],
    ['A woman', WOMAN],
    ['a woman’s voice', WOMAN],
    ['manly womanhood', NEITHER],
    [
      'an OLD man',
      { ...MAN, pitch: 0.58 * 0.9, stretch: 0.84 * 0.98, pace: 0.88, brightness: -0.4 },
    ],
    ['a fast, slow talker', { ...NEITHER, pace: 0.8 }],
    ['slow, slow, slowly', { ...NEITHER, pace: 0.8 }],
    ['a warm woman', { ...WOMAN, brightness: -1.2 }],
    ['a bright, soft woman', { ...WOMAN, pace: 0.97, brightness: 1 }],
    ['a squeaky child', { pitch: 1.24 * 1.2, stretch: 1.1 * 1.03, pace: 1, brightness: 0 }],
  ])('%j sets pitch, timbre, pace and brightness', (prompt, expected) => {
    const { variation } = wantedVoice(prompt);
    for (const name of ['pitch', 'stretch', 'pace', 'brightness'] as const) {
      expect(variation[name], name).toBeCloseTo(expected[name], 6);
    }
  });

  it.each([
    'a woman, not slow',
    'a woman who is not too slow',
    'a woman, not deep or slow',
    'a woman without any deep tones',
    "a woman who doesn't sound old",
    'a woman, neither slow nor dark',
    'a woman, not a German',
    'a woman with an American accent',
  ])('%j: the other words have no effect', (prompt) => {
    const { beyond, variation } = wantedVoice(prompt);
    expect(variation).toEqual(WOMAN);
    expect(beyond).toEqual([]);
  });

  it('reports the words that were found, once each, and those that the voice cannot follow', () => {
    const found = wantedVoice('A slow, slow, sad woman with a husky Irish accent');
    expect(found.words).toEqual(['slow', 'woman']);
    expect(found.beyond).toEqual(['sad', 'husky', 'irish', 'accent']);
    expect(describeWords(found)).toBe(
      'from the words slow, woman; it cannot do: sad, husky, irish, accent',
    );
    expect(describeWords(wantedVoice('nothing'))).toBe('no known word in the prompt');
  });

  it('gets three candidates that differ in pitch, also at the limits', () => {
    for (const prompt of ['A man', 'A deep, low bass, an old man', 'A high, squeaky young girl']) {
      const [first = NaN, second = NaN, third = NaN] = candidateVariations(
        wantedVoice(prompt).variation,
      ).map(({ pitch }) => pitch);
      expect(first / second, prompt).toBeGreaterThan(1.05);
      expect(third / first, prompt).toBeGreaterThan(1.05);
    }
  });
});

const times = (name: string, factor: number | undefined) =>
  factor === undefined || factor === 1 ? '' : `${name} × ${factor}`;

describe('docs/voice-design.md', () => {
  const page = readFile(new URL('../../../docs/voice-design.md', import.meta.url), 'utf8');

  it('has the true row of every rule', async () => {
    const groups = [...new Set(PROMPT_RULES.map(({ group }) => group))].join('|');
    const row = new RegExp(`^\\| (${groups}) \\|`);
    expect((await page).split('\n').filter((line) => row.test(line))).toEqual(
      PROMPT_RULES.map(({ brightness, group, pace, pitch, stretch, words }) => {
        const effects = [
          times('pitch', pitch),
          times('formants', stretch),
          times('pace', pace),
          brightness === undefined ? '' : `brightness ${brightness > 0 ? '+' : ''}${brightness} dB`,
        ].filter(Boolean);
        const effect = effects.length === 0 ? 'as the model' : effects.join(', ');
        return `| ${group} | ${words.replaceAll(' ', ', ')} | ${effect} |`;
      }),
    );
  });

  it('lists the words that the voice cannot follow', async () => {
    expect(await page).toContain(`\n${[...BEYOND].join(', ')}\n`);
  });
});
