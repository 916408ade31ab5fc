import { describe, expect, it } from 'vitest';
import {
  isNoteMark,
  isPageNumber,
  superscriptText,
} from '../../../src/text/formats/superscript.ts';

/** The text before a superscript, the superscript, the text after it, and what it adds. */
const SUPERSCRIPTS: readonly (readonly [string, string, string, string])[] = [
  ['10', '6', ' cells', '⁶'],
  ['10', '−12', '', '⁻¹²'],
  ['25 km', '2', '', '²'],
  ['E = mc', '2', '', '²'],
  ['E = mc', 'n', '', '^n'],
  ['5 kWh', '2', ' and', '²'],
  ['10 GHz', '2', '', '²'],
  ['mol', '-1', '', '⁻¹'],
  ['V', '2', '/R', '²'],
  ['½mv', '2', '', '²'],
  ['mv', '2', '/2', '²'],
  ['10', '6', '/mL', '⁶'],
  ['4πr', '2', '', '²'],
  ['ax', '2', ' + bx', '²'],
  ['AC', '2', ' = AB', '²'],
  ['= AB', '2', ' + BC', '²'],
  ['GM', '2', '/r', '²'],
  ['ab', '2', 'c', '²'],
  ['nR', '2', ' and', '²'],
  ['e', 'iπ', '', '^iπ'],
  ['e', '-kt', '', '^-kt'],
  ['M', 'me', ' Curie', 'me'],
  ['10 in', '2', '', '²'],
  ['believed in', '2', ' it', ''],
  ['the UK', '2', ' and', ''],
  ['to us', '2', '.', ''],
  ['at 5 pm', '3', '.', ''],
  ['the pH', '3', ' is', ''],
  ['the 3rd', '3', ' is', ''],
  ['the 1990s', '3', ' were', ''],
  ['left', '2', '-wing', ''],
  ['shown', '2', 'that', ''],
  ['Wu', '1,2', ' and', ''],
  ['square meters', '2', '', '²'],
  ['(a + b)', '3', '', '³'],
  ['cos', '2', ' x', '²'],
  ['2', 'n', '', '^n'],
  ['x', 'n+1', '', '^n+1'],
  ['21', 'st', '', 'st'],
  ['1', 'er', '', 'er'],
  ['Brand', 'TM', '', 'TM'],
  ['Mr', 's', '', 's'],
  ['shown', '4', ' that', ''],
  ['shown', '[4]', ' that', ''],
  ['shown', '[citation needed]', '', ''],
  ['shown.', '4', '', ''],
  ['(as shown)', '4', '', ''],
  ['in 1990', '4', '.', ''],
  ['1024', '3', '', '³'],
  ['shown', '1,2', '', ''],
  ['shown', '3–5', '', ''],
  ['prison', 'a', '', ''],
  ['5', '*', '', ''],
  ['a word ', '4', ' that', ''],
  ['', '4', ' See also', '4'],
  ['the earth. ', '2', 'And the', '2 '],
  ['the earth. ', '2', ' And the', '2'],
  ['with ', '14', 'C in', '14'],
  ['1', '1', '/2', ' 1'],
  ['', '1', '⁄2', '1'],
];

describe('a superscript', () => {
  it.each(SUPERSCRIPTS)('after %j: %j before %j adds %j', (base, raised, next, added) => {
    expect(superscriptText(base, raised, next)).toBe(added);
  });
});

describe('the text of a link is the mark of a note', () => {
  it.each(['[15]', '[a]', '[note 3]', '[iv]', '[2–4]', '*', '↩', '¶'])('%s', (text) => {
    expect(isNoteMark(text, false)).toBe(true);
  });

  it.each(['15', '(15)', '[below]', '[edit]', 'Chapter 2', 'a'])('but not %s', (text) => {
    expect(isNoteMark(text, false)).toBe(false);
  });

  it('if it is a superscript number', () => {
    expect(isNoteMark('15', true)).toBe(true);
    expect(isNoteMark('of the day', true)).toBe(false);
  });
});

describe('the text of a page break is the number of the page', () => {
  it.each(['13', '[Pg 13]', 'xii', 'Page 7', '(4)', 'A-3', '{12}'])('%s', (text) => {
    expect(isPageNumber(text)).toBe(true);
  });

  it.each(['Chapter 13', '13 men', 'The end', ''])('but not %j', (text) => {
    expect(isPageNumber(text)).toBe(false);
  });
});
