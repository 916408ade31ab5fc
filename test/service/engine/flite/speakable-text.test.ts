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
    ['wide and joined forms', 'Ｈｅｌｌｏ ﬁne ½ m²', 'Hello fine 1/2 m2'],
    ['amounts', '€5 and £6.50, 7 ¥', 'five euros and 6.50 pounds, seven yen'],
    ['symbols', '20°C × 3 ± 1', 'twenty degrees C times three plus or minus one'],
    ['emoji', 'Hi 👋🏽 there 👨‍👩‍👧!', 'Hi there!'],
    ['control characters', 'a\0b\u0007c\u001B[31md\r\n\te', 'a b c [31md e'],
    ['half characters', 'x \uD800 y', 'x y'],
    ['invisible signs', 'so\u00ADft ze\u200Dro', 'soft zero'],
    ['a zero-width space, which parts words', 'one\u200Btwo', 'one two'],
    ['other scripts beside ours', 'Say 你好 to Иван', 'Say to'],
    ['a rule of one sign', 'Title\n=====\n----- *****', 'Title =, *'],
  ])('%s', (_name, text, expected) => {
    expect(speakableText(text)).toBe(expected);
  });

  test.each(['', '   ', '...', '你好，世界', 'Привет', '🎉', '()[]{}<>"\'', '\0\u0001', '— ? !'])(
    'says that nothing of %j can be said',
    (text) => {
      expect(speakableText(text)).toBe('');
    },
  );

  test.each([
    ['0 7 13 20 42 100', 'zero seven thirteen twenty forty two one hundred'],
    ['(400), "401"; 999!', '(four hundred), "four hundred one"; nine hundred ninety nine!'],
    ['1,000 and 1000', 'one thousand and one thousand'],
    ['1,234,567.', 'one million two hundred thirty four thousand five hundred sixty seven.'],
    ['5000000000', 'five billion'],
    ['1000000000001', 'one trillion one'],
    ['9999999999999999', Array.from({ length: 16 }, () => 'nine').join(' ')],
    ['007 00', 'zero zero seven zero zero'],
    ['-5 and -1,000', 'minus five and minus one thousand'],
  ])('reads the whole numbers of %s', (text, expected) => {
    expect(speakableText(text)).toBe(expected);
  });

  test.each([
    ['1066', 'one thousand sixty six'],
    ['1100', 'eleven hundred'],
    ['1905', 'nineteen oh five'],
    ['1984', 'nineteen eighty four'],
    ['1,984', 'one thousand nine hundred eighty four'],
    ['2000', 'two thousand'],
    ['2009', 'two thousand nine'],
    ['2024', 'twenty twenty four'],
    ['2100', 'two thousand one hundred'],
  ])('reads %s as %s', (text, expected) => {
    expect(speakableText(text)).toBe(expected);
  });

  test.each([
    '3.14 -0.5',
    '1,234.56',
    '1,23 12,34,567 1234,567',
    '$5 42% #7 +8 5/6 10-20 12:30 3rd 1990s B2B 5x6',
    '10.0.0.1 2020-01-05 555-1234',
    '+44 20 7946 0958',
    'March 15, May. 5, 3 June',
  ])('leaves %s to flite', (text) => {
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
        const speakable = speakableText(text);
        expect(speakable).toMatch(/^[ -~]*$/u);
        expect(speakable).toBe(speakable.trim());
        expect(speakable.split(' ').every((word) => word.length <= 60)).toBe(true);
      }),
    );
  });
});
