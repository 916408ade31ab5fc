/** A range of a text, counted in code points; `end` is exclusive. */
export interface CodePointRange {
  readonly start: number;
  readonly end: number;
}

/** Maximum number of ranges in the header `X-Foley-Unspoken`. */
export const UNSPOKEN_MAX_RANGES = 256;

/** Code of the realtime warning that the voice leaves out parts of the text (docs/api/realtime.md). */
export const UNSPOKEN_TEXT = 'unspoken_text';

const HEADER_MAX_CHARACTERS = 8_192;
const NUMBER = '(?:0|[1-9][0-9]{0,8})';

/** Regular expression for the value of the header `X-Foley-Unspoken`, such as `6-8,20-22`. */
export const UNSPOKEN_PATTERN = `^${NUMBER}-${NUMBER}(?:,${NUMBER}-${NUMBER})*$`;

/**
 * Formats ascending ranges for the header `X-Foley-Unspoken`, such as `6-8,20-22`
 * (docs/service.md#text-that-a-voice-cannot-speak). If there are more than {@link UNSPOKEN_MAX_RANGES}, merges the
 * ranges with the smallest gaps between them.
 */
export function formatRanges(ranges: readonly CodePointRange[]): string {
  return atMost(UNSPOKEN_MAX_RANGES, ranges)
    .map(({ start, end }) => `${start}-${end}`)
    .join(',');
}

function atMost(limit: number, ranges: readonly CodePointRange[]): readonly CodePointRange[] {
  if (ranges.length <= limit) return ranges;
  const gapBefore = (index: number): number =>
    (ranges[index]?.start ?? 0) - (ranges[index - 1]?.end ?? 0);
  const widest = ranges.map((_, index) => index).slice(1);
  widest.sort((one, other) => gapBefore(other) - gapBefore(one));
  const starts = [0, ...widest.slice(0, limit - 1).toSorted((one, other) => one - other)];
  return starts.map((first, index) => ({
    start: ranges[first]?.start ?? 0,
    end: ranges[(starts[index + 1] ?? ranges.length) - 1]?.end ?? 0,
  }));
}

/**
 * Parses ranges in the format of {@link formatRanges}. Returns undefined if the value is invalid or too long, or if the
 * ranges are not in ascending order.
 */
export function parseRanges(value: string): readonly CodePointRange[] | undefined {
  if (value.length > HEADER_MAX_CHARACTERS || !new RegExp(UNSPOKEN_PATTERN).test(value)) {
    return undefined;
  }
  const ranges = value.split(',').map((range) => {
    const [start = 0, end = 0] = range.split('-').map(Number);
    return { start, end };
  });
  const isAscending = ranges.every(
    ({ start, end }, index) => start < end && start >= (ranges[index - 1]?.end ?? 0),
  );
  return isAscending ? ranges : undefined;
}
