export type StoreErrorReason = 'unwritable' | 'newer' | 'locked' | 'corrupt' | 'no_binary';

/**
 * The data directory cannot be used: it cannot be written (`unwritable`), was made by a newer
 * foley (`newer`), is held by another process for too long (`locked`), does not hold together
 * (`corrupt`), or SQLite itself cannot be loaded (`no_binary`; the path is the package's name). The message names the file and says what to do.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly reason: StoreErrorReason;
  /** The file or directory that it is about. */
  readonly path: string;

  constructor(reason: StoreErrorReason, path: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.path = path;
  }
}
