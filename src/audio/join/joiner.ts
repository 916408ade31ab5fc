import { Failure } from '../../errors/failure.ts';
import type { Correction, FormatReader } from '../reader.ts';
import { Walker } from '../reader.ts';

/** Joins several audio files into one without decoding them. Buffers at most one frame or page. */
export interface AudioJoiner {
  /**
   * Adds the next bytes of the current part and returns bytes to write. The caller may then reuse `chunk`.
   * @throws Failure (bad_answer if the part has other audio properties than earlier parts; output if the file is
   * too large for its format)
   */
  write(chunk: Uint8Array): Uint8Array;
  /** Ends the current part and returns bytes to write. @throws Failure (bad_answer) for an incomplete part */
  endPart(): Uint8Array;
  /** Returns where each part starts in the decoded file, in milliseconds; empty for raw samples. */
  starts(): readonly number[];
  /** Returns bytes that replace earlier ones in the written file. Called after the last part. */
  corrections(): readonly Correction[];
}

/** Base class of the joiners. Subclasses parse a part in `step`, and pass the bytes of the joined file to `push`. */
export abstract class Joiner implements AudioJoiner, FormatReader {
  want: number;
  skip = 0;
  readonly #firstWant: number;
  #walker = new Walker(this);
  #pieces: Uint8Array[] = [];

  /** @param want how many bytes `step` needs at the beginning of each part */
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

  /** Ends the current part. @throws Failure (bad_answer) for an empty or incomplete part */
  protected finishPart(walker: Walker): void {
    if (walker.held.length > 0 || walker.bytes === 0) throw badPart('one is cut');
  }

  protected push(bytes: Uint8Array): void {
    // Copy the bytes: `bytes.slice` of a Buffer would share its memory.
    if (bytes.length > 0) this.#pieces.push(Uint8Array.prototype.slice.call(bytes));
  }

  #take(): Uint8Array {
    const pieces = this.#pieces;
    this.#pieces = [];
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
  }
}

/** Returns the Failure for a part that is invalid or has other audio properties than earlier parts. */
export function badPart(problem: string): Failure {
  return new Failure(`the parts of the audio cannot be joined: ${problem}`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'Choose another model or format, and try again.',
  });
}
