import type { PictureSize } from '../picture-size.ts';
import type { Palette } from './palettes.ts';
import type { SeededRandom } from './seeded-random.ts';
import { between } from './seeded-random.ts';
import type { Subject } from './subjects.ts';

export interface SubjectPlace {
  readonly random: SeededRandom;
  readonly palette: Palette;
  readonly size: PictureSize;
  /** From 0, the farthest, to 1, the nearest. */
  readonly depth: number;
}

/** One subject of a scene as a part of its SVG. */
export function drawSubject(subject: Subject, place: SubjectPlace): string {
  switch (subject) {
    case 'mountains':
      return ridge(place, { steps: 9, roughness: 0.2, isSmooth: false });
    case 'hills':
      return ridge(place, { steps: 5, roughness: 0.07, isSmooth: true });
    case 'water':
      return water(place);
    case 'trees':
      return trees(place);
    case 'buildings':
      return buildings(place);
  }
}

/** Where the ground of a subject begins, in pixels from the top. */
function ground({ size, depth }: SubjectPlace): number {
  return size.height * (0.56 + 0.16 * depth);
}

interface Shape {
  readonly steps: number;
  /** How far the ridge goes up, as a part of the height. */
  readonly roughness: number;
  readonly isSmooth: boolean;
}

/** Three ridges, one before the other. */
function ridge(place: SubjectPlace, { steps, roughness, isSmooth }: Shape): string {
  const { random, palette, size } = place;
  return palette.layers
    .map((colour, index) => {
      const base = ground(place) + index * size.height * 0.07;
      const tops = Array.from({ length: steps + 1 }, (_, step) => {
        const up = between(random, 0.1, 1) * (step % 2 === 0 ? 0.35 : 1);
        return [(step / steps) * size.width, base - up * roughness * size.height] as const;
      });
      return `<path d="${isSmooth ? curve(tops) : line(tops)}${floor(size)}" fill="${colour}"/>`;
    })
    .join('');
}

type Point = readonly [x: number, y: number];

function line(points: readonly Point[]): string {
  return points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${point(x, y)}`).join('');
}

function curve(points: readonly Point[]): string {
  return points
    .map(([x, y], index) => {
      const [beforeX, beforeY] = points[index - 1] ?? [x, y];
      if (index === 0) return `M${point(x, y)}`;
      const middle = (beforeX + x) / 2;
      return `C${point(middle, beforeY)} ${point(middle, y)} ${point(x, y)}`;
    })
    .join('');
}

function floor({ width, height }: PictureSize): string {
  return `L${point(width, height)}L${point(0, height)}Z`;
}

const WAVES = 14;

function water(place: SubjectPlace): string {
  const { random, palette, size } = place;
  const top = ground(place);
  const [far, near] = [palette.layers[0], palette.layers[1]];
  const waves = Array.from({ length: WAVES }, (_, index) => {
    const y = top + ((index + 1) / (WAVES + 1)) ** 1.5 * (size.height - top);
    const [x, length] = [random() * size.width, between(random, 0.08, 0.3) * size.width];
    const thickness = (size.height * (0.001 + 0.004 * (index / WAVES))).toFixed(1);
    return (
      `<path d="M${point(x - length / 2, y)}L${point(x + length / 2, y)}" ` +
      `stroke="${palette.light}" stroke-width="${thickness}" stroke-linecap="round" opacity="0.5"/>`
    );
  });
  return (
    `<path d="M${point(0, top)}L${point(size.width, top)}${floor(size)}" fill="${far}"/>` +
    `<path d="M${point(0, (top + size.height) / 2)}L${point(size.width, (top + size.height) / 2)}` +
    `${floor(size)}" fill="${near}" opacity="0.55"/>${waves.join('')}`
  );
}

const TREES = 26;

function trees(place: SubjectPlace): string {
  const { random, palette, size } = place;
  const top = ground(place);
  const field = `<path d="M${point(0, top)}L${point(size.width, top)}${floor(size)}" fill="${palette.layers[1]}"/>`;
  const drawn = Array.from({ length: TREES }, (_, index) => {
    const depth = index / TREES;
    const foot = top + depth * size.height * 0.3;
    const tall = size.height * (0.1 + 0.14 * depth) * between(random, 0.7, 1.2);
    const x = random() * size.width;
    const half = tall * 0.24;
    const colour = depth < 0.5 ? palette.layers[1] : palette.layers[2];
    return [0, 0.28, 0.56]
      .map((part) => {
        const [up, down] = [foot - tall * (1 - part * 0.75), foot - tall * (0.56 - part)];
        const wide = half * (0.6 + part * 0.7);
        return `<path d="M${point(x, up)}L${point(x + wide, down)}L${point(x - wide, down)}Z" fill="${colour}"/>`;
      })
      .join('');
  });
  return field + drawn.join('');
}

const BUILDINGS = 22;

function buildings(place: SubjectPlace): string {
  const { random, palette, size } = place;
  const foot = ground(place) + size.height * 0.06;
  const blocks = Array.from({ length: BUILDINGS }, (_, index) => {
    const wide = between(random, 0.035, 0.09) * size.width;
    const tall = between(random, 0.08, 0.34) * size.height;
    const x = random() * size.width - wide / 2;
    const colour = palette.layers[index % 2 === 0 ? 1 : 2];
    return box(x, foot - tall, wide, tall + size.height * 0.02, colour) + windows(x, foot - tall);

    function windows(left: number, up: number): string {
      const unit = wide / 7;
      return Array.from({ length: 9 }, (_none, window) => {
        const [column, row] = [window % 3, Math.floor(window / 3)];
        if (random() < 0.4 || (row + 1) * 2.4 * unit > tall) return '';
        const y = up + unit * (1 + row * 2.2);
        return box(left + unit * (1 + column * 2), y, unit, unit * 1.3, palette.light);
      }).join('');
    }
  });
  const street = `<path d="M${point(0, foot)}L${point(size.width, foot)}${floor(size)}" fill="${palette.layers[2]}"/>`;
  return blocks.join('') + street;
}

function box(x: number, y: number, width: number, height: number, colour: string): string {
  const [left, top, wide, tall] = [x, y, width, height].map((value) => value.toFixed(1));
  return `<rect x="${left}" y="${top}" width="${wide}" height="${tall}" fill="${colour}"/>`;
}

function point(x: number, y: number): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
