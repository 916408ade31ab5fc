/** What to do if the output file already exists. */
export type Existing =
  /** Replace the file atomically when the output is complete. */
  | 'replace'
  /** Keep the file, and fail with exit 31. */
  | 'refuse'
  /** Keep the file, and write to `name-2`, `name-3`, … instead; for names that foley chose. */
  | 'number'
  /** Like `number`, but reuses an existing file that has the same bytes; for names that contain an id. */
  | 'reuse';

/** An output that is being written. Methods throw a Failure (output, exit 30; or exists, exit 31). */
export interface Output {
  /** The final path, which `publish` may change if `existing` is `number` or `reuse`. */
  readonly path: string;
  /** The path of the temporary file; undefined for a pipe or a device. */
  readonly temporary: string | undefined;
  /** Number of bytes accepted so far. */
  readonly bytes: number;
  /**
   * Accepts a chunk, which must not be changed until `onWritten` is called. Resolves when the buffer has space again.
   * @throws Failure, also for an earlier chunk; `release` then also returns this chunk
   * @param onWritten called when the chunk has been written; never called if writing fails
   */
  write(chunk: Uint8Array, onWritten?: () => void): Promise<void>;
  /** Overwrites bytes that were written earlier, such as a length in a header. Does nothing for a pipe or a device. */
  overwrite(position: number, bytes: Uint8Array): Promise<void>;
  /**
   * Returns the checksum of the complete file; undefined for a pipe or a device. No bytes may be written afterwards.
   */
  checksum(): Promise<string | undefined>;
  /** Syncs the file and renames it to its final name. If this throws, the caller must call `release` or `abandon`. */
  publish(): Promise<Published>;
  /** Removes the temporary file. Never throws; does nothing after `publish`. */
  abandon(): Promise<void>;
  /**
   * Closes the output and returns the written bytes, which the caller can save in the spool. Never throws. Returns
   * undefined for a pipe or a device, and after `publish` or `abandon`.
   */
  release(): Promise<Released | undefined>;
}

export interface Published {
  readonly path: string;
  readonly bytes: number;
}

/** The bytes of an output that was released instead of published. */
export interface Released {
  /** The path of the temporary file, which the caller must now move or remove. */
  readonly path: string;
  readonly bytes: number;
  /** Chunks that are missing at the end of the file, for example because the disk is full. */
  readonly rest: readonly Uint8Array[];
}
