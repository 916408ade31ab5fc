/** What happens when the output's name is taken. */
export type Existing =
  /** It is replaced, at the very end and at once. */
  | 'replace'
  /** It stays, and there is no output: exit 31. */
  | 'refuse'
  /** It stays, and the output becomes `name-2`, `name-3`, …: for names that foley made up. */
  | 'number'
  /** As `number`, but a file of that name with the same bytes is the output: for names made of an id. */
  | 'reuse';

/**
 * A file that is being made. Everything throws {@link Failure}s: 30 when it cannot be written, 31
 * when its name is taken and must not be.
 */
export interface Output {
  /** The name it will have; with `number` and `reuse` it may become another one at the end. */
  readonly path: string;
  /** Where it grows, in the folder of its final name; undefined for a pipe or a device. */
  readonly temporary: string | undefined;
  /** Bytes taken so far. */
  readonly bytes: number;
  /**
   * Takes a chunk, which must not be changed until `onWritten`; resolves when there is room for more. A
   * fault may belong to an earlier chunk; the one given counts as taken even then, so that `release` hands
   * it out.
   * @param onWritten nothing looks at the chunk any more; may never be called
   */
  write(chunk: Uint8Array, onWritten?: () => void): Promise<void>;
  /**
   * Writes over bytes that were taken before, such as a length in a header that is known only at the
   * end. What went into a pipe or a device stays as it went.
   */
  overwrite(position: number, bytes: Uint8Array): Promise<void>;
  /**
   * The checksum of what will have the final name, so that it can be told for what it is
   * after a crash; undefined for a pipe or a device. Nothing may be written after it.
   */
  checksum(): Promise<string | undefined>;
  /**
   * Gives the file its final name, whole and durable. When this throws, nothing has been lost yet:
   * call `release` to keep what was written, or `abandon`.
   */
  publish(): Promise<Published>;
  /** Removes what was written, and nothing else. Never throws; after `publish` it does nothing. */
  abandon(): Promise<void>;
  /**
   * Stops here and leaves what there is to the caller (to the spool, when it was paid for). Never
   * throws. Undefined for a pipe or a device, and after `publish` or `abandon`.
   */
  release(): Promise<Released | undefined>;
}

export interface Published {
  readonly path: string;
  readonly bytes: number;
}

/** What a stopped output leaves. */
export interface Released {
  /** The temporary file, which is now the caller's. */
  readonly path: string;
  /** Bytes that are in it. */
  readonly bytes: number;
  /** Chunks that were taken and did not get into it, because the disk was full. */
  readonly rest: readonly Uint8Array[];
}
