import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { PROMPT_RULES, traitsOf } from '../../../src/service/voices/prompt-words.ts';

describe('a prompt', () => {
  it.each([
    ['', 150, 1, 1, 1],
    ['A voice', 150, 1, 1, 1],
    ['A woman', 195, 1, 1, 1],
    ['an OLD man', 112 * 0.93, 0.88, 1, 0.97],
    ['a fast, slow talker', 150, 0.8, 1, 1],
    ['slow, slow, slowly', 150, 0.8, 1, 1],
    ['a happy and urgent girl', 270 * 1.05 * 1.04, 1.06 * 1.12, 1.2, 1.1],
    ['a squeaky child', 270 * 1.22, 1, 1, 1.12],
    ['a deep, sad, old giant of a man', 112 * 0.82 * 0.93 * 0.95, 0.88 * 0.88, 0.7, 0.94 * 0.97],
    ['manly womanhood', 150, 1, 1, 1],
  ])('%j has these traits', (prompt, medianHz, speed, melody, formants) => {
    const traits = traitsOf(prompt);
    expect(traits.medianHz).toBeCloseTo(Math.min(330, Math.max(80, medianHz)), 6);
    expect(traits.speed).toBeCloseTo(speed, 6);
    expect(traits.melody).toBeCloseTo(melody, 6);
    expect(traits.formants).toBeCloseTo(Math.min(1.12, Math.max(0.9, formants)), 6);
  });

  it.each([
    ['a British lady', 'en-GB'],
    ['not German but French', 'fr'],
    ['a lady', undefined],
  ])('%j names a language, or none', (prompt, language) => {
    expect(traitsOf(prompt).language).toBe(language);
  });

  it('tells the words that it was understood by, once each', () => {
    expect(traitsOf('A warm, warm woman from nowhere').words).toEqual(['warm', 'woman']);
  });
});

describe('docs/voice-design.md', () => {
  it('has the true row of every rule', async () => {
    const page = await readFile(new URL('../../../docs/voice-design.md', import.meta.url), 'utf8');
    const rows = page.split('\n').filter((line) => /^\| [a-z]{2,5}(-[A-Z]{2})? \|/.test(line));
    expect(rows.filter((row) => !row.startsWith('| group'))).toEqual(
      PROMPT_RULES.map((rule) => {
        const { about, words, language, medianHz, pitch, speed, melody, formants } = rule;
        if (language !== undefined) return `| ${language} | ${words.join(', ')} |`;
        const factors = [pitch, speed, melody, formants].map((one) =>
          one === undefined ? '' : `× ${one}`,
        );
        const [shift = '', ...others] = factors;
        const cells = [
          about,
          words.join(', '),
          medianHz === undefined ? shift : `${medianHz} Hz`,
          ...others,
        ];
        return `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`;
      }),
    );
  });
});
