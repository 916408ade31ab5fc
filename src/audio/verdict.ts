import type { Format } from './formats.ts';
import type { FormatReader, Walker } from './walker.ts';

/** Bytes that belong in the place of others. */
export interface Correction {
  readonly position: number;
  readonly bytes: Uint8Array;
}

/** What is known of a file of sound once its last byte has been seen. */
export interface Verdict {
  readonly format: Format;
  readonly bytes: number;
  /** Playing time; undefined where the format does not tell it, or nothing is there. */
  readonly durationMs: number | undefined;
  readonly sampleRate: number | undefined;
  readonly channels: number | undefined;
  /** Inside of a container: `vorbis`, `opus`, `flac`. */
  readonly codec: string | undefined;
  /** Whether it is of its format and nothing is seen to be missing. */
  readonly complete: boolean;
  /**
   * Whether a cut would have been seen: the format says where it ends (an Ogg end mark, a length in
   * a WAV header, a frame count in an mp3's Info tag). Without it a file that was cut at the right
   * place, such as between two mp3 frames, looks complete.
   */
  readonly endIsProven: boolean;
  /**
   * What to write over in a complete file: who streams a WAV writes its header before the lengths in
   * it are known, and many programs believe what they read there.
   */
  readonly corrections: readonly Correction[];
  /** What is wrong, as the rest of a sentence that begins with the file's name. */
  readonly problem: string | undefined;
}

/** What a format's reader finds out about the sound. */
export interface Findings {
  readonly durationMs?: number | undefined;
  readonly sampleRate?: number | undefined;
  readonly channels?: number | undefined;
  readonly codec?: string | undefined;
  readonly endIsProven: boolean;
  readonly corrections?: readonly Correction[];
  readonly problem?: string | undefined;
}

/** A reader that judges: what it has seen so far, and what it makes of the end. */
export interface JudgingReader extends FormatReader {
  /** Set as soon as something is wrong; the rest of the bytes is then only counted. */
  problem: string | undefined;
  /** Whether anything of the format was recognised at all. */
  begun: boolean;
  /** The last word, given how the walk ended. */
  finish(walker: Walker): Findings;
}

/** Lets a reader pass over all that follows. */
export const TO_THE_END = Number.MAX_SAFE_INTEGER;
