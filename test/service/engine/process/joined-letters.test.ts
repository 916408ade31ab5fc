import { describe, expect, it, test } from 'vitest';
import { joinLetters, markLetters } from '../../../../src/service/engine/process/joined-letters.ts';
import { TracedText } from '../../../../src/service/engine/traced-text.ts';
import { second, wholeSpeech } from './engine-under-test.ts';

test.each([
  ['A I', 'A.I'],
  ['A P I', 'A.P.I'],
  ['A M', 'A.M'],
  ['C E Os', "C.E.O's"],
  ["A P I's", "A.P.I's"],
  ['I Ds', "I-D's"],
  ['A four', 'A-four'],
  ['A minus', 'A-minus'],
  ['A T and T', 'A.T and T'],
  ['three P M', 'three P.M'],
  ['I P v six', 'I.P v six'],
  ['seat four A', 'seat four A'],
  ['ten', 'ten'],
])('joins %j to %j', (spoken, joined) => {
  expect(joinLetters(spoken)).toBe(joined);
});

test.each([
  ['Vitamin A is here.', 'Vitamin A- is here.'],
  ['We got an A for it.', 'We got an A- for it.'],
  ['A to Z, A or B', 'A- to Z, A- or B'],
  ['Type A blood', 'Type A- blood'],
  ['Mind your Ps and Qs.', "Mind your P's and Q's."],
  ['two As', "two A's"],
  ...[
    'A man saw a cat.',
    'Once Upon A Time, we read A Tale of Two Cities.',
    'THIS IS A TEST',
    'Chapter One\n\nA man came.',
    'As it is, A-list Us',
    'A B movie, an A.',
    'A in-depth look',
  ].map((text) => [text, text]),
])('marks the letters of %j', (text, marked) => {
  expect(markLetters(new TracedText(text ?? '')).text).toBe(marked);
});

const { loadPhonemes } = await import(
  new URL('../../../../engines/parts/phonemes.mjs', import.meta.url).href
);

describe('espeak-ng says the names of letters', async () => {
  const phonemize = await loadPhonemes();
  const A = 'eɪ';
  const I = 'aɪ';
  it.each([
    ['AI', [A, I]],
    ['10 a.m.', [A, 'ɛm']],
    ['API', [A, 'piː', I]],
    ['APIs', [A, 'piː', I, 'z']],
    ["The API's", [A, 'piː', I, 'z']],
    ['CEOs', ['siː', 'iː', 'oʊ', 'z']],
    ['IDs', [I, 'diː', 'z']],
    ['The USA', ['juː', 'ɛs', A]],
    ['A UFO', ['juː', 'ɛf', 'oʊ']],
    ['The UAE', ['juː', A, 'iː']],
    ['The IO', [I, 'oʊ']],
    ['FAQs', ['ɛf', A, 'kjuː', 'z']],
    ['An A4', [A, 'foːɹ']],
    ['Vitamin A', [A, 'ɪz']],
    ['Q&A', ['kjuː', 'ænd', A, 'ɪz']],
    ['A to Z', [A, 'tə', 'ziː']],
    ['Seat 4A', [A, 'ɪz']],
    ['Three Bs', ['biːz', 'ɪz']],
  ])('in %j', (written, sounds) => {
    const reading = new TracedText(`${written} is here.`).read('US', joinLetters);
    const { text } = markLetters(reading);
    const { spoken } = phonemize(text, 'en-us');
    const said = spoken.map(({ phonemes }: { phonemes: string[] }) => phonemes.join('')).join(' ');
    const plain = said.replaceAll(/[ˈˌ ]/g, '').replaceAll('ɔ', 'o');
    expect(plain).toContain(sounds.join('').replaceAll('ɔ', 'o'));
  });
});

it('sends joined letters to an engine', async () => {
  const { engine } = second({}, 'reports requests');
  const text = 'CEOs of AI use an API at 10 a.m. today.';
  const error = await wholeSpeech(engine, { text }).catch((reason: Error) => reason);
  expect(error).toMatchObject({
    message: expect.stringContaining("C.E.O's of A.I use an A.P.I at ten A.M today."),
  });
});
