import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { openSortedLines } from '../../src/phonemes/sorted-lines.ts';
import { createSandbox } from '../harness/sandbox.ts';

const KEYS = ['a', 'a b', 'aa', 'ab', 'b', 'bird', 'birds', 'z', 'é', '♥'];

async function lookupOf(lines: string) {
  const { root } = await createSandbox();
  const file = path.join(root, 'lines.txt');
  writeFileSync(file, lines);
  return openSortedLines(file);
}

describe('a file of sorted lines', () => {
  test('returns the value of each key, however many lines there are', async () => {
    for (const count of KEYS.keys()) {
      const keys = KEYS.slice(0, count + 1);
      const find = await lookupOf(keys.map((key) => `${key}\tvalue of ${key}\n`).join(''));
      expect(keys.map(find)).toEqual(keys.map((key) => `value of ${key}`));
      expect(KEYS.slice(count + 1).map(find)).toEqual(KEYS.slice(count + 1).map(() => undefined));
    }
  });

  test('has no other keys', async () => {
    const find = await lookupOf(KEYS.map((key) => `${key}\t${key}\ttwo\n`).join(''));
    expect(find('bird')).toBe('bird\ttwo');
    const others = ['', ' ', 'B', 'a ', 'bir', 'birdsong', 'zz', 'ê', '☺', 'two'];
    expect(others.map(find)).toEqual(others.map(() => undefined));
  });

  test('may be empty, and may end without a line end', async () => {
    expect((await lookupOf(''))('a')).toBeUndefined();
    expect((await lookupOf('a\t1\nb\t2'))('b')).toBe('2');
  });
});
