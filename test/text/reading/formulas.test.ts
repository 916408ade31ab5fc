import { describe, expect, it } from 'vitest';
import { readEnglish, spokenText } from '../../../src/text/reading/english.ts';
import { findFormulas } from '../../../src/text/reading/formulas.ts';

const read = (text: string): string => spokenText(text, readEnglish(text, { region: 'US' }));

describe('a formula in LaTeX', () => {
  it.each([
    ['We know $x^2$, and stop.', 'We know x squared, and stop.'],
    [String.raw`One \frac{1}{2} more.`, 'One one half more.'],
    [String.raw`\(a+b\) and \[c < d\]`, 'a plus b and c is less than d'],
    ['So $$E = mc^2$$.', 'So E equals m c squared.'],
    ['Let $x$ be in ($A$).', 'Let x be in (A).'],
    [String.raw`Here $\frac{a}{b+1}$ is large.`, 'Here a over (b plus one) is large.'],
    [String.raw`An angle of $\theta$ and \sqrt{2}`, 'An angle of theta and square root of two'],
    [String.raw`$\sin x \le 1$ for $0 < x$`, 'sin x is at most one for zero is less than x'],
    ['It costs $5 if $x = 2$.', 'It costs five dollars if x equals two.'],
  ])('%s is read %s', (text, spoken) => {
    expect(read(text)).toBe(spoken);
  });

  it('is one span with its place in the text', () => {
    expect(readEnglish('is $a + b$.', { region: 'US' })).toEqual([
      { start: 0, end: 2, spoken: 'is' },
      { start: 3, end: 10, spoken: 'a plus b' },
    ]);
  });

  it.each([
    '$5 and $6',
    '$10-$20',
    'a $20+ bottle and another at 30$',
    'from $5+tax to 6$',
    '$100 = 90€ and 5$',
    '$5=£4, so $10=£8',
    'US$5=A$7',
    '$5k$ and $5$',
    '$$$ and $$$',
    '$$ for nothing, $$ for free',
    'echo $HOME/a_b:$PATH',
    'set $a=$b',
    'Ke$ha and A$AP',
    String.raw`\$5=\$6`,
    String.raw`C:\frac{1}{2} and D:\a\sqrt{x}`,
    String.raw`\frac and \sqrt are commands`,
    '$TEAM_NAME beats $OTHER_NAME$',
  ])('is not in %s', (text) => {
    expect(findFormulas(text)).toEqual([]);
  });
});

it.each([
  ['It costs $5 and $6.', 'It costs five dollars and six dollars.'],
  ['Between $10-$20, or 30$.', 'Between ten to twenty dollars, or thirty dollars.'],
])('the prices of %s are read %s', (text, spoken) => {
  expect(read(text)).toBe(spoken);
});
