import { describe, expect, test } from 'vitest';
import { openEnglish } from '../../src/phonemes/english.ts';
import { HOMOGRAPHS } from './homographs.ts';

const ASSETS = new URL('../../assets/voice', import.meta.url);
const unknown: string[] = [];
const english = openEnglish(ASSETS, (word) => {
  unknown.push(word);
  return /^[a-zé']+$/i.test(word) ? `<${word}>` : '';
});

/** Returns the phonemes of a text as the voice gets them. */
function spoken(text: string): string {
  return english
    .phonemes(text)
    .map(({ hasSpaceAfter, phonemes }) => phonemes + (hasSpaceAfter ? ' ' : ''))
    .join('');
}

describe('words that the dictionary leaves out are known words with an ending:', () => {
  test.each([
    ['cats', 'kˈæts'],
    ['dogs', 'dˈɔɡz'],
    ['boxes', 'bˈɑksᵻz'],
    ["Chicago's", 'ʃɪkˈɑɡOz'],
    ["the fox's den", 'ðə fˈɑksᵻz dˈɛn'],
    ["the dogs' tails", 'ðə dˈɔɡz tˈAlz'],
    ['patted', 'pˈæTᵻd'],
    ['needed', 'nˈidᵻd'],
    ['walked', 'wˈɔkt'],
    ['batting', 'bˈæTɪŋ'],
    ['picnicking', 'pˈɪknˌɪkɪŋ'],
    ['Walked', 'wˈɔkt'],
    ["the dog'll", 'ðə dˈɔɡəl'],
    ["a cat'd", 'ɐ kˈætᵻd'],
  ])('%s', (text, phonemes) => {
    expect(spoken(text)).toBe(phonemes);
  });
});

describe('function words sound like their neighbors need it:', () => {
  test.each([
    ['the apple and the pear', 'ði ˈæpᵊl ænd ðə pˈɛɹ'],
    ['the hour, the one', 'ði ˈWəɹ, ðə wˈʌn'],
    ['the (apple)', 'ði (ˈæpᵊl)'],
    ['to eat, to go, to', 'tʊ ˈit, tə ɡˌO, tu'],
    ['a dog, an apple', 'ɐ dˈɔɡ, ɐn ˈæpᵊl'],
    ['I am. I am here.', 'ˌI æm. ˌI ɐm hˈɪɹ.'],
    ['He stood by.', 'hˌi stˈʊd bˈI.'],
    ['He came in.', 'hˌi kˈAm ˈɪn.'],
    ['in the room', 'ɪn ðə ɹˈum'],
    ['I used to go.', 'ˌI jˈust tə ɡˌO.'],
    ['I used a hammer.', 'ˌI jˈuzd ɐ hˈæməɹ.'],
    ['I think that is it.', 'ˌI θˈɪŋk ðˈæt ɪz ɪt.'],
  ])('%s', (text, phonemes) => {
    expect(spoken(text)).toBe(phonemes);
  });
});

describe('capitals, hyphens and apostrophes:', () => {
  test.each([
    ['the FBI agent', 'ði ˌɛfbˌiˈI ˈAʤᵊnt'],
    ['the US and the U.S. law', 'ðə jˌuˈɛs ænd ðə jˌuˈɛs lˈɔ'],
    ['I live in the U.S.', 'ˌI lˈɪv ɪn ðə jˌuˈɛs.'],
    ['PCs and TVs', 'pˌisˈiz ænd tˌivˈiz'],
    ['the A P I of two C E Os', 'ði ˌApˌiˈI ʌv tˈu sˌiˌiˈOz'],
    ['at nine A M. We go.', 'æt nˈIn ˌAˈɛm. wˌi ɡˌO.'],
    ['an A, the A four, plan A', 'ɐn ˈA, ði ˈA fˈɔɹ, plˈæn ˈA'],
    ['A to Z, A or B', 'ˈA tə zˈi, ˈA ɔɹ bˈi'],
    ['Once Upon A Time', 'wˈʌns əpˈɑn ɐ tˈIm'],
    ['the letter a is', 'ðə lˈɛTəɹ ˈA ɪz'],
    ['NASA', 'nˈæsə'],
    ['GREAT NEWS TODAY', 'ɡɹˈAt nˈuz tədˈA'],
    ['THIS IS FOR US', 'ðˈɪs ˈɪz fˈɔɹ ˈʌs'],
    ['well-known', 'wˌɛlnˈOn'],
    ['twenty-one', 'twˌɛntiwˈʌn'],
    ['state-of-the-art', 'stˈAtʌvðiˈɑɹt'],
    ['X-ray', 'ˈɛksɹˌA'],
    ['iPhone', 'ˈIfˌOn'],
    ['JavaScript', 'ʤˈɑvəskɹˌɪpt'],
    ['he/she', 'hi ʃi'],
    ['R&D', 'ˈɑɹ ænd dˈi'],
    ["don't, won't, can't", 'dˈOnt, wˈOnt, kˈænt'],
    ['don’t, we’ll go', 'dˈOnt, wil ɡˌO'],
    ["it's its", 'ɪts ɪts'],
    ["'tis rock 'n' roll", 'tˈɪz ɹˈɑk ən ɹˈOl'],
  ])('%s', (text, phonemes) => {
    expect(spoken(text)).toBe(phonemes);
  });
});

describe('accents:', () => {
  test.each([
    ['naïve cafés', 'nɑˈiv kæfˈAz'],
    ['a résumé', 'ɐ ɹˈɛzəmˌA'],
    ['rosé', '<rosé>'],
  ])('%s', (text, phonemes) => {
    expect(spoken(text)).toBe(phonemes);
  });
});

describe('punctuation becomes marks of the alphabet:', () => {
  test.each([
    ['"No," he said.', '“nˈO,” hi sˈɛd.'],
    ['“No,” he said.', '“nˈO,” hi sˈɛd.'],
    ["'No,' he said.", '“nˈO,” hi sˈɛd.'],
    ['‘No,’ he said.', '“nˈO,” hi sˈɛd.'],
    ['wait--what', 'wˈAt—wˌʌt'],
    ['wait - what', 'wˈAt — wˌʌt'],
    ['wait – what', 'wˈAt — wˌʌt'],
    ['What?! No... yes… [ok]', 'wˌʌt?! nˈO... jˈɛs… (ˌOkˈA)'],
    ['a word .', 'ɐ wˈɜɹd.'],
    ['one;two', 'wˈʌn;tˈu'],
  ])('%s', (text, phonemes) => {
    expect(spoken(text)).toBe(phonemes);
  });
});

describe('words in no dictionary', () => {
  test('are read by the injected function, with a possessive by rule', () => {
    unknown.length = 0;
    expect(spoken("Frobnicate Zyxel's well-zyxel.")).toBe('<Frobnicate> <Zyxel>z wˈɛl <zyxel>.');
    expect(unknown.toSorted()).toEqual(['Frobnicate', 'Zyxel', 'zyxel']);
  });

  test('are spelled if they are short and in capitals', () => {
    expect(spoken('XKCD')).toBe('ˌɛkskˌAsˌidˈi');
  });

  test('that nobody can read have no phonemes, and no space of their own', () => {
    expect(english.phonemes('hello 日本 ♥ you')).toEqual([
      { start: 0, end: 5, phonemes: 'həlˈO', hasSpaceAfter: true },
      { start: 6, end: 8, phonemes: '', hasSpaceAfter: false },
      { start: 9, end: 10, phonemes: '', hasSpaceAfter: false },
      { start: 11, end: 14, phonemes: 'ju', hasSpaceAfter: false },
    ]);
  });
});

test('each word has its range in the text', () => {
  const text = '“Don’t,” said Mr. Well-Known’s  dog.';
  const words = english.phonemes(text).map(({ end, start }) => text.slice(start, end));
  expect(words).toEqual(['“', 'Don’t', ',', '”', 'said', 'Mr.', 'Well-Known’s', 'dog', '.']);
});

describe('the words around a word decide between its pronunciations:', () => {
  test.each([
    ['Mister Smith lives at home.', 'lives', 'lˈɪvz'],
    ['They risked their lives at sea.', 'lives', 'lˈIvz'],
    ['Insert a coin.', 'Insert', 'ɪnsˈɜɹt'],
    ['The insert is lost.', 'insert', 'ˈɪnsˌɜɹt'],
    ['Metals conduct the heat.', 'conduct', 'kəndˈʌkt'],
    ['Files close all their pages.', 'close', 'klˈOz'],
    ['It is close to the end.', 'close', 'klˈOs'],
    ['A lump of lead fell.', 'lead', 'lˈɛd'],
    ['My lead guitar is old.', 'lead', 'lˈid'],
    ['I got used to the cold.', 'used', 'jˈust'],
    ['He sent his resume.', 'resume', 'ɹˈɛzəmˌA'],
    ['We resume the work.', 'resume', 'ɹəzˈum'],
  ])('%s', (text, word, phonemes) => {
    const found = english.phonemes(text).find(({ start }) => start === text.indexOf(word));
    expect(found?.phonemes).toBe(phonemes);
  });
});

test('at least 95 of 100 words with several pronunciations are right', () => {
  const right = HOMOGRAPHS.filter(({ phonemes, sentence, word }) => {
    const start = new RegExp(`\\b${word}\\b`).exec(sentence)?.index;
    const found = english.phonemes(sentence).find((token) => token.start === start);
    return found?.phonemes.replaceAll('ˌ', '') === phonemes.replaceAll('ˌ', '');
  });
  expect(HOMOGRAPHS).toHaveLength(100);
  expect(right.length).toBeGreaterThanOrEqual(95);
});

test('a word of thousands of letters is read in pieces', () => {
  const pieces: number[] = [];
  const counting = openEnglish(ASSETS, (word) => {
    pieces.push(word.length);
    return 'x';
  });
  const [token] = counting.phonemes('q'.repeat(10_000));
  expect(token?.end).toBe(10_000);
  expect(Math.max(...pieces)).toBeLessThanOrEqual(24);
});
