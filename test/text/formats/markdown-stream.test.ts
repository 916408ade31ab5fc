import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMarkdownStream } from '../../../src/text/formats/markdown-stream.ts';
import { readMarkdown } from '../../../src/text/formats/markdown.ts';
import type { CodeMode } from '../../../src/text/formats/text-formats.ts';
import { countSteps } from '../../harness/count-steps.ts';

function streamed(pieces: readonly string[], code: CodeMode = 'skip'): string {
  const stream = createMarkdownStream(code);
  return pieces.map((piece) => stream.write(piece)).join('') + stream.end();
}

/** Markdown, and what is said of it. */
const ROWS: readonly (readonly [what: string, markdown: string, text: string])[] = [
  [
    'headings end as sentences',
    '# One\nTwo\n\n## Three ##\n### Why?\nFour',
    'One.\n\nTwo\n\nThree.\n\nWhy?\n\nFour',
  ],
  ['underlined headings end as sentences', 'One\n===\nTwo\n---\nThree', 'One.\n\nTwo.\n\nThree'],
  [
    'items end as sentences',
    '- one\n* [ ] two!\n  1. three\n     more\n+ four',
    'one.\ntwo!\n1. three more.\nfour.',
  ],
  [
    'a year begins no list within a paragraph',
    'It was\n1986. Then\n1. one',
    'It was 1986. Then\n\n1. one.',
  ],
  ['emphasis marks are gone', '**a** *b* __c__ _d_ ~~e~~ ***f*** g**h**i', 'a b c d e f ghi'],
  [
    'signs that are no marks stay',
    '2 * 3 5*3 snake_case a < b ~5 & x [1] # 1',
    '2 * 3 5*3 snake_case a < b ~5 & x [1] # 1',
  ],
  ['escaped signs stay', '\\*a\\* \\_ 1\\. \\x', '*a* _ 1. \\x'],
  ['code spans keep their signs', 'a `b*c*_d_ <e>` ``f`g``.', 'a b*c*_d_ <e> f`g.'],
  [
    'links and images speak their text',
    '[a *b*](http://x.com/(y) "t") ![c](d) [e][f] [[g](h)](i)',
    'a b c e g',
  ],
  [
    'images are words of their own',
    'a![b](c)[d](e) "![f](g)"! ![h](i)2, un[like](j)ly',
    'a b d "f"! h 2, unlikely',
  ],
  [
    'addresses speak themselves',
    '<https://x.com/a_b> http://y.com/c_d_e',
    'https://x.com/a_b http://y.com/c_d_e',
  ],
  [
    'footnotes and definitions are left out',
    'a[^1].\n\n[b]: http://c.com\n[^1]: note\n    more\n\nd',
    'a.\n\nd',
  ],
  [
    'tags and comments are left out',
    'a<br>b <kbd>c</kbd> <!-- d --> e\n<!-- f\n\ng --> h',
    'a\nb c e\n\nh',
  ],
  ['entities are decoded', 'a &amp; b&nbsp;&#33; &#x41; &nope; &', 'a & b ! A &nope; &'],
  [
    'tables are spoken row by row',
    '| A | **B** |\n|---|:-:|\n| 1 | x. |\n| [2](y) | |\nz',
    'A, B.\n1, x.\n2.\n\nz',
  ],
  [
    'tables without a bar at the beginning of a row are spoken row by row',
    'A | **B** | C\n--- | :-: | ---\n1 | x. | 2\n[2](y) | z\n\nb | c\nd | e\n\nA |B\n-|-',
    'A, B, C.\n1, x. 2.\n2, z.\n\nb | c d | e\n\nA |B',
  ],
  [
    'brackets around words speak the words, whose address may follow later',
    'See [the docs], ![a cat] and [b *c*][].\n\n[the docs]: http://x.com\n\n[1] [ ] \\[a\\]',
    'See the docs, a cat and b c.\n\n[1] [ ] [a]',
  ],
  ['code blocks are left out', 'a:\n```js\n# b\n```\n~~~\nc\n```\n~~~\nd', 'a:\n\nd'],
  ['indented code is left out', 'a\n\n    b\n\n\tc\nd\n\n- e\n\n      f', 'a\n\nd\n\ne.\n\nf'],
  ['images of HTML speak their alternative text', '<img src="x" alt="A cat"> sat', 'A cat sat'],
  ['long addresses of images are left out', `[![a](data:${'x'.repeat(5_000)})](b) c`, 'a c'],
  ['a code block that does not end is left out', 'a\n\n```\nb', 'a'],
  ['quotes and rules', '> one\n> two\n\n---\n* * *\nthree', 'one two\n\nthree'],
  ['hard breaks stay', 'one  \ntwo\\\nthree\nfour', 'one\ntwo\nthree four'],
  ['front matter is left out', '---\ntitle: a\n---\n# b', 'b.'],
  [
    'superscripts are exponents or left out as marks of notes',
    'It is 10<sup>6</sup> m<sup>2</sup>, shown<sup>[4]</sup> here<sup>[5](#n)</sup>.',
    'It is 10⁶ m², shown here.',
  ],
  [
    'superscripts and subscripts of Pandoc are exponents, notes and indexes',
    'E = mc^2^, 10^6^ m^2^s, shown^4^ and H~2~O, x^2+y^2 ^o^ ~5 ~~b~~ ~/a',
    'E = mc², 10⁶ m²s, shown and H2O, x^2+y^2 ^o^ ~5 b ~/a',
  ],
  ['emphasis within a word joins it', 'un***believ***able', 'unbelievable'],
  [
    'ordered lists have their numbers',
    '1. one\n1. two\n   - a\n3. three\n\ntext\n\n5. five',
    '1. one.\n2. two.\na.\n3. three.\n\ntext\n\n5. five.',
  ],
  [
    'alerts speak their titles',
    '> [!WARNING]\n> Hot.\n\n> [!tip]- *Try*\n> it',
    'Warning.\n\nHot.\n\nTry.\n\nit',
  ],
  [
    'links to pages speak their text',
    'See [[page|the *text*]], [[Other page]] and ![[a.png]]. x[[1]]',
    'See the *text*, Other page and . x[[1]]',
  ],
  ['highlights are gone', 'a ==very *good*== b == c, d==e==f', 'a very good b == c, d==e==f'],
  [
    'formulas are text, and amounts of money are not formulas',
    'If $x^2$ or $$\\frac{1}{2}$$ or \\(a_1 \\le b\\), it costs $5 and $10. $x$ is $HOME/a:$PATH',
    'If x² or 1/2 or a1 ≤ b, it costs $5 and $10. x is $HOME/a:$PATH',
  ],
  ['a rule at the beginning is no front matter', '---\n\nHello', 'Hello'],
];

describe('Markdown that arrives', () => {
  it.each(ROWS)('%s', (_what, markdown, text) => {
    expect(streamed([markdown]).trim()).toBe(text);
    expect(streamed([markdown.replaceAll('\n', '\r\n')]).trim()).toBe(text);
    expect(streamed(Array.from(markdown)).trim()).toBe(text);
  });

  it('has its code read or announced on request', () => {
    const markdown = 'a\n```\nb  c\n  d\n```\ne';
    expect(streamed([markdown], 'read')).toBe('a\n\nb c\nd\n\ne\n\n');
    expect(streamed([markdown], 'announce')).toBe('a\n\nCode block.\n\ne\n\n');
  });

  it('is spoken as soon as its marks are certain', () => {
    const stream = createMarkdownStream('skip');
    expect(stream.write('This is *some')).toBe('This is some');
    expect(stream.write('* text. And a [li')).toBe(' text. And a');
    expect(stream.write('nk](http')).toBe('');
    expect(stream.write('://x.com) h')).toBe(' link h');
    expect(stream.write('ere.\n\n- it')).toBe('ere.\n\nit');
    expect(stream.write('em\n- ')).toBe('em');
    expect(stream.write('next')).toBe('.\nnext');
    expect(stream.end()).toBe('.\n');
  });
});

const marks = fc.constantFrom(
  ...Array.from('*_`[]()<>!#|-=~\\&;:.^ 1\n'),
  'word',
  'Two words. ',
  ' ',
  '\n\n',
  '- ',
  '1. ',
  '# ',
  '```\n',
  '~~~',
  '| a | b |\n',
  'a | b\n',
  '- | -\n',
  '[a](b)',
  '[^1]',
  '<!--',
  '-->',
  '<b>',
  '&amp;',
  '  \n',
  '\n\n    ',
  '---\n',
  '> ',
  '> [!note] ',
  '$',
  '$$',
  '==',
  '<sup>',
  '</sup>',
  '[[',
  ']]',
  '\\(',
  '\\)',
  '👋',
);
const noise = fc.array(marks, { maxLength: 40 }).map((drawn) => drawn.join(''));

const spoken = (text: string) => text.trim().split(/\s+/);

describe('the text of Markdown that arrives', () => {
  it('does not depend on how the Markdown is cut', () => {
    const cuts = fc.array(fc.nat(60), { maxLength: 12 });
    fc.assert(
      fc.property(noise, cuts, (markdown, drawn) => {
        const places = [0, ...drawn.toSorted((a, b) => a - b), markdown.length];
        const pieces = places.map((at, index) => markdown.slice(at, places[index + 1] ?? at));
        expect(streamed(pieces)).toBe(streamed([markdown]));
        expect(streamed(Array.from(markdown))).toBe(streamed([markdown]));
      }),
      { numRuns: 1_000 },
    );
  });

  it('has the words of the whole document', () => {
    const word = fc.stringMatching(/^[a-z]{1,6}$/);
    const words = fc.array(word, { minLength: 1, maxLength: 5 }).map((drawn) => drawn.join(' '));
    const inline = fc.oneof(
      words,
      words.map((text) => `**${text}**`),
      words.map((text) => `*${text}*`),
      words.map((text) => `\`${text}\``),
      words.map((text) => `[${text}](http://x.com/y_z)`),
      words.map((text) => `![${text}](a.png)`),
    );
    const line = fc.array(inline, { minLength: 1, maxLength: 3 }).map((drawn) => drawn.join(', '));
    const block = fc.oneof(
      line,
      line.map((text) => `## ${text}`),
      fc
        .array(line, { minLength: 1, maxLength: 3 })
        .map((all) => all.map((text) => `- ${text}`).join('\n')),
      fc
        .array(line, { minLength: 1, maxLength: 3 })
        .map((all) => all.map((text, at) => `${at + 1}. ${text}`).join('\n')),
      line.map((text) => `> ${text}\n> ${text}`),
      line.map((text) => `| ${text} | ${text} |\n|---|---|\n| ${text} | ${text} |`),
      line.map((text) => `${text} | ${text}\n--- | ---\n${text} | ${text}`),
      line.map((text) => `\`\`\`js\n${text}\n\`\`\``),
    );
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 6 }), (blocks) => {
        const markdown = blocks.join('\n\n');
        expect(spoken(streamed(Array.from(markdown)))).toEqual(
          spoken(readMarkdown(markdown, 'skip').text),
        );
      }),
    );
  });

  it('takes linear time, whatever its marks are', () => {
    for (const mark of [
      '[',
      '[a](',
      '<a ',
      '`',
      '*a_',
      '&',
      '![',
      '> ',
      '- ',
      '|',
      'a | ',
      'a | b\n- | -\n',
      '[a]',
      '\\',
      '[\n',
      '#',
      '<!--',
      '```',
    ]) {
      const steps = (count: number) => countSteps(() => streamed([mark.repeat(count)]));
      expect(steps(4_000), mark).toBeLessThan(5 * steps(1_000));
    }
  });
});
