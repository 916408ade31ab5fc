/** What happens when the output exists. */
export type Existing =
  /** It is replaced atomically at the end. */
  | 'replace'
  /** It stays, and the output fails: exit 31. */
  | 'refuse'
  /** It stays, and the output becomes `name-2`, `name-3`, …: for automatic names. */
  | 'number'
  /** As `number`, but an existing file with the same bytes is the output: for names made of an id. */
  | 'reuse';

/** An output file in progress. Methods throw a Failure: output (30), or exists (31). */
export interface Output {
  /** The final name; `number` and `reuse` may change it at the end. */
  readonly path: string;
  /** The temporary file; undefined for a pipe or a device. */
  readonly temporary: string | undefined;
  /** Bytes accepted so far. */
  readonly bytes: number;
  /**
   * Accepts a chunk, which must not be changed until `onWritten`; resolves when the buffer has drained. An error
   * may belong to an earlier chunk; `release` returns this chunk too.
   * @param onWritten called when the chunk is no longer used, if ever
   */
  write(chunk: Uint8Array, onWritten?: () => void): Promise<void>;
  /** Overwrites earlier bytes, such as a length in a header. Does nothing for a pipe or a device. */
  overwrite(position: number, bytes: Uint8Array): Promise<void>;
  /**
   * Returns the checksum of the complete file, to identify the file after a crash; undefined for a pipe or a
   * device. Nothing may be written after it.
   */
  checksum(): Promise<string | undefined>;
  /**
   * Syncs the file and gives it the final name. When this throws, the written bytes still exist: call `release`
   * or `abandon`.
   */
  publish(): Promise<Published>;
  /** Removes the temporary file. Never throws; does nothing after `publish`. */
  abandon(): Promise<void>;
  /**
   * Closes the output and returns the written bytes, such as for the spool. Never throws. Undefined for a pipe
   * or a device, and after `publish` or `abandon`.
   */
  release(): Promise<Released | undefined>;
}

export interface Published {
  readonly path: string;
  readonly bytes: number;
}

/** The audio of a released output. */
export interface Released {
  /** The temporary file, which now belongs to the caller. */
  readonly path: string;
  readonly bytes: number;
  /** Chunks that follow the file: the disk had no space for them. */
  readonly rest: readonly Uint8Array[];
}
