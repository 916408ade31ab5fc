import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  type ReadSpan,
  readEnglish,
  type Region,
  spokenText,
} from '../../../src/text/reading/english.ts';
import { countSteps } from '../../harness/count-steps.ts';

interface Phrase {
  readonly written: string;
  readonly expected: readonly string[];
  readonly region: Region;
  readonly kind: string;
}

/** The golden phrases. Columns: written, spoken (`a | b` allows both), region (empty: both), class. */
const PHRASES: readonly Phrase[] = readFileSync(new URL('english.tsv', import.meta.url), 'utf8')
  .split('\n')
  .slice(1)
  .filter((line) => line !== '')
  .flatMap((line) => {
    const [written = '', spoken = '', region = '', kind = ''] = line.split('\t');
    const expected = spoken.split(' | ');
    const regions = (['US', 'GB'] as const).filter((one) => region === '' || region === one);
    return regions.map((one) => ({ written, expected, region: one, kind }));
  });

/** Ignores case, punctuation and hyphens. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** Expects that spans are in order and contain every letter and digit of the text. */
function expectCovered(written: string, spans: readonly ReadSpan[]): void {
  let last = 0;
  let gaps = '';
  for (const { start, end } of spans) {
    expect(start).toBeGreaterThanOrEqual(last);
    expect(end).toBeGreaterThan(start);
    gaps += written.slice(last, start);
    last = end;
  }
  expect(last).toBeLessThanOrEqual(written.length);
  expect(gaps + written.slice(last)).not.toMatch(/[\p{L}\p{N}]/u);
}

test('the table has at least 600 phrases, each once', () => {
  const rows = PHRASES.map(({ written, region }) => `${region} ${written}`);
  expect(new Set(PHRASES.map(({ written }) => written)).size).toBeGreaterThanOrEqual(600);
  expect(new Set(rows).size).toBe(rows.length);
});

describe.each([...new Set(PHRASES.map(({ kind }) => kind))])('a %s', (kind) => {
  const phrases = PHRASES.filter((phrase) => phrase.kind === kind);
  test.each(phrases.map((phrase) => [phrase.written, phrase.region, phrase] as const))(
    'is read as people read it: %s (%s)',
    (written, region, { expected }) => {
      const spans = readEnglish(written, { region });
      expectCovered(written, spans);
      const got = spokenText(written, spans);
      const isRight = expected.some((one) => plain(one) === plain(got));
      expect(
        isRight,
        `written:  ${written}\nexpected: ${expected.join(' | ')}\ngot:      ${got}`,
      ).toBe(true);
    },
  );
});

/** Length of the texts whose reading is counted. */
const LENGTH = process.env['FOLEY_TEST_SIZE'] === 'full' ? 100_000 : 8_000;

describe('any text is read in linear time', () => {
  test.each([
    ['digits', '7'],
    ['slashes', '/'],
    ['dots', '.'],
    ['fractions', '1/'],
    ['brackets', '('],
    ['letters', 'a'],
    ['capitals', 'A'],
    ['apostrophes', "a'"],
    ['hyphens', 'a-'],
    ['dashes', '-'],
    ['commas', '1,'],
    ['colons', '1:'],
    ['currencies', '$1'],
    ['dotted letters', 'a.'],
    ['underscores', 'a_'],
    ['at signs', 'a@'],
    ['letters and digits', 'a1'],
    ['numbers apart', '12 '],
    ['phone groups', '+12 345 '],
    ['dashes apart', '1 – '],
    ['stops apart', 'St. '],
    ['emoji', '😀'],
    ['an address', 'http://a.'],
  ])('%s', (_name, unit) => {
    const stepsOf = (length: number): number => {
      const text = unit.repeat(length / unit.length);
      return countSteps(() => spokenText(text, readEnglish(text, { region: 'US' })));
    };
    const [short, long] = [stepsOf(LENGTH / 4), stepsOf(LENGTH)];
    expect(long).toBeLessThan(5 * short);
    expect(long).toBeLessThan(1_000 * LENGTH);
  });
});

test('words that are read as they are written have an equal reading', () => {
  const text = 'The quick brown fox — “well‑known” to us — can’t jump.';
  for (const { start, end, spoken } of readEnglish(text, { region: 'US' })) {
    expect(spoken).toBe(text.slice(start, end));
  }
});
