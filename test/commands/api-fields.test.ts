import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseField, typedValue } from '../../commands/api/plan-call.ts';
import type { ReadField } from '../../commands/api/request-body.ts';
import { jsonOfFields } from '../../commands/api/request-body.ts';

function read(given: string): ReadField {
  const field = parseField('-F', given);
  const { value } = field;
  if (value === undefined) return { field, value };
  return { field, value: value.kind === 'typed' ? typedValue(value.text) : 'content' };
}

const objectOf = (...given: string[]): unknown => jsonOfFields(given.map((one) => read(one)));

describe('a value becomes what it looks like', () => {
  test.each([
    ['true', true],
    ['false', false],
    ['null', null],
    ['0', 0],
    ['-3', -3],
    ['1.25', 1.25],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740993', '9007199254740993'],
    ['007', '007'],
    ['+5', '+5'],
    ['1e3', '1e3'],
    ['.5', '.5'],
    ['True', 'True'],
    ['', ''],
    ['hello world', 'hello world'],
    ['{"a":1}', '{"a":1}'],
  ])('%j', (text, value) => {
    expect(typedValue(text)).toBe(value);
  });

  test('a whole number that is exact comes out as it went in', () => {
    fc.assert(fc.property(fc.maxSafeInteger(), (value) => typedValue(`${value}`) === value));
  });
});

describe('fields become JSON', () => {
  test.each([
    [['a=1', 'b=x'], { a: 1, b: 'x' }],
    [['a=b=c'], { a: 'b=c' }],
    [['a='], { a: '' }],
    [['a[b]=1', 'a[c][d]=2'], { a: { b: 1, c: { d: 2 } } }],
    [['a[]=1', 'a[]=x'], { a: [1, 'x'] }],
    [['a[]'], { a: [] }],
    [['a[]', 'a[]=1'], { a: [1] }],
    [['a[][b]=1', 'a[][c]=2', 'a[][b]=3'], { a: [{ b: 1, c: 2 }, { b: 3 }] }],
    [['a[][b][]=1', 'a[][b][]=2'], { a: [{ b: [1, 2] }] }],
    [['a[b][]=null'], { a: { b: [null] } }],
    [['text=@file'], { text: 'content' }],
  ])('%j', (given, expected) => {
    expect(objectOf(...given)).toEqual(expected);
  });

  test('a key that is the name of the prototype is a key like any other', () => {
    const text = JSON.stringify(objectOf('__proto__[a]=1', 'constructor[prototype]=2'));
    expect(text).toBe('{"__proto__":{"a":1},"constructor":{"prototype":2}}');
    expect(Object.prototype).not.toHaveProperty('a');
  });

  test.each([
    [['a=1', 'a=2'], '-F a is given twice'],
    [['a[b]=1', 'a[b]=2'], '-F a[b] is given twice'],
    [
      ['a=1', 'a[b]=2'],
      '-F a[b] requires a to be an object, but another field sets it to a value or a list',
    ],
    [
      ['a=1', 'a[]=2'],
      '-F a[] requires a to be a list, but another field sets it to a value or an object',
    ],
    [
      ['a[]=1', 'a[b]=2'],
      '-F a[b] requires a to be an object, but another field sets it to a value or a list',
    ],
    [
      ['a[b]=1', 'a[]=2'],
      '-F a[] requires a to be a list, but another field sets it to a value or an object',
    ],
    [['a[][]=1'], '-F a[][] contains a nested list, which -F and -f cannot express'],
  ])('%j cannot be', (given, message) => {
    expect(() => objectOf(...given)).toThrow(expect.objectContaining({ message, exit: 'usage' }));
  });

  test('keys and values of any kind arrive as they are', () => {
    const key = fc.string({ minLength: 1 }).filter((text) => !/[[\]=]/.test(text));
    const fields = fc.uniqueArray(fc.tuple(key, fc.string()), { selector: ([name]) => name });
    fc.assert(
      fc.property(fields, (pairs) => {
        const json: unknown = jsonOfFields(
          pairs.map(([name, value]) => ({ field: parseField('-f', `${name}=${value}`), value })),
        );
        expect(Object.entries(json ?? {})).toEqual(Object.entries(Object.fromEntries(pairs)));
      }),
    );
  });
});

describe('what is no field is refused', () => {
  test.each(['', 'a', '=1', '[a]=1', 'a[=1', 'a]b=1', 'a[b]c=1', 'a[b'])('%j', (given) => {
    expect(() => parseField('-F', given)).toThrow(
      expect.objectContaining({ message: `-F is "${given}"; it takes key=value`, exit: 'usage' }),
    );
  });

  test('an @ without a file says how an @ is sent', () => {
    expect(() => parseField('-F', 'a=@')).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('-f a=@') }),
    );
    expect(parseField('-f', 'a=@x').value).toEqual({ kind: 'raw', text: '@x' });
  });
});
