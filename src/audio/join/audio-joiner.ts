import { Failure } from '../../errors/failure.ts';
import type { Correction } from '../reader.ts';

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

/** Collects bytes that are ready, copied, until they are taken. */
export class ByteSink {
  #pieces: Uint8Array[] = [];

  push(bytes: Uint8Array): void {
    // A copy also of a Buffer, whose own slice shares its memory.
    if (bytes.length > 0) this.#pieces.push(Uint8Array.prototype.slice.call(bytes));
  }

  take(): Uint8Array {
    const pieces = this.#pieces;
    this.#pieces = [];
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
  }
}

/** A part that cannot be joined to those before it, or that is no such file. */
export function misfit(problem: string): Failure {
  return new Failure(`the parts of the audio cannot be joined: ${problem}`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'The service answered them differently; name a model and a format, and try again.',
  });
}
