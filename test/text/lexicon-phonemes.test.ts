import { describe, expect, test } from 'vitest';
import { plainText } from '../../src/text/document.ts';
import { Lexicon } from '../../src/text/lexicon.ts';
import { WordMatcher } from '../../src/text/word-matcher.ts';

const TOMATO = { written: 'tomato', spoken: 'təmˈɑːtoʊ', isPhonemes: true };
const YORK = { written: 'New York', spoken: 'njuː jɔːk', isPhonemes: true };
const TOMATO_SENT = { word: 'tomato', phonemes: 'təmˈɑːtoʊ' };

describe('an entry with phonemes', () => {
  test('leaves its word in the text, and adds the phonemes', () => {
    const entries = [TOMATO, YORK, { written: 'nginx', spoken: 'engine x' }];
    const lexicon = new Lexicon(entries);
    const source = plainText('Tomato, tomatoes and nginx: tomato!');
    expect(lexicon.apply(source)).toMatchObject({
      text: 'Tomato, tomatoes and engine x: tomato!',
      written: source.text,
      pronunciations: [TOMATO_SENT],
    });
    const other = plainText('tomatoes');
    expect(lexicon.apply(other)).toBe(other);
    expect(new WordMatcher(entries).pronounce(source.text).map(({ start }) => start)).toEqual([
      0, 28,
    ]);
  });

  test('protects its word from shorter entries, and yields to longer ones', () => {
    const york = { written: 'York', spoken: 'Yorrick' };
    const city = { written: 'New York City', spoken: 'the city' };
    const { pronunciations, text } = new Lexicon([york, YORK, city]).apply(
      plainText('York, New York, New York City'),
    );
    expect(text).toBe('Yorrick, New York, the city');
    expect(pronunciations).toEqual([{ word: 'New York', phonemes: 'njuː jɔːk' }]);
  });

  test('is overridden by a later entry of the same word', () => {
    const alias = { written: 'tomato', spoken: 'love apple' };
    expect(new Lexicon([TOMATO, alias]).pronunciations).toEqual([]);
    expect(new Lexicon([alias, TOMATO]).pronunciations).toEqual([TOMATO_SENT]);
  });
});
