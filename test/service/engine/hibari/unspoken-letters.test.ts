import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { textPieces, unspokenLetters } from '../../../../src/service/engine/hibari/pieces.ts';
import type { TextSpan } from '../../../../src/service/engine/speech-engine.ts';
import { countSteps } from '../../../harness/count-steps.ts';
import { unspokenScripts } from '../../../../src/service/engine/process/process-engine.ts';

const readLetters = (text: string) => unspokenLetters(text, 'US');

function partsOf(
  text: string,
  find: (text: string) => readonly TextSpan[] = readLetters,
): string[] {
  const points = Array.from(text);
  return find(text).map(({ start, end }) => points.slice(start, end).join(''));
}

/** Characters that the voices speak, leaves out, or that are neither letters nor digits. */
const SPOKEN = Array.from('aZ7éßøŁæ３½Ⅳªℓ');
const LEFT_OUT = Array.from('你жعक한๓٣ლ𠀀𐍈');
const NEITHER = [
  ...Array.from(' .,!—…“”😀👍🏽€$%&+\n\t'),
  '\u200b',
  '\u{1f1e9}\u{1f1ea}',
  '1\ufe0f\u20e3',
];

const regions = fc.constantFrom(undefined, 'US' as const, 'GB' as const);

describe('the letters and digits that the built-in voices leave out', () => {
  test('are exactly those that have no ASCII form, wherever they are', () => {
    const character = fc.oneof(
      fc.constantFrom(...SPOKEN),
      fc.constantFrom(...LEFT_OUT),
      fc.constantFrom(...NEITHER),
    );
    fc.assert(
      fc.property(fc.array(character, { maxLength: 400 }), regions, (characters, region) => {
        const text = characters.join('');
        const points = Array.from(text);
        const expected = points.map((point) => LEFT_OUT.includes(point));
        const found = points.map(() => false);
        let last = -1;
        for (const { start, end } of unspokenLetters(text, region)) {
          expect(start).toBeGreaterThan(last);
          expect(end).toBeGreaterThan(start);
          found.fill(true, start, end);
          last = end;
        }
        expect(found).toEqual(expected);
      }),
    );
  });

  test('are never in the words that the voices get', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const points = Array.from(text);
        const left = new Set(
          unspokenLetters(text).flatMap(({ start, end }) => points.slice(start, end)),
        );
        const spoken = [...textPieces(text)].map((piece) => piece.text).join(' ');
        expect([...left].filter((point) => spoken.includes(point))).toEqual([]);
        expect([...left].every((point) => /[\p{L}\p{N}\p{M}\u200c\u200d]/u.test(point))).toBe(true);
      }),
    );
  });

  it('include each sign of mathematics and each currency that has no reading', () => {
    const decoration =
      /[\u2190-\u23FF\u25A0-\u25FF\u27E6-\u29FF\u2B30-\u2BFF¤⁄⁺⁻⁼₊₋₌⅀-⅄∎∙∶⋄⋆⋮-⋱؆؇؈߾߿৻℘⅋]/u;
    const signs = Array.from({ length: 0x3000 }, (_, at) => String.fromCodePoint(at)).filter(
      (sign) => /(?![ -~])[\p{Sm}\p{Sc}]/u.test(sign) && !decoration.test(sign),
    );
    const dropped = signs.filter((sign) => {
      const text = `a ${sign} b, x${sign}y`;
      const spoken = [...textPieces(text, 'US')].map((piece) => piece.text).join(' ');
      return (
        unspokenLetters(text, 'US').length !== 2 &&
        !/^a .*[a-z]{2}.* b, x .*[a-z]{2}.* y$/i.test(spoken)
      );
    });
    expect(signs.length).toBeGreaterThan(300);
    expect(dropped).toEqual([]);
  });

  it.each<[text: string, left: readonly string[]]>([
    ['A ⊙ B is 5₰', ['⊙', '₰']],
    ['x ∈ A, F♯ and ₺20', []],
    ['Go → there ★ • 100 % √2', []],
    ['Hello 你好 world', ['你好']],
    ['Hello there', []],
    ['It costs €42.50 — naïve, isn’t it? 🙂', []],
    ['Hawaiʻi and 25 µm, 10 °C, ½ and Ⅳ', []],
    ['नमस्ते world', ['नमस्ते']],
    ['می‌خواهم', ['می‌خواهم']],
    ['Москва, Київ', ['Москва', 'Київ']],
    ['٣ and 3', ['٣']],
    ['٣+5', ['٣']],
    ['10 μm, 5 kΩ and the angle λ', []],
    ['λόγος', ['λόγος']],
    ['❤️ ☎ → ∞ √', []],
    ['', []],
  ])('of %j are %j', (text, left) => {
    expect(partsOf(text)).toEqual(left);
  });
});

const different = (length: number): string =>
  Array.from({ length }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');

describe.each([
  ['of the built-in voices', (text: string) => unspokenLetters(text, 'US')],
  ['of a voice that declares Latin', (text: string) => unspokenScripts(text, ['Latn'], 'US')],
])('the letters that are left out: %s', (_voice, find) => {
  it.each([
    ['different letters', different],
    ['one foreign word', (length: number) => 'λόγος '.repeat(length / 6)],
    ['foreign letters beside others', (length: number) => '字a '.repeat(length / 3)],
  ])('are found in linear time, without reading the text: %s', (_kind, textOf) => {
    const steps = (length: number) => countSteps(() => find(textOf(length)));
    expect(steps(6_000)).toBeLessThan(5 * steps(1_500));
    expect(steps(6_000)).toBeLessThan(20 * 6_000);
  });
});

const parts = (text: string, ...scripts: readonly string[]): string[] =>
  partsOf(text, (given) => [...unspokenScripts(given, scripts)]);

describe('the letters and digits of other scripts than those of a voice', () => {
  it('are left out by a voice that declares its scripts', () => {
    expect(parts('Hello 你好 world 7, Москва!', 'Latn')).toEqual(['你好', 'Москва']);
    expect(parts('Hello 你好 world 7, Москва!', 'Cyrl')).toEqual(['Hello', '你好', 'world']);
    expect(parts('コーヒー と 東京 😀', 'Hira', 'Kana')).toEqual(['東京']);
    expect(parts('नमस्ते 𠀀 é', 'Latn')).toEqual(['नमस्ते', '𠀀']);
  });

  it('are all letters of other scripts if Node.js does not know a script', () => {
    expect(parts('Hello 你好', 'Latn', 'Zzzx')).toEqual(['你好']);
  });
});
