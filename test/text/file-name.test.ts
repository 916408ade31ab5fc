import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slug } from '../../src/durable/names.ts';

describe('the stem of an automatic file name', () => {
  it.each([
    ['Hello, world!', 'hello-world'],
    ['Crème brûlée à la carte', 'creme-brulee-a-la-carte'],
    ['Straße nach Łódź', 'strasse-nach-lodz'],
    ['ﬁne ½', 'fine-1-2'],
    ['--rf /', 'rf'],
    ['../../etc/passwd', 'etc-passwd'],
    ['日本語', 'speech'],
    ['…', 'speech'],
    ['', 'speech'],
    ['   \n two  words ', 'two-words'],
    [
      'This sentence is longer than forty characters are',
      'this-sentence-is-longer-than-forty-chara',
    ],
    ['İstanbul', 'istanbul'],
  ])('of %j is %s', (text, stem) => {
    expect(slug(text)).toBe(stem);
  });

  it('is always a safe name of at most forty characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
        expect(slug(text)).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/);
      }),
    );
  });
});
