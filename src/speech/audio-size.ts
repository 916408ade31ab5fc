import type { Format } from '../audio/formats.ts';
import { countCodePoints } from '../text/code-points.ts';

/**
 * How large the audio of a text is expected to be, in bytes: 12 characters a second, at the usual rate of
 * the format.
 */
export function expectedBytes(text: string, format: Format): number {
  const seconds = countCodePoints(text) / CHARACTERS_PER_SECOND;
  return Math.ceil(seconds * (BYTES_PER_SECOND[format] ?? WAV_BYTES_PER_SECOND)) + HEAD_BYTES;
}

/**
 * How large the audio of a text may be at most: an answer that goes on beyond that has no end.
 * @param text undefined where it is not known
 */
export function mostBytes(text: string | undefined, format: Format): number {
  if (text === undefined) return MOST_UNKNOWN_BYTES;
  return Math.max(MOST_USUAL_BYTES, TIMES_EXPECTED * expectedBytes(text, format));
}

const CHARACTERS_PER_SECOND = 12;
/** Of 48,000 samples of 16 bits. */
const WAV_BYTES_PER_SECOND = 96_000;
/** Of formats that compress, at the rates that services use for speech. */
const BYTES_PER_SECOND: Partial<Record<Format, number>> = {
  mp3: 16_000,
  ogg: 16_000,
  opus: 16_000,
  aac: 16_000,
  m4a: 16_000,
};
const HEAD_BYTES = 1_024;

const TIMES_EXPECTED = 8;
const MOST_USUAL_BYTES = 256 * 1024 * 1024;
/** What the length in the head of a wav can say. */
const MOST_UNKNOWN_BYTES = 4 * 1024 * 1024 * 1024;
