import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonFaultLine } from '../../src/config/json-file.ts';

test.each([
  ['{\n  "a": 1,\n}', 3],
  ['{\n  "a" 1\n}', 2],
  ['{\n\n  a: 1\n}', 3],
  ['', 1],
  ['\n\n', 3],
  ['{"a": 1} x', 1],
  ['[1,\n2', 2],
  ['{"a": "b\n"}', 1],
  ['{"a": tru}', 1],
  ['{"a": 01}', 1],
  ['{"a": +1}', 1],
  ['{"a": .5}', 1],
  ['{"a": 1.}', 1],
  ["{'a': 1}", 1],
  ['{"a": 1}}', 1],
  ['{"a": ]', 1],
  ['// note\n{}', 1],
  ['{"a": NaN}', 1],
  ['{"a": "\\x"}', 1],
])('%j has its first syntax error at line %d', (text, line) => {
  expect(jsonFaultLine(text)).toBe(line);
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('text that JSON.parse accepts has no error', () => {
  fc.assert(fc.property(fc.json(), (text) => jsonFaultLine(text) === undefined));
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      expect(jsonFaultLine(JSON.stringify(value, null, 2))).toBeUndefined();
    }),
  );
});

test('damaged JSON has an error exactly when JSON.parse refuses it', () => {
  const damaged = fc
    .tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', ',', ':', '}', ']', '"', '{', '0', 'e', '-', ' ', '\n', '\\'),
    )
    .map(([text, at, put]) => {
      const cut = at % (text.length + 1);
      return text.slice(0, cut) + put + text.slice(cut + 1);
    });
  fc.assert(
    fc.property(damaged, (text) => {
      expect(jsonFaultLine(text) === undefined).toBe(parses(text));
    }),
    { numRuns: 2_000 },
  );
});
