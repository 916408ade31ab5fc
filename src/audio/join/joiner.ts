import { Failure } from '../../errors/failure.ts';
import type { Correction, FormatReader } from '../reader.ts';
import { Walker } from '../reader.ts';

/**
 * Joins several files into one while their bytes arrive; buffers at most a frame or a page. Nothing is decoded:
 * no sample is changed, lost or added.
 */
export interface AudioJoiner {
  /**
   * Takes the next bytes of the part, cut anywhere, which the caller may reuse; returns bytes to write.
   * @throws Failure (bad_answer) when the part does not fit those before it; (output) when the file
   *   grows larger than its format can count
   */
  write(chunk: Uint8Array): Uint8Array;
  /** Ends the part; another may follow. Returns bytes to write. @throws Failure (bad_answer) when it is incomplete */
  endPart(): Uint8Array;
  /** Returns where each part begins in the decoded file, in milliseconds; empty for raw samples. */
  starts(): readonly number[];
  /** Returns, after the last part, what to overwrite in the bytes before. */
  corrections(): readonly Correction[];
}

/** Joins files of one format: reads each part with `step`, which calls `push` for the bytes of the joined file. */
export abstract class Joiner implements AudioJoiner, FormatReader {
  want: number;
  skip = 0;
  readonly #firstWant: number;
  #walker = new Walker(this);
  #pieces: Uint8Array[] = [];

  /** @param want bytes that the first `step` of each part needs */
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

  /** @throws Failure (bad_answer) when a part is empty or ends inside a frame or a page */
  protected finishPart(walker: Walker): void {
    if (walker.held.length > 0 || walker.bytes === 0) throw misfit('one is cut');
  }

  protected push(bytes: Uint8Array): void {
    // Not `bytes.slice`: that of a Buffer shares its memory.
    if (bytes.length > 0) this.#pieces.push(Uint8Array.prototype.slice.call(bytes));
  }

  #take(): Uint8Array {
    const pieces = this.#pieces;
    this.#pieces = [];
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
  }
}

/** Creates the failure for a part that is damaged or does not fit those before it. */
export function misfit(problem: string): Failure {
  return new Failure(`the parts of the audio cannot be joined: ${problem}`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'The parts differ: choose a model and a format, and try again.',
  });
}
