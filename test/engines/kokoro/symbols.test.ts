import { describe, expect, it } from 'vitest';

const { gapSymbols, idsOf, symbolsOf } = await import(
  new URL('../../../engines/kokoro/symbols.mjs', import.meta.url).href
);

const symbols = (sounds: string, language: string): string =>
  symbolsOf(sounds.split(' '), language);

describe('the symbols of Kokoro', () => {
  it.each([
    ['h ə l ˈoʊ', 'həlˈO'],
    ['b ˈʌ ʔ n̩', 'bˈʌtᵊn'],
    ['w ˈɔː ɾ ɚ', 'wˈɔTəɹ'],
    ['w ˈɜː l d', 'wˈɜɹld'],
    ['l ˈɪ ɾ əl', 'lˈɪTᵊl'],
    ['tʃ ˈɔɪ s', 'ʧˈYs'],
    ['dʒ ˈʌ dʒ', 'ʤˈʌʤ'],
    ['f ˈɜː ɹ i', 'fˈɜɹi'],
  ])('are those of American English for %s', (sounds, wanted) => {
    expect(symbols(sounds, 'en-US')).toBe(wanted);
  });

  it.each([
    ['h ə l ˈəʊ', 'həlˈQ'],
    ['w ˈɔː t ɐ', 'wˈɔːtə'],
    ['h ˈeə', 'hˈɛː'],
  ])('are those of British English for %s', (sounds, wanted) => {
    expect(symbols(sounds, 'en-GB')).toBe(wanted);
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
    expect(gapSymbols('\n\t*  ')).toBe(' ');
  });
});
