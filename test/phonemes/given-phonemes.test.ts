import { describe, expect, test } from 'vitest';
import { openEnglish } from '../../src/phonemes/english.ts';
import { fromIpa, IPA_SIGNS } from '../../src/phonemes/ipa.ts';

const english = openEnglish(new URL('../../assets/voice', import.meta.url), (word) => `<${word}>`);

/** Returns the phonemes of a text; each `{word|ipa}` in it is a word with given phonemes. */
function spoken(marked: string): string {
  let text = '';
  const given = [];
  for (const [, before = '', word = '', phonemes = ''] of marked.matchAll(
    /([^{]*)(?:\{(.*?)\|(.*?)\})?/g,
  )) {
    text += before;
    if (word !== '') given.push({ start: text.length, end: text.length + word.length, phonemes });
    text += word;
  }
  return english
    .phonemes(text, given)
    .map((token) => token.phonemes + (token.hasSpaceAfter ? ' ' : ''))
    .join('');
}

describe('phonemes in IPA become those of the voice:', () => {
  test.each([
    ['təmˈɑːtoʊ', 'təmˈɑtO'],
    ['təˈmɑːtoʊ', 'təmˈɑtO'],
    ["tə'meɪɾoʊ", 'təmˈATO'],
    ['kæt', 'kˈæt'],
    ['ˈt͡ʃɜːt͡ʃ', 'ʧˈɜɹʧ'],
    ['ˈnʌt.ʃɛl', 'nˈʌtʃɛl'],
    ['ˈbɝd ˌsɔŋ', 'bˈɜɹd sˌɔŋ'],
    ['ˈbɒtl̩', 'bˈɑtᵊl'],
    ['aɪ̯ˈdiə', 'Idˈiə'],
  ])('%s', (ipa, phonemes) => {
    expect(fromIpa(ipa)).toBe(phonemes);
    expect(Array.from(ipa).filter((sign) => !IPA_SIGNS.includes(sign))).toEqual([]);
  });
});

describe('words with given phonemes are spoken so:', () => {
  test.each([
    ['I say {tomato|təmˈɑːtoʊ}.', 'ˌI sˈA təmˈɑtO.'],
    ["the {tomato|təmˈɑːtoʊ}'s skin", 'ðə təmˈɑtOz skˈɪn'],
    ['the {tomato|ətˈɑːtoʊ}', 'ði ətˈɑtO'],
    ['{tomato|təmˈɑːtoʊ}-based', 'təmˈɑtO bˈAst'],
    ['{New York|njuː ˈjɔːk} is', 'njˈu jˈɔk ɪz'],
    ["{foo|fˈɒf}'{bar|bɑːz}", 'fˈɑf bˈɑz'],
    ['{McDonald|mæk}{s|s}', 'mˈæk s'],
  ])('%s', (marked, phonemes) => {
    expect(spoken(marked)).toBe(phonemes);
  });
});
