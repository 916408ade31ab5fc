import type { Pixels } from './pixels.ts';

/** So many steps has each of red, green and blue: 216 colors in all, which every such terminal has. */
const STEPS = 6;
const BAND_ROWS = 6;
const FULL = 100;
const FIRST_CHARACTER = 0x3f;

/** A picture as a terminal with sixel graphics draws it: bands of six rows, one color after the other. */
export function sixel({ height, rgb, width }: Pixels): string {
  const colors = Uint8Array.from({ length: width * height }, (_, pixel) => colorOf(rgb, pixel * 3));
  const bands: string[] = [];
  for (let top = 0; top < height; top += BAND_ROWS) {
    bands.push(bandOf({ colors, width, height }, top));
  }
  return `\u001bPq"1;1;${width};${height}${palette()}${bands.join('-')}\u001b\\\n`;
}

function colorOf(rgb: Uint8Array, at: number): number {
  const step = (channel: number): number =>
    Math.round(((rgb[at + channel] ?? 0) / 255) * (STEPS - 1));
  return (step(0) * STEPS + step(1)) * STEPS + step(2);
}

function palette(): string {
  const share = (step: number): number => Math.round((step / (STEPS - 1)) * FULL);
  return Array.from({ length: STEPS ** 3 }, (_, color) => {
    const red = Math.floor(color / STEPS ** 2);
    const green = Math.floor(color / STEPS) % STEPS;
    return `#${color};2;${share(red)};${share(green)};${share(color % STEPS)}`;
  }).join('');
}

interface Colored {
  readonly colors: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** Each character is a column of six pixels: those that have the color. */
function bandOf({ colors, height, width }: Colored, top: number): string {
  const rows = Math.min(BAND_ROWS, height - top);
  const columns = new Map<number, Uint8Array>();
  for (let row = 0; row < rows; row += 1) {
    for (let x = 0; x < width; x += 1) {
      const color = colors[(top + row) * width + x] ?? 0;
      const bits = columns.get(color) ?? new Uint8Array(width);
      bits[x] = (bits[x] ?? 0) | (1 << row);
      columns.set(color, bits);
    }
  }
  return Array.from(columns, ([color, bits]) => `#${color}${inRuns(bits)}`).join('$');
}

function inRuns(bits: Uint8Array): string {
  const text = Array.from(bits, (value) => String.fromCharCode(FIRST_CHARACTER + value)).join('');
  return text.replaceAll(/(.)\1{3,}/g, (run, character) => `!${run.length}${String(character)}`);
}
