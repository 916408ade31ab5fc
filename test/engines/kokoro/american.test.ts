import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const adapter = (name: string) =>
  import(new URL(`../../../engines/kokoro/${name}.mjs`, import.meta.url).href);
const { americanIds, loadAmericanReader } = await adapter('american');
const { idsOf } = await adapter('symbols');

interface Reading {
  readonly gap: string;
  readonly spoken: readonly {
    readonly ids: readonly number[];
    readonly gap: string;
    readonly ranges: readonly { readonly start: number; readonly end: number }[];
  }[];
}

const READER = fileURLToPath(new URL('../../../dist/english-reader.cjs', import.meta.url));
const WORDS = new URL('../../../assets/voice/words.txt', import.meta.url);
const NETWORK = new URL('../../../assets/voice/unknown-words.safetensors', import.meta.url);
const american: {
  readonly read: (text: string, given?: readonly object[]) => Reading;
  readonly phonemes: string;
} = await loadAmericanReader(READER);
const { read } = american;

const idsIn = (text: string, word: string): readonly number[] | undefined =>
  read(text).spoken.find(({ ranges: [range] }) => textAt(text, range) === word)?.ids;

function textAt(text: string, range: { start: number; end: number } | undefined): string {
  return Array.from(text).slice(range?.start, range?.end).join('');
}

describe('American English of Kokoro', () => {
  it('has only phonemes that the model knows', () => {
    const phonemes = new Set(
      readFileSync(WORDS, 'utf8')
        .split('\n')
        .flatMap((line) => line.split('\t').slice(1))
        .map((field) => field.replace(/^~|^\w+ /, ''))
        .filter((field) => field !== '*')
        .flatMap((field) => Array.from(field)),
    );
    const file = readFileSync(NETWORK);
    const header = file.subarray(8, 8 + Number(file.readBigUInt64LE())).toString();
    const { __metadata__: network } = JSON.parse(header);
    for (const phoneme of network.phonemes) phonemes.add(phoneme);
    expect(phonemes.size).toBeGreaterThan(45);
    const unknown = [...phonemes].filter((one) => americanIds(one).length === 0);
    // Not sounds: the network learned them from a few words.
    expect(unknown.filter((one) => one !== ' ').toSorted()).toEqual(['-', '1']);
  });

  it.each([
    ['read', 'I read it yesterday.', 'ɹˈɛd', 'I will read it tomorrow.', 'ɹˈid'],
    ['live', 'They live here.', 'lˈɪv', 'The band plays live music.', 'lˈIv'],
    ['the', 'Eat the apple.', 'ði', 'Eat the pear.', 'ðə'],
  ])('reads %s by its place: %s (%s), %s (%s)', (word, one, first, other, second) => {
    expect(idsIn(one, word)).toEqual(idsOf(first));
    expect(idsIn(other, word)).toEqual(idsOf(second));
  });

  it.each([
    ['The A.P.I works.', 'A.P.I', 'ˌApˌiˈI'],
    ['The A-P’s work.', 'A-P’s', 'ˈApˌiz'],
    ['Use A-four paper.', 'A-four', 'ˈAfˌɔɹ'],
    ['We got an A- for it.', 'A', 'ˈA'],
    ['A- to Z is all.', 'A', 'ˈA'],
    ['We saw Smørgås.', 'Smørgås', 'smˈɔɹɡəz'],
  ])('reads what foley writes for letters and numbers: %s', (text, word, phonemes) => {
    expect(idsIn(text, word)).toEqual(idsOf(phonemes));
  });

  it('speaks given phonemes in the place of words', () => {
    const text = '🍅: the tomato’s 重庆.';
    const given = [
      { start: 7, end: 13, phonemes: 'ətˈɑːtoʊ' },
      { start: 16, end: 18, phonemes: 'tʃʊŋ' },
    ];
    const words = read(text, given).spoken.map(({ ids, ranges: [range] }) => {
      return [textAt(text, range), ids];
    });
    expect(words).toEqual([
      ['the', idsOf('ði')],
      ['tomato’s', idsOf('ətˈɑtOz')],
      ['重庆', idsOf('ʧˈʊŋ')],
    ]);
    expect(american.phonemes).toContain('ʊ');
  });

  it('has the place of every word that it reads, and keeps the text between', () => {
    const pieces = fc.constantFrom(
      ...'the A I don’t U.S. é 日 7 😀 “ ” - — . … , ( )'.split(' '),
      ' ',
    );
    const texts = fc.oneof(
      fc.array(pieces, { maxLength: 20 }).map((list) => list.join(' ')),
      fc.array(pieces, { maxLength: 20 }).map((list) => list.join('')),
      fc.string({ unit: 'binary', maxLength: 40 }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const { gap, spoken } = read(text);
        const parts = spoken.map(({ gap: before, ranges }) => {
          const [start, end] = [ranges[0]?.start ?? NaN, ranges.at(-1)?.end ?? NaN];
          return before + textAt(text, { start, end });
        });
        expect(parts.join('') + gap).toBe(text);
        expect(spoken.every(({ ids }) => ids.length > 0)).toBe(true);
      }),
    );
  });
});
