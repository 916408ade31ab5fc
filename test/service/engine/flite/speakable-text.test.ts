import { assert, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { speakableText } from '../../../../src/service/engine/flite/speakable-text.ts';

describe('writes a text in characters that flite says', () => {
  test.each([
    ['typographic quotes', '“It’s ‘fine’,” she said', "\"It's 'fine',\" she said"],
    ['dashes as pauses', 'He — who – came--late - left', 'He, who, came, late, left'],
    ['a dash of a range', 'pages 10–20', 'pages ten to twenty'],
    ['hyphens', 'well‑known −5', 'well-known minus five'],
    ['an ellipsis', 'Well… ok', 'Well... ok'],
    ['accents', 'Café naïve Škoda Ångström', 'Cafe naive Skoda Angstrom'],
    ['letters without an accent to drop', 'Straße Łódź Ærø', 'Strasse Lodz Aero'],
    ['wide and joined forms', 'Ｈｅｌｌｏ ﬁne ½ m²', 'Hello fine one half square meter'],
    ['amounts', '€5 and £6.50, 7 ¥', 'five euros and six pounds and fifty pence, seven yen'],
    ['symbols', '20°C × 3 ± 1', 'twenty degrees Celsius times three plus or minus one'],
    ['emoji', 'Hi 👋🏽 there 👨‍👩‍👧!', 'Hi there!'],
    ['control characters', 'a\0b\u0007c\u001B[31md\r\n\te', 'a b c thirty-one md e'],
    ['half characters', 'x \uD800 y', 'x y'],
    ['invisible signs', 'so\u00ADft ze\u200Dro', 'soft zero'],
    ['a zero-width space, which parts words', 'one\u200Btwo', 'one two'],
    ['other scripts beside ours', 'Say 你好 to Иван', 'Say to'],
    ['digits of other forms', 'Take ３ pills in part Ⅳ', 'Take 3 pills in part IV'],
    ['a rule of one sign', 'Title\n=====\n----- *****', 'Title,'],
  ])('%s', (_name, text, expected) => {
    expect(speakableText(text, 'US')).toBe(expected);
  });

  test.each(['', '   ', '...', '你好，世界', 'Привет', '🎉', '()[]{}<>"\'', '\0\u0001', '— ? !'])(
    'says that nothing of %j can be said',
    (text) => {
      expect([speakableText(text), speakableText(text, 'US')]).toEqual(['', '']);
    },
  );

  test.each([
    ['spells letters by name', 'An API, two CDs, the SQL.', "An ay p i, two c d's, the s q l."],
    ['says the pronoun, not the number one', 'the part I like', 'the part i like'],
    ['says the letter, not the article', 'plan A is vitamin A.', 'plan ay is vitamin ay.'],
    ['says the article, not the letter', 'A cat. A dog, a bird', 'A cat. A dog, a bird'],
    ['says initials without a pause', 'J. R. R. Tolkien', 'j r r Tolkien'],
  ])('%s', (_name, text, expected) => {
    expect(speakableText(text, 'US')).toBe(expected);
  });

  test.each([
    '0 7 42 1984 1,984 -5',
    '3.14 -0.5 1,234.56 (400), "401"; 999!',
    '$5 42% #7 +8 5/6 10-20 12:30 3rd 1990s B2B 5x6',
    '10.0.0.1 2020-01-05 555-1234 +44 20 7946 0958',
    'Dr. Smith lives on Elm Dr., e.g. the API',
  ])('leaves %s as it is written without a reading', (text) => {
    expect(speakableText(text)).toBe(text);
  });

  test('splits words that are too long to speak', () => {
    expect(speakableText('a'.repeat(5_000)).split(' ')).toEqual(
      Array.from({ length: 84 }, (_, index) => 'a'.repeat(index < 83 ? 60 : 20)),
    );
    expect(speakableText('a'.repeat(60))).toBe('a'.repeat(60));
  });

  test('gives printable ASCII for any text and no endless word', () => {
    assert(
      property(string({ unit: 'binary', maxLength: 200 }), (text) => {
        for (const speakable of [speakableText(text), speakableText(text, 'GB')]) {
          expect(speakable).toMatch(/^[ -~]*$/u);
          expect(speakable).toBe(speakable.trim());
          expect(speakable.split(' ').every((word) => word.length <= 60)).toBe(true);
        }
      }),
    );
  });
});
