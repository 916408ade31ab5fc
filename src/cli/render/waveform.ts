/** From nothing to full scale. */
const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** The quietest level that rises above the lowest bar, in decibels below full scale. */
const FLOOR_DB = -48;

/** A line of bars, one for each level from 0 to 1; as high as it sounds, which is logarithmic. */
export function drawWaveform(levels: readonly number[]): string {
  return levels
    .map((level) => {
      const share = 1 - (20 * Math.log10(Math.max(level, Number.MIN_VALUE))) / FLOOR_DB;
      const bar = Math.round(Math.min(1, Math.max(0, share)) * (BARS.length - 1));
      return BARS[bar] ?? BARS[0];
    })
    .join('');
}
