/** When a packet of video is shown in its source, in seconds; in the order of decoding. */
export interface SourceTime {
  readonly timestamp: number;
  readonly duration: number;
}

/** Where a packet of the source comes in the result. */
export interface PlacedTime extends SourceTime {
  /** Which packet of the source it is. */
  readonly index: number;
}

/** Pictures that are only there for others to be decoded are shown within so much of the last one. */
const HIDDEN_SHARE = 0.1;

/**
 * Puts the pictures of a source, shown again from its beginning as often as needed, onto a clock that
 * begins with the first of them, so that the last ends exactly at `seconds`. Pictures that would be shown
 * later are left out; where others need them to be decoded, they are shown at the very end, too short to
 * be seen.
 * @param length of the source, from its first picture to the end of its last
 */
export function placePictures(
  source: readonly SourceTime[],
  { length, seconds }: { readonly length: number; readonly seconds: number },
): readonly PlacedTime[] {
  const first = source.reduce((least, { timestamp }) => Math.min(least, timestamp), Infinity);
  const placed: PlacedTime[] = [];
  for (let turn = 0; turn * length < seconds - TICK; turn += 1) {
    for (const [index, { timestamp, duration }] of source.entries()) {
      placed.push({ index, timestamp: timestamp - first + turn * length, duration });
    }
  }
  const needed = placed.slice(0, placed.findLastIndex((one) => isShown(one, seconds)) + 1);
  return clip(needed, seconds);
}

/** What is shorter is no picture, but a rounding of clocks. */
const TICK = 0.000_5;

function isShown({ timestamp }: PlacedTime, seconds: number): boolean {
  return timestamp < seconds - TICK;
}

function clip(placed: readonly PlacedTime[], seconds: number): readonly PlacedTime[] {
  const shown = placed.filter((one) => isShown(one, seconds));
  const last = shown.reduce((latest, { timestamp }) => Math.max(latest, timestamp), 0);
  const hidden = placed
    .filter((one) => !isShown(one, seconds))
    .sort((one, other) => one.timestamp - other.timestamp);
  const step = ((seconds - last) * HIDDEN_SHARE) / (hidden.length + 1);
  const lateTimes = new Map(
    hidden.map((one, place) => [one, seconds - step * (hidden.length - place)] as const),
  );
  return placed.map((one) => {
    const timestamp = lateTimes.get(one) ?? one.timestamp;
    return { ...one, timestamp, duration: Math.min(one.duration, seconds - timestamp) };
  });
}
