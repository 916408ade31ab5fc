import { Failure } from '../../errors/failure.ts';
import type { Correction, FormatReader, Walker } from '../reader.ts';

/** The parts of a joined file of one format: takes their bytes, and pushes those of the file into a {@link ByteSink}. */
export interface JoinedParts {
  /** Returns a reader for the next part. */
  newReader(): FormatReader;
  /** @throws Failure (bad_answer) when the part that was just read is incomplete */
  endPart(walker: Walker): void;
  starts(): readonly number[];
  corrections(): readonly Correction[];
}

/** Collects copies of bytes until they are taken. */
export class ByteSink {
  #pieces: Uint8Array[] = [];

  push(bytes: Uint8Array): void {
    // Not `bytes.slice`: that of a Buffer shares its memory.
    if (bytes.length > 0) this.#pieces.push(Uint8Array.prototype.slice.call(bytes));
  }

  take(): Uint8Array {
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
    hint: 'The service answered them differently; name a model and a format, and try again.',
  });
}

/** @throws Failure (bad_answer) when a part is empty or ends inside a frame or a page */
export function requireWhole(walker: Walker): void {
  if (walker.held.length > 0 || walker.bytes === 0) throw misfit('one is cut');
}
