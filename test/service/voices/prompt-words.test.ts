import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { PROMPT_RULES, traitsOf } from '../../../src/service/voices/designs.ts';

describe('a prompt', () => {
  it.each([
    ['', 150, 1],
    ['A voice', 150, 1],
    ['A woman', 195, 1],
    ['an OLD man', 112 * 0.93, 0.88],
    ['a fast, slow talker', 150, 0.8],
    ['slow, slow, slowly', 150, 0.8],
    ['a squeaky child', 270 * 1.22, 1],
    ['a deep, slow, old giant of a man', 112 * 0.82 * 0.93, 0.8 * 0.88],
    ['manly womanhood', 150, 1],
  ])('%j sets the pitch and the speed', (prompt, medianHz, speed) => {
    const traits = traitsOf(prompt);
    expect(traits.medianHz).toBeCloseTo(medianHz, 6);
    expect(traits.speed).toBeCloseTo(speed, 6);
  });

  it.each([
    ['a British lady', 'en-GB'],
    ['not German but French', 'fr'],
    ['a lady', undefined],
  ])('%j names a language, or none', (prompt, language) => {
    expect(traitsOf(prompt).language).toBe(language);
  });

  it('reports the words that were found, once each', () => {
    expect(traitsOf('A slow, slow woman from nowhere').words).toEqual(['slow', 'woman']);
  });
});

const times = (factor: number | undefined) => (factor === undefined ? '' : `× ${factor}`);

describe('docs/voice-design.md', () => {
  it('has the true row of every rule', async () => {
    const page = await readFile(new URL('../../../docs/voice-design.md', import.meta.url), 'utf8');
    const rows = page
      .split('\n')
      .filter((line) => /^\| (voice|age|pitch|speed|language) \|/.test(line));
    expect(rows).toEqual(
      PROMPT_RULES.map(({ about, words, language, medianHz, pitch, speed }) => {
        const shift = medianHz === undefined ? times(pitch) : `${medianHz} Hz`;
        const effects = [
          shift === '' ? '' : `pitch ${shift}`,
          speed === undefined ? '' : `speed ${times(speed)}`,
          language ?? '',
        ];
        return `| ${about} | ${words.join(', ')} | ${effects.filter(Boolean).join(', ')} |`;
      }),
    );
  });
});
