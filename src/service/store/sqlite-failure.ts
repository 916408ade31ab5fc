import { StoreError } from './store-error.ts';

/** Another connection holds what was asked for. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error));
}

/** The file system or SQLite said no, rather than our own code being wrong. */
export function isStoreFailure(error: unknown): boolean {
  return error instanceof StoreError || (error instanceof Error && 'code' in error);
}

/** Gives the error that says what to do about a database or a directory that cannot be used. */
export function toStoreError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  if (isBusy(error)) {
    return new StoreError('locked', path, `${path} is held by another process`, error);
  }
  const code = codeOf(error);
  if (/^SQLITE_(NOTADB|CORRUPT|ERROR)/.test(code)) {
    return new StoreError('corrupt', path, `${path} is not a database that foley can read`, error);
  }
  const reason = code === '' ? 'it cannot be opened' : code;
  return new StoreError('unwritable', path, `${path} cannot be written (${reason})`, error);
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
