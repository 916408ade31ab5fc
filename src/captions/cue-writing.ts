import type { Cue } from './cue-shape.ts';

/**
 * Formats a time as `hh:mm:ss` and milliseconds.
 * @param ms a whole number of milliseconds
 * @param mark the separator before the milliseconds: comma for SubRip, full stop for WebVTT and TTML
 */
export function timestamp(ms: number, mark: ',' | '.'): string {
  const seconds = ms / 1_000;
  const clock = [seconds / 3_600, (seconds / 60) % 60, seconds % 60]
    .map((value) => twoDigits(Math.floor(value)))
    .join(':');
  return `${clock}${mark}${`${ms % 1_000}`.padStart(3, '0')}`;
}

/** Formats a number with at least two digits. */
export function twoDigits(value: number): string {
  return `${value}`.padStart(2, '0');
}

/** Replaces the signs that begin markup in WebVTT and XML by character references. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Returns the name of a cue's speaker on one line; undefined for a text with one speaker. */
export function speakerName({ speaker }: Cue): string | undefined {
  return speaker?.replaceAll(/[\s\p{Cc}]+/gu, ' ');
}

/**
 * Returns a function that tells, for the words of a cue in order, whether a word begins later than the words before it
 * and than the cue itself, and before the cue ends.
 */
export function laterTimes({ startMs, endMs }: Cue): (ms: number) => boolean {
  let latest = startMs;
  return (ms) => {
    if (ms <= latest || ms >= endMs) return false;
    latest = ms;
    return true;
  };
}
