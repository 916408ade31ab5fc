import type { PictureSize } from '../picture-size.ts';
import type { Palette } from './palettes.ts';
import { paletteFor } from './palettes.ts';
import type { SeededRandom } from './seeded-random.ts';
import { between, seededRandom } from './seeded-random.ts';
import { drawSubject } from './subject-svg.ts';
import { subjectsFor } from './subjects.ts';

export interface SceneOrder extends PictureSize {
  readonly prompt: string;
  /** A 32-bit number; the same order gives the same scene. */
  readonly seed: number;
}

/**
 * A scene of what the prompt names, as an SVG document without letters: a sky with its light, and
 * subjects before it. Words that are not known leave it to the seed. Nothing of the prompt itself gets in.
 */
export function sceneSvg({ prompt, seed, width, height }: SceneOrder): string {
  const random = seededRandom(seed);
  const palette = paletteFor(prompt, random());
  const subjects = subjectsFor(prompt, random());
  const size = { width, height };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">`,
    sky(palette, size),
    palette.isDark ? stars(random, size) : '',
    light(random, palette, size),
    clouds(random, palette, size),
    ...subjects.map((subject, index) =>
      drawSubject(subject, {
        random,
        palette,
        size,
        depth: subjects.length === 1 ? 1 : index / (subjects.length - 1),
      }),
    ),
    '</svg>',
  ].join('');
}

function sky({ skyTop, skyBottom }: Palette, { width, height }: PictureSize): string {
  return (
    '<defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1">' +
    `<stop offset="0" stop-color="${skyTop}"/><stop offset="0.8" stop-color="${skyBottom}"/>` +
    `</linearGradient></defs><rect width="${width}" height="${height}" fill="url(#sky)"/>`
  );
}

const STARS = 90;

function stars(random: SeededRandom, { width, height }: PictureSize): string {
  const unit = Math.min(width, height) / 1_000;
  return Array.from({ length: STARS }, () => {
    const [x, y] = [random() * width, random() * height * 0.6];
    const radius = between(random, 0.6, 2) * unit;
    return `<circle ${at(x, y)} r="${radius.toFixed(2)}" fill="#fff" opacity="0.8"/>`;
  }).join('');
}

function light(random: SeededRandom, palette: Palette, { width, height }: PictureSize): string {
  const [x, y] = [between(random, 0.2, 0.8) * width, between(random, 0.14, 0.34) * height];
  const radius = Math.min(width, height) * between(random, 0.06, 0.1);
  const glow = [2.2, 1.5].map(
    (factor) =>
      `<circle ${at(x, y)} r="${(radius * factor).toFixed(1)}" fill="${palette.light}" opacity="0.16"/>`,
  );
  return `${glow.join('')}<circle ${at(x, y)} r="${radius.toFixed(1)}" fill="${palette.light}"/>`;
}

const CLOUDS = 4;

function clouds(random: SeededRandom, palette: Palette, { width, height }: PictureSize): string {
  return Array.from({ length: CLOUDS }, () => {
    const [x, y] = [random() * width, between(random, 0.06, 0.42) * height];
    const [rx, ry] = [between(random, 0.08, 0.2) * width, between(random, 0.008, 0.02) * height];
    const radii = `rx="${rx.toFixed(1)}" ry="${ry.toFixed(1)}"`;
    return `<ellipse ${at(x, y)} ${radii} fill="${palette.light}" opacity="0.28"/>`;
  }).join('');
}

function at(x: number, y: number): string {
  return `cx="${x.toFixed(1)}" cy="${y.toFixed(1)}"`;
}
