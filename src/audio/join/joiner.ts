import { Failure } from '../../errors/failure.ts';
import type { Correction, FormatReader } from '../reader.ts';
import { Walker } from '../reader.ts';

/** Joins several audio files (parts) into one without decoding them. Buffers at most one MP3 frame or Ogg page. */
export interface AudioJoiner {
  /**
   * Adds the next bytes of the current input file, and returns bytes to write. The caller may then reuse `chunk`.
   * @throws Failure of kind `bad_answer` if a file is invalid, or its audio properties (such as the sample rate) differ
   * from those of earlier files
   * @throws Failure of kind `output` if the joined file becomes too large for its format
   */
  write(chunk: Uint8Array): Pieces;
  /**
   * Ends the current input file, and returns bytes to write.
   * @throws Failure of kind `bad_answer` for an incomplete file
   */
  endPart(): Pieces;
  /**
   * Adds silence after the audio that was added so far. Later calls of `write` or `end` return the bytes of the
   * silence.
   */
  addSilence(ms: number): void;
  /** Returns the last bytes to write. Called after the last input file has ended. */
  end(): Pieces;
  /** Returns the start of each input file in the joined audio, in milliseconds. Empty for raw samples. */
  starts(): readonly number[];
  /** Returns the duration of the audio that was added so far, in milliseconds; 0 for raw samples. */
  durationMs(): number;
  /**
   * Returns replacements for bytes that were already written, such as the file header. Called after the last input file
   * has ended.
   */
  corrections(): readonly Correction[];
}

/** Bytes to write, in pieces. For long silence, the same piece occurs many times. */
export type Pieces = Iterable<Uint8Array>;

/** Base class of the joiners. A subclass parses the input files in `step`, and passes the output bytes to `push`. */
export abstract class Joiner implements AudioJoiner, FormatReader {
  want: number;
  skip = 0;
  readonly #firstWant: number;
  #walker = new Walker(this);
  #pieces: AudioPiece[] = [];
  #silenceMs = 0;

  /** @param want number of bytes that the first call of `step` for each input file needs */
  constructor(want: number) {
    this.want = want;
    this.#firstWant = want;
  }

  abstract step(bytes: Uint8Array, at: number, position: number): void;
  abstract starts(): readonly number[];
  abstract durationMs(): number;

  corrections(): readonly Correction[] {
    return [];
  }

  write(chunk: Uint8Array): Pieces {
    this.#walker.write(chunk);
    return this.#take();
  }

  endPart(): Pieces {
    this.finishPart(this.#walker);
    this.want = this.#firstWant;
    this.skip = 0;
    this.#walker = new Walker(this);
    return this.#take();
  }

  /** Ends the current input file. @throws Failure of kind `bad_answer` for an empty or incomplete file */
  protected finishPart(walker: Walker): void {
    if (walker.held.length > 0 || walker.bytes === 0) throw badPart('one is cut');
  }

  addSilence(ms: number): void {
    this.#silenceMs += ms;
  }

  end(): Pieces {
    const ms = this.takeSilence();
    if (ms > 0) this.pushSilence(ms, true);
    return this.#take();
  }

  /** Writes silence before an input file or, if `isEnd` is true, at the end of the joined file. */
  protected abstract pushSilence(ms: number, isEnd: boolean): void;

  /** Returns the duration of the silence that was added but not yet written, in milliseconds, and resets it to 0. */
  protected takeSilence(): number {
    const ms = this.#silenceMs;
    this.#silenceMs = 0;
    return ms;
  }

  protected push(bytes: Uint8Array): void {
    // Copy the bytes: `bytes.slice` of a Buffer would share its memory.
    if (bytes.length > 0)
      this.#pieces.push({ bytes: Uint8Array.prototype.slice.call(bytes), times: 1 });
  }

  protected pushRepeated(bytes: Uint8Array, times: number): void {
    const perBlock = Math.ceil(BLOCK_BYTES / bytes.length);
    const rest = times % perBlock;
    const copies = (count: number) => Buffer.concat(Array.from({ length: count }, () => bytes));
    if (times >= perBlock) {
      this.#pieces.push({ bytes: copies(perBlock), times: Math.floor(times / perBlock) });
    }
    if (rest > 0) this.#pieces.push({ bytes: copies(rest), times: 1 });
  }

  #take(): Pieces {
    const pieces = this.#pieces;
    this.#pieces = [];
    return expand(pieces);
  }
}

interface AudioPiece {
  readonly bytes: Uint8Array;
  readonly times: number;
}

const BLOCK_BYTES = 1 << 16;

function* expand(pieces: readonly AudioPiece[]): Generator<Uint8Array> {
  let run: Uint8Array[] = [];
  for (const { bytes, times } of [...pieces, LAST]) {
    if (times === 1) {
      run.push(bytes);
      continue;
    }
    const [only] = run;
    if (only !== undefined) yield run.length === 1 ? only : Buffer.concat(run);
    run = [];
    for (let count = 0; count < times; count += 1) yield bytes;
  }
}

const LAST: AudioPiece = { bytes: new Uint8Array(0), times: 0 };

/**
 * Returns the Failure for an input file that is invalid, or whose audio properties differ from those of earlier files.
 */
export function badPart(problem: string): Failure {
  return new Failure(`the parts of the audio cannot be joined: ${problem}`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'Choose another model or format, and try again.',
  });
}
