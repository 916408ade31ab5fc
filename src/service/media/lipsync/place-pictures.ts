/** When a packet of video is shown in its source, in seconds; in the order of decoding. */
export interface SourceTime {
  readonly timestamp: number;
  readonly duration: number;
}

/** What is shorter is no picture, but a rounding of clocks. */
const TICK = 0.000_5;

/**
 * Puts the pictures of a source, shown again from its beginning as often as needed, onto a clock that
 * begins with the first of them, so that they end exactly at `seconds`. From the first one on, in the order
 * of decoding, that would be shown later, nothing is taken any more: the few pictures that need it to be
 * decoded go with it, and the last that is left is held up to the end.
 * @param length of the source, from its first picture to the end of its last
 * @returns a time for each packet that is taken; packets of the source come in turn
 */
export function placePictures(
  source: readonly SourceTime[],
  { length, seconds }: { readonly length: number; readonly seconds: number },
): readonly SourceTime[] {
  const first = source.reduce((least, { timestamp }) => Math.min(least, timestamp), Infinity);
  const placed: SourceTime[] = [];
  for (let turn = 0; turn * length < seconds - TICK; turn += 1) {
    const start = turn * length - first;
    // One by one: there may be more than a call takes arguments.
    for (const { timestamp, duration } of source) {
      if (timestamp + start >= seconds - TICK) break;
      placed.push({ timestamp: timestamp + start, duration });
    }
  }
  return heldUntil(seconds, placed);
}

function heldUntil(seconds: number, placed: readonly SourceTime[]): readonly SourceTime[] {
  const last = placed.reduce((latest, { timestamp }) => Math.max(latest, timestamp), 0);
  return placed.map(({ timestamp, duration }) => ({
    timestamp,
    duration: timestamp === last ? seconds - timestamp : Math.min(duration, seconds - timestamp),
  }));
}
