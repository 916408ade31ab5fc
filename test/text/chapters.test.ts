import { describe, expect, test } from 'vitest';
import type { ChapterChoice } from '../../src/text/chapters.ts';
import { chosenSections, sectionsOf } from '../../src/text/chapters.ts';
import type { SpokenText } from '../../src/text/document.ts';
import { plainText } from '../../src/text/document.ts';

const BOOK: readonly SpokenText[] = [
  part('A Book\n\nBy nobody.', []),
  part('Dedication\n\nFor you.', [['Dedication', 0]]),
  part('One 🎈\n\nIt begins.\n\nTwo\n\nIt goes on.', [
    ['One', 0],
    ['Two', 19],
  ]),
  part('And on.', []),
  part('…', [['Picture', 0]]),
  part('Three\n\nIt ends.', [
    ['Part II', 0],
    ['Three', 0],
  ]),
];

function part(text: string, chapters: readonly (readonly [string, number])[]): SpokenText {
  return { ...plainText(text), chapters: chapters.map(([title, at]) => ({ title, at })) };
}

function textsOf(choice: ChapterChoice, book = BOOK): readonly string[] {
  return chosenSections(sectionsOf(book), choice).map(({ text }) => text.text);
}

describe('the sections of a document', () => {
  test('have the number and the title of their chapter; only chapters with text count', () => {
    const sections = sectionsOf(BOOK).map(({ isFrontMatter, number, text, title = '' }) => {
      return `${isFrontMatter ? 'front ' : ''}${number} ${title}: ${text.text.replaceAll('\n\n', ' / ')}`;
    });
    expect(sections).toEqual([
      'front 0 : A Book / By nobody.',
      'front 1 Dedication: Dedication / For you.',
      '2 One: One 🎈 / It begins.',
      '3 Two: Two / It goes on.',
      '3 Two: And on.',
      '4 Three: Three / It ends.',
    ]);
  });

  test('keep the words of the document, their places and the pauses', () => {
    const text = {
      text: 'One\n\nthree km\n\nTwo\n\nfive km',
      written: 'One\n\n3 km\n\nTwo\n\n5 km',
      replaced: [
        { spoken: { start: 5, end: 10 }, written: { start: 5, end: 6 } },
        { spoken: { start: 20, end: 24 }, written: { start: 16, end: 17 } },
      ],
      pauses: [
        { at: 4, ms: 100 },
        { at: 18, ms: 200 },
      ],
      file: 'c.xhtml',
      chapters: [
        { title: 'One', at: 0 },
        { title: 'Two', at: 15 },
      ],
    };
    const [one, two] = sectionsOf([text]).map((section) => section.text);
    expect(one).toMatchObject({ text: 'One\n\nthree km', written: 'One\n\n3 km', skipped: 0 });
    expect(one?.pauses).toEqual([{ at: 4, ms: 100 }]);
    expect(two).toMatchObject({ text: 'Two\n\nfive km', written: 'Two\n\n5 km', skipped: 15 });
    expect(two?.pauses).toEqual([{ at: 3, ms: 200 }]);
    expect(two?.replaced).toEqual([
      { spoken: { start: 5, end: 9 }, written: { start: 5, end: 6 } },
    ]);
    expect(two?.chapters).toEqual([{ title: 'Two', at: 0 }]);
  });
});

describe('--only-chapters', () => {
  test('reads these chapters, in the order of the document', () => {
    expect(
      textsOf({
        onlyChapters: [
          { first: 4, last: 4 },
          { first: 2, last: 2 },
        ],
      }),
    ).toEqual(['One 🎈\n\nIt begins.', 'Three\n\nIt ends.']);
  });

  test.each([
    [BOOK, 'names chapter 5; the document has the chapters 1 to 4'],
    [[part('Words.', [])], 'names chapter 5; the document has no chapters'],
  ])('refuses a chapter that the document does not have (%#)', (book, message) => {
    expect(() => textsOf({ onlyChapters: [{ first: 2, last: 5 }] }, book)).toThrow(message);
  });
});

describe('--skip-front-matter', () => {
  test('leaves out what comes before the first chapter that is no title page or the like', () => {
    const notices: string[] = [];
    const sections = chosenSections(sectionsOf(BOOK), { skipFrontMatter: true }, (notice) =>
      notices.push(notice),
    );
    expect(sections[0]?.title).toBe('One');
    expect(notices).toEqual(['38 characters of front matter are left out (Dedication)']);
  });

  test('goes by the book, if the book says where its main text begins', () => {
    const [title = plainText(''), , first = plainText(''), ...others] = BOOK;
    const book = [{ ...title, frontMatter: 8 }, first, ...others];
    expect(textsOf({ skipFrontMatter: true }, book)[0]).toBe('By nobody.');
    const next = [{ ...title, frontMatter: 18 }, { ...first, frontMatter: 19 }, ...others];
    expect(textsOf({ skipFrontMatter: true }, next)[0]).toBe('Two\n\nIt goes on.');
  });

  test('refuses a document that has nothing else', () => {
    const book = [{ ...plainText('Words.'), frontMatter: 6 }];
    const only = chosenSections.bind(undefined, sectionsOf(book));
    expect(only({ skipFrontMatter: true })).toHaveLength(1);
    const dedication = [part('For you.', [['Dedication', 0]]), part('Text.', [['One', 0]])];
    const choice = { skipFrontMatter: true, onlyChapters: [{ first: 1, last: 1 }] } as const;
    expect(() => textsOf(choice, dedication)).toThrow('nothing but front matter');
  });
});
