import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fixedSeed } from '../../harness/fixed-seed.ts';
import { underSeed } from '../../harness/seed.ts';

test('the gates make the same choices each time, and the soak makes new ones', async () => {
  const isFixed = fixedSeed() !== undefined;
  expect(fc.readConfigureGlobal().seed).toBe(fixedSeed());
  const [once, again] = [fc.sample(fc.maxSafeInteger(), 9), fc.sample(fc.maxSafeInteger(), 9)];
  expect(isDeepStrictEqual(once, again)).toBe(isFixed);
  const seeds: number[] = [];
  for (let time = 0; time < 2; time += 1) await underSeed(async (seed) => void seeds.push(seed));
  expect(new Set(seeds).size).toBe(isFixed ? 1 : 2);
});
