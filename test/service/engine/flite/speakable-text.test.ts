import { assert, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { speakableText } from '../../../../src/service/engine/flite/speakable-text.ts';

describe('writes a text in characters that flite says', () => {
  test.each([
    ['typographic quotes', '“It’s ‘fine’,” she said', "\"It's 'fine',\" she said"],
    ['dashes as pauses', 'He — who – came--late - left', 'He, who, came, late, left'],
    ['a dash of a range', 'pages 10–20', 'pages 10 to 20'],
    ['hyphens', 'well‑known −5', 'well-known -5'],
    ['an ellipsis', 'Well… ok', 'Well... ok'],
    ['accents', 'Café naïve Škoda Ångström', 'Cafe naive Skoda Angstrom'],
    ['letters without an accent to drop', 'Straße Łódź Ærø', 'Strasse Lodz Aero'],
    ['wide and joined forms', 'Ｈｅｌｌｏ ﬁne ½ m²', 'Hello fine 1/2 m2'],
    ['amounts', '€5 and £6.50, 7 ¥', '5 euros and 6.50 pounds, 7 yen'],
    ['symbols', '20°C × 3 ± 1', '20 degrees C times 3 plus or minus 1'],
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

  test('cuts words that nobody could say', () => {
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
