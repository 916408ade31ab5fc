import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { referencePlaces } from '../../../../src/service/media/pictures/reference-places.ts';
import { sceneSvg } from '../../../../src/service/media/pictures/scene/scene-svg.ts';
import { SUBJECTS, subjectsFor } from '../../../../src/service/media/pictures/scene/subjects.ts';

const size = { width: 1_024, height: 576 };

function scene(prompt: string, seed: number): string {
  return sceneSvg({ prompt, seed, ...size });
}

describe('a scene', () => {
  test('is the same for the same prompt and seed, and another for another of either', () => {
    expect(scene('a hill', 1)).toBe(scene('a hill', 1));
    expect(scene('a hill', 1)).not.toBe(scene('a hill', 2));
    expect(scene('a hill at night', 1)).not.toBe(scene('a hill at noon', 1));
  });

  test.each([
    ['mountains by the sea', ['mountains', 'water']],
    ['A CITY in the woods', ['trees', 'buildings']],
    ['seaside forestry', ['hills']],
  ])('of "%s" has what the prompt names', (prompt, subjects) => {
    expect(subjectsFor(prompt, 0.999)).toEqual(subjects);
  });

  test('has numbers that can be drawn and nothing of the prompt, whatever that is', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(...SUBJECTS)),
        fc.nat({ max: 4_294_967_295 }),
        fc.integer({ min: 1, max: 2_048 }),
        fc.integer({ min: 1, max: 2_048 }),
        (prompt, seed, width, height) => {
          const svg = sceneSvg({ prompt: `${prompt}<image href="x"/>`, seed, width, height });
          expect(svg).not.toMatch(/NaN|Infinity|undefined|href|<text/);
          expect(svg).toMatch(/^<svg .*<\/svg>$/);
        },
      ),
      { numRuns: 50 },
    );
  });
});

test('references have places beside each other within the picture, above the title', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 180, max: 2_048 }),
      fc.integer({ min: 180, max: 2_048 }),
      (count, width, height) => {
        const places = referencePlaces(count, { width, height });
        expect(places).toHaveLength(count);
        for (const [index, { left, top, width: wide, height: high }] of places.entries()) {
          expect(Math.min(left, top, wide, high)).toBeGreaterThan(0);
          expect(left + wide).toBeLessThanOrEqual(width);
          expect(top + high).toBeLessThanOrEqual(height * 0.7);
          for (const other of places.slice(index + 1)) {
            const isApart = left + wide <= other.left || top + high <= other.top;
            expect(isApart).toBe(true);
          }
        }
      },
    ),
  );
});
