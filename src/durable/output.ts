import type { FileFormat } from '../contract/values.ts';
import type { FileHandle } from '../system/file-system.ts';
import { hasShape } from './log.ts';

/** Changes that foley makes to the sound of a file, after the service made the audio. */
export interface SoundChanges {
  /** Integrated loudness of the file in LUFS (EBU R 128). Undefined: unchanged. */
  readonly loudness?: number | undefined;
  /** True if the silence at the start and at the end is shortened. */
  readonly trim?: boolean | undefined;
}

/** Returns whether a recorded value describes changes of the sound. A missing value is valid. */
export function isSoundChanges(value: unknown): value is SoundChanges | undefined {
  return (
    value === undefined ||
    hasShape(value, { loudness: 'number|undefined', trim: 'boolean|undefined' })
  );
}

/** What to do if the output file already exists. */
export type Existing =
  /** Replace the file atomically when the output is complete. */
  | 'replace'
  /** Keep the file, and fail with exit code 31. */
  | 'refuse'
  /** Keep the file, and write to `name-2`, `name-3`, … instead; for names that foley chose. */
  | 'number'
  /** Like `number`, but reuses an existing file that has the same bytes; for names that contain an id. */
  | 'reuse';

/** Where an encoder writes a file. */
export interface EncoderOutput {
  /** Number of bytes passed to `write` so far. */
  readonly bytes: number;
  /**
   * Queues a chunk for writing. Resolves when the buffer has space again.
   * @throws Failure if this or an earlier chunk cannot be written
   */
  write(chunk: Uint8Array): Promise<void>;
  /** Overwrites bytes that were written earlier, such as a length in a header. Does nothing for a pipe or a device. */
  overwrite(position: number, bytes: Uint8Array): Promise<void>;
}

/**
 * An output that is being written. Methods throw a Failure: `exists` (exit code 31) if the file must not be replaced,
 * otherwise `output` (exit code 30).
 */
export interface Output extends EncoderOutput {
  /** The final path. If `existing` is `number` or `reuse`, `publish` may change the path. */
  readonly path: string;
  /** The path of the temporary file; undefined for a pipe or a device. */
  readonly temporary: string | undefined;
  /** The changes that `publish` makes to the sound; undefined for none. */
  readonly changes?: SoundChanges | undefined;
  /**
   * Returns which part of the written sound the published file will have. Undefined if the output leaves nothing out.
   * Call this only after `checksum`.
   */
  audible?(): Promise<AudibleInterval>;
  /**
   * Queues a chunk for writing. The caller must not change the chunk until `onWritten` is called. Resolves when the
   * buffer has space again.
   * @param onWritten called when the chunk has been written; never called if writing fails
   * @throws Failure if this or an earlier chunk cannot be written. For a file, the method `release` then returns the
   * unwritten chunks, including this one.
   */
  write(chunk: Uint8Array, onWritten?: () => void): Promise<void>;
  /**
   * Returns the checksum of the complete file; undefined for a pipe or a device. Call this only after the last `write`.
   */
  checksum(): Promise<string | undefined>;
  /** Syncs the file and renames it to its final name. If this throws, the caller must call `release` or `abandon`. */
  publish(): Promise<Published>;
  /** Removes the temporary file. Never throws; does nothing after `publish`. */
  abandon(): Promise<void>;
  /**
   * Ends the output without renaming the temporary file to its final name. Returns the bytes, which the caller can
   * save in the spool. Never throws. Returns undefined for a pipe or a device, and after `publish` or `abandon`.
   */
  release(): Promise<Released | undefined>;
}

/** A part of a sound, in milliseconds from its beginning. */
export interface AudibleInterval {
  readonly startMs: number;
  readonly endMs: number;
}

export interface Published {
  readonly path: string;
  readonly bytes: number;
  /** The file, if it differs from what was written to the output. */
  readonly encoded?: EncodedFile | undefined;
}

/** A file that was made from the audio that was written to its output. */
export interface EncodedFile {
  readonly format: FileFormat;
  /** Sample rate in Hz, if the audio was encoded. */
  readonly sampleRate?: number | undefined;
  /** Undefined for a pipe or a device. */
  readonly checksum: string | undefined;
  /** Duration in milliseconds, if it differs from the audio that was written. */
  readonly durationMs?: number | undefined;
}

/** The bytes of an output that ended before its file got its final name. The caller must save or discard them. */
export interface Released {
  /** The path of the temporary file, which the caller must now move or remove. */
  readonly path: string;
  /**
   * The open temporary file, which the caller must close. It is readable even if its folder was removed. Undefined for a
   * file of a process that has ended.
   */
  readonly file?: FileHandle | undefined;
  readonly bytes: number;
  /** The chunks that are missing at the end of the file because writing failed, for example on a full disk. */
  readonly rest: readonly Uint8Array[];
}
