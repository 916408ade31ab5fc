import { Failure } from '../../errors/failure.ts';
import type { Correction, FormatReader } from '../reader.ts';
import { Walker } from '../reader.ts';

/**
 * Joins several files into one while their bytes arrive, without decoding: no sample is changed, lost or added.
 * Buffers at most a frame or a page.
 */
export interface AudioJoiner {
  /**
   * Adds the next bytes of the part, which the caller may reuse afterwards; returns bytes to write.
   * @throws Failure (bad_answer) if the part differs from earlier ones; (output) if the file is too large for
   *   its format
   */
  write(chunk: Uint8Array): Uint8Array;
  /** Ends the part; returns bytes to write. @throws Failure (bad_answer) for an incomplete part */
  endPart(): Uint8Array;
  /** Returns the start of each part in the decoded file, in milliseconds; empty for raw samples. */
  starts(): readonly number[];
  /** Returns the corrections for bytes that were written earlier; call it after the last part. */
  corrections(): readonly Correction[];
}

/** Base of a joiner: subclasses parse each part in `step`, and call `push` with the bytes of the joined file. */
export abstract class Joiner implements AudioJoiner, FormatReader {
  want: number;
  skip = 0;
  readonly #firstWant: number;
  #walker = new Walker(this);
  #pieces: Uint8Array[] = [];

  /** @param want number of bytes that the first `step` of each part needs */
  constructor(want: number) {
    this.want = want;
    this.#firstWant = want;
  }

  abstract step(bytes: Uint8Array, at: number, position: number): void;
  abstract starts(): readonly number[];

  corrections(): readonly Correction[] {
    return [];
  }

  write(chunk: Uint8Array): Uint8Array {
    this.#walker.write(chunk);
    return this.#take();
  }

  endPart(): Uint8Array {
    this.finishPart(this.#walker);
    this.want = this.#firstWant;
    this.skip = 0;
    this.#walker = new Walker(this);
    return this.#take();
  }

  /** @throws Failure (bad_answer) for a part that is empty or ends inside a frame or a page */
  protected finishPart(walker: Walker): void {
    if (walker.held.length > 0 || walker.bytes === 0) throw misfit('one is cut');
  }

  protected push(bytes: Uint8Array): void {
    // Not `bytes.slice`, which shares the memory of a Buffer.
    if (bytes.length > 0) this.#pieces.push(Uint8Array.prototype.slice.call(bytes));
  }

  #take(): Uint8Array {
    const pieces = this.#pieces;
    this.#pieces = [];
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
  }
}

/** Describes a part that is invalid or differs from earlier ones. */
export function misfit(problem: string): Failure {
  return new Failure(`the parts of the audio cannot be joined: ${problem}`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'Choose another model or format, and try again.',
  });
}
