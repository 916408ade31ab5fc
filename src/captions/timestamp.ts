/**
 * A time of a subtitle file: hours (two digits, more where there are more), minutes, seconds and
 * milliseconds.
 *
 * @param ms whole milliseconds
 * @param mark between seconds and milliseconds: a comma in SubRip, a full stop in WebVTT
 */
export function timestamp(ms: number, mark: ',' | '.'): string {
  const seconds = ms / 1_000;
  const clock = [seconds / 3_600, (seconds / 60) % 60, seconds % 60]
    .map((value) => twoDigits(value))
    .join(':');
  return `${clock}${mark}${`${ms % 1_000}`.padStart(3, '0')}`;
}

function twoDigits(value: number): string {
  return `${Math.floor(value)}`.padStart(2, '0');
}
