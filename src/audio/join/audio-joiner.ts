import type { Correction } from '../verdict.ts';

/**
 * Makes one file of several, part after part, while their bytes arrive; keeps no more of them than a
 * frame or a page. Nothing is decoded: no sample is changed, lost or added.
 */
export interface AudioJoiner {
  /**
   * The next bytes of the part, cut anywhere, which may be reused afterwards; gives what can be written.
   * @throws Failure (bad_answer) when the part does not fit to those before it; (output) when the file
   *   grows larger than its format can count
   */
  write(chunk: Uint8Array): Uint8Array;
  /** The part is over, and another may follow; gives what can be written. */
  endPart(): Uint8Array;
  /**
   * Where each part that has begun has its own time zero in the whole as it decodes, in milliseconds; none
   * for samples that do not tell their rate.
   */
  starts(): readonly number[];
  /** All parts are over: what belongs in the place of bytes that were written before. */
  corrections(): readonly Correction[];
}

export interface JoinerOptions {
  /** Whether corrections can be made: in a file, but not in a stream. */
  readonly isSeekable: boolean;
}
