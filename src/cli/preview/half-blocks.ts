import type { Pixels } from './pixels.ts';

/** A picture as lines of half blocks, two pixels in each, in 24-bit colors. Its height must be even. */
export function halfBlocks({ height, rgb, width }: Pixels): string {
  const color = (x: number, y: number): string => {
    const at = (y * width + x) * 3;
    return `${rgb[at] ?? 0};${rgb[at + 1] ?? 0};${rgb[at + 2] ?? 0}`;
  };
  const lines = Array.from({ length: Math.floor(height / 2) }, (_, row) => {
    const cells = Array.from(
      { length: width },
      (__, x) => `\u001b[38;2;${color(x, row * 2)};48;2;${color(x, row * 2 + 1)}m\u2580`,
    );
    return `${cells.join('')}\u001b[0m\n`;
  });
  return lines.join('');
}
