import { describe, expect, it } from 'vitest';

const { gapSymbols, idsOf, symbolsOf } = await import(
  new URL('../../../engines/kokoro/symbols.mjs', import.meta.url).href
);

const { separated } = await import(
  new URL('../../../engines/kokoro/british.mjs', import.meta.url).href
);

const { givenSymbols, signsOf } = await import(
  new URL('../../../engines/kokoro/given.mjs', import.meta.url).href
);

const symbols = (sounds: string, language: string, text = ''): string =>
  symbolsOf(sounds.split(' '), language, text);

describe('given phonemes of Kokoro', () => {
  it.each([
    ['en-GB', 'təˈmɑːtəʊ', 'təmˈɑːtQ'],
    ['en-GB', 'bed', 'bˈɛd'],
    ['en-GB', "'t͡ʃeɪnʒ", 'ʧˈAnʒ'],
    ['es', 'ˈka.sa ˈβe.ʝa', 'kˈasa βˈeʝa'],
    ['fr', 'bɔ̃ʒuʁ', 'bˈɔ̃ʒuʁ'],
    ['pt-BR', 'ˈfa.ças', 'fˈaças'],
  ])('have symbols in %s for %s', (language, ipa, wanted) => {
    expect(givenSymbols(ipa, language)).toBe(wanted);
    const signs: string = signsOf(language);
    const known = ipa.normalize('NFD').replaceAll('c\u0327', 'ç');
    expect(Array.from(known).filter((sign) => !signs.includes(sign))).toEqual([]);
    expect(idsOf(givenSymbols(ipa, language))).toHaveLength(Array.from(wanted).length);
  });

  it('have no sign that is a mark of punctuation or a diphthong of Kokoro', () => {
    expect(signsOf('en-GB')).not.toMatch(/[A-Z,;!?]/);
  });
});

describe('the symbols of Kokoro', () => {
  it.each([
    ['h ə l ˈəʊ', 'həlˈQ'],
    ['w ˈɔː t ɐ', 'wˈɔːtə'],
    ['h ˈeə', 'hˈɛː'],
    ['k ˈæ t', 'kˈat'],
    ['h ˈæ p ɪ', 'hˈapi'],
    ['ˈʌ ð ɐ ɹ', 'ˈʌðə'],
    ['s ˈʌ m w ˌɒ n', 'sˈʌmwˌʌn'],
    ['s w ˈɒ n', 'swˈɒn'],
    ['f ˈaɪə', 'fˈIə'],
  ])('are those of British English for %s', (sounds, wanted) => {
    expect(symbols(sounds, 'en-GB')).toBe(wanted);
  });

  it.each([
    ['was', 'w ʌ z', 'wɒz'],
    ['for', 'f ɐ ɹ', 'fɔː'],
    ['for', 'f ˈɔː ɹ', 'fˈɔː'],
    ['He', 'h i', 'hˌi'],
    ['The', 'ð ə', 'ðə'],
  ])('of the British word %s (%s) are %s', (text, sounds, wanted) => {
    expect(symbols(sounds, 'en-GB', text)).toBe(wanted);
  });

  it('of British words that espeak-ng speaks as one are those of each word', () => {
    const ranges = [
      { start: 0, end: 3 },
      { start: 4, end: 6 },
      { start: 7, end: 10 },
    ];
    const spoken = [{ ranges, phonemes: 'a ʊ ɾ ʌ v ð ə'.split(' '), gap: '' }];
    const words = separated(spoken, ({ start }: { start: number }) => (start === 0 ? 0 : 2));
    expect(words).toEqual([
      { ranges: [ranges[0]], phonemes: 'a ʊ ɾ'.split(' '), gap: '' },
      { ranges: [ranges[1]], phonemes: 'ʌ v'.split(' '), gap: ' ' },
      { ranges: [ranges[2]], phonemes: 'ð ə'.split(' '), gap: ' ' },
    ]);
  });

  it('of other languages keep the sounds of espeak-ng', () => {
    expect(symbols('ɔ̃', 'fr')).toBe('ɔ̃');
    expect(symbols('m u tʃ o', 'es')).toBe('muʧo');
  });

  it('have the ids of the model, and leave out what it does not know', () => {
    expect(idsOf('həlˈO')).toEqual([50, 83, 54, 156, 31]);
    expect(idsOf(';“ᵻ↘ᵊ')).toEqual([1, 14, 177, 173, 42]);
    expect(idsOf('gй')).toEqual([]);
  });

  it('keep punctuation that makes a pause', () => {
    expect(gapSymbols(', ')).toBe(', ');
    expect(gapSymbols(' – «')).toBe(' — “');
    expect(gapSymbols(' - ')).toBe(' — ');
    expect(gapSymbols('\n\t*  ')).toBe(' ');
  });
});
