import { readFile } from 'node:fs/promises';

/** A document, the text that foley speaks, and its differences from the text that other readers show. */
export interface DocumentFile {
  readonly name: string;
  readonly text: string;
  /** Words that other readers show, and that foley leaves out or replaces on purpose. */
  readonly leftOut?: string;
  /** Words that foley adds, or speaks in their place. */
  readonly added?: string;
  /** For HTML, each place at which foley speaks other words than a browser shows, in order. */
  readonly browser?: readonly BrowserDifference[];
}

/** A place at which foley speaks other words than a browser shows. Either may be empty. */
interface BrowserDifference {
  readonly shown: string;
  readonly spoken: string;
  readonly reason: string;
}

/** The documents of `test/fixtures/documents`. */
export const DOCUMENT_FILES: readonly DocumentFile[] = [
  {
    name: 'exponents.html',
    text: `Sizes.

Light travels 3 × 10⁸ m in a second. A cell is 10⁻⁶ m wide.

The field has 25 km², so x² + y² = r² and 2^n > n.

On the 21st day, (a + b)³ was found. Water is H2O.`,
    browser: [
      { shown: '2n', spoken: '2', reason: '2^n says that the raised letter is an exponent' },
      { shown: '', spoken: 'n', reason: '2^n says that the raised letter is an exponent' },
    ],
  },
  {
    name: 'note-marks.html',
    text: `The result was shown and repeated. Others disagree.

See the table and the text. It costs 5 or more.

Read chapter 5 first, and the sixth next.`,
    leftOut: '4 5 6 7 8 9 10 6 A note',
    browser: [
      { shown: '4', spoken: '', reason: 'marks of notes' },
      { shown: '5 others6 disagree7', spoken: 'others disagree', reason: 'marks of notes' },
      { shown: '8', spoken: '', reason: 'marks of notes' },
      { shown: 'text9 10', spoken: 'text', reason: 'marks of notes' },
      { shown: '6 a note', spoken: '', reason: 'text of a note' },
    ],
  },
  {
    name: 'page-breaks.xhtml',
    text: `When he was thirteen, he went home.

There he stayed.

The next part begins on a new page.`,
    leftOut: '13 Pg 15',
    browser: [
      { shown: 'thir13teen', spoken: 'thirteen', reason: 'number of a printed page' },
      { shown: 'pg 15', spoken: '', reason: 'number of a printed page' },
    ],
  },
  {
    name: 'verses.html',
    text: `1 In the beginning there was a word. 2 And the word was short. 14C is older.

Add 1 1/2 cups.`,
    browser: [
      { shown: '2and', spoken: '2 and', reason: 'number of a verse' },
      { shown: '11', spoken: '1 1', reason: 'a raised numerator after a number is a fraction' },
    ],
  },
  {
    name: 'mathml.html',
    text: `Then x² + 2x = 1/2 holds.

The root square root of two is not rational, and a/b is.`,
    leftOut: '2 frac a b',
    added: 'square root of two',
    browser: [
      { shown: 'x 2 2 x', spoken: 'x2 2x', reason: 'the marks of a formula belong together' },
      { shown: '2', spoken: 'square root of two', reason: 'the formula has an alternative text' },
    ],
  },
  {
    name: 'drop-cap.html',
    text: `Once upon a time there was a Wolf.

The end.`,
    added: 'T',
    browser: [
      { shown: 'o nce', spoken: 'once', reason: 'a large initial belongs to its word' },
      { shown: 'he', spoken: 'the', reason: 'the initial is a picture with an alternative text' },
    ],
  },
  { name: 'soft-hyphens.html', text: 'A remarkable understanding of a zerowidth space.' },
  {
    name: 'hidden.html',
    text: `Seen.

Also seen.`,
    leftOut: 'Home Hidden Gone icon',
    browser: [
      { shown: 'home', spoken: '', reason: 'navigation' },
      { shown: 'icon', spoken: '', reason: 'hidden from screen readers' },
    ],
  },
  {
    name: 'lists.html',
    text: `1. Mix the flour.
2. Bake it:
for an hour.
or more.
G. Cool it.
I. Eat it.
No number.`,
    added: '1 2 G I',
    browser: [
      { shown: '', spoken: '1', reason: 'number of a list item' },
      { shown: '', spoken: '2', reason: 'number of a list item' },
      { shown: '', spoken: 'g', reason: 'number of a list item' },
      { shown: '', spoken: 'i', reason: 'number of a list item' },
    ],
  },
  {
    name: 'tables.html',
    text: `Prices.

Fruit, Price.
Apple, 2 dollars.
Pear, 3 dollars.`,
  },
  {
    name: 'definitions.html',
    text: `Foley.

The sounds of a film.

Cue.

A subtitle.

Quiet on the set!

A microphone

The tool.`,
    added: 'A microphone',
    browser: [{ shown: '', spoken: 'a microphone', reason: 'alternative text of a picture' }],
  },
  {
    name: 'ruby.html',
    text: '東京は大きい。',
    browser: [
      {
        shown: '東京とうきょうは大きい',
        spoken: '東京は大きい',
        reason: 'small characters that show the pronunciation',
      },
    ],
  },
  { name: 'entities.html', text: 'Café, naïve & “quoted” — 5 < 6…' },
  {
    name: 'inline.html',
    text: `unbelievable, very run() Ctrl so a link
and a line.

One

Two

Three`,
  },
  { name: 'latin-1.html', text: 'Das Café öffnet früh.' },
  {
    name: 'prefixed.xhtml',
    text: `One.

First.

Second.`,
    leftOut: 'no',
  },
  { name: 'cdata.xhtml', text: 'Before a < b & c after.' },
  {
    name: 'empty-elements.xhtml',
    text: `One two
three.

Four.`,
  },
  {
    name: 'formulas.md',
    text: `Formulas.

If x² + 1 = 5, then x = √4 or x1 ≤ 2.

It costs $5 and then $10 more.`,
    leftOut: 'formulas sqrt le',
  },
  {
    name: 'github.md',
    text: `Warning.

The plate is hot.

Remember this.

Wash your hands.

Wash.
Dry.
Fruit, Price.
Apple, 2.`,
    leftOut: 'note x',
  },
  {
    name: 'obsidian.md',
    text: `See the baking page and Bread.

This is very important.`,
    leftOut: 'tags recipes Baking bread png',
  },
  {
    name: 'inline.md',
    text: `unbelievable, Ctrl and a red boat in 10⁶ m².

It was shown before, see 15 and.`,
    leftOut: '1 2 16 1 A note',
    added: 'a red boat',
  },
  {
    name: 'lists.md',
    text: `Steps:

1. Mix the flour.
2. Bake it:
for an hour.
or more.
3. Eat it.

Then:

5. Clean up.
6. Rest.`,
    added: '1 2 3 5 6',
  },
  {
    name: 'blocks.md',
    text: `Title.

A paragraph over two lines.

A quote

Some HTML

The end`,
    leftOut: 'code',
  },
];

/** Returns the bytes of a document of {@link DOCUMENT_FILES}. */
export function readDocumentFile(name: string): Promise<Buffer> {
  return readFile(new URL(`../../fixtures/documents/${name}`, import.meta.url));
}
