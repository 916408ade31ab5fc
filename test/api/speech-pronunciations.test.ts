import { expect, test } from 'vitest';
import { speechBody } from '../../src/api/resources/speech.ts';
import { SPEECH_SURFACES } from '../../src/contract/speech-surfaces.ts';

const ORDER = { text: 'A Tomato of New\nYork.', voiceId: 'v' };
const known = (word: string) => ({ word, phonemes: 'ə' });

test('a request has only the pronunciations of words that its text may contain', () => {
  const pronunciations = ['tomato', 'potato', 'New York', "l'eau"].map(known);
  expect(speechBody({ ...ORDER, pronunciations }, SPEECH_SURFACES.v3)).toEqual({
    ...ORDER,
    // An elision begins with a letter that is in the text.
    pronunciations: ['tomato', 'New York'].map(known),
  });
});

test('a request without pronunciations has the body that it always had', () => {
  const body = JSON.stringify(speechBody({ ...ORDER, speed: 1 }, SPEECH_SURFACES.v3));
  expect(body).toBe('{"text":"A Tomato of New\\nYork.","voiceId":"v","speed":1}');
  const other = { ...ORDER, speed: 1, pronunciations: [known('potato')] };
  expect(JSON.stringify(speechBody(other, SPEECH_SURFACES.v3))).toBe(body);
});
