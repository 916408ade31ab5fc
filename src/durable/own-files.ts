import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import type { FileHandle, FileSystem } from '../system/file-system.ts';
import { hasErrno, UnsafeFile } from './file-failures.ts';

// Opens the files that foley creates for itself: settings, accounts, journals, secrets, caches. Each must be a
// regular file or folder of this user or root. Changes modes on the open descriptor, so that a link cannot redirect
// the change.

/** Maximum size of a settings file, a lock or a secret. */
export const SMALL_FILE_BYTES = 64 * 1024;
/** Maximum size of a log or a stored text: ten times the size of a batch journal with 100,000 items. */
export const RECORD_BYTES = 256 * 1024 * 1024;

/** Whether to follow a symbolic link; only configuration files of the user may be links. */
export type Links = 'follow' | 'refuse';

/**
 * Opens a regular file. Creates new files with mode 0600.
 * @param flags flags of `open`, such as `O_WRONLY | O_CREAT | O_APPEND`
 * @throws UnsafeFile, or the system error
 */
export async function openOwnFile(
  file: string,
  flags: number,
  files: FileSystem,
  links: Links = 'refuse',
): Promise<FileHandle> {
  return (await openChecked(file, flags, files, links)).handle;
}

/**
 * Reads a regular file of at most `maxBytes` bytes.
 * @throws UnsafeFile, or the system error
 */
export async function readOwnFile(
  file: string,
  maxBytes: number,
  files: FileSystem,
  links: Links = 'refuse',
): Promise<Buffer> {
  const { handle, size } = await openChecked(file, constants.O_RDONLY, files, links);
  try {
    const parts: Buffer[] = [];
    // Read one byte more than the size of the file, so that the first read reaches the end of the file.
    for (let bytes = 0, room = size + 1; bytes <= maxBytes; room = READ_BYTES) {
      const part = Buffer.allocUnsafe(Math.min(room, maxBytes + 1));
      const { bytesRead } = await handle.read(part, 0, part.length);
      if (bytesRead === 0) return Buffer.concat(parts);
      parts.push(part.subarray(0, bytesRead));
      bytes += bytesRead;
    }
    throw new UnsafeFile(`it is larger than ${maxBytes / 1024} KiB`);
  } finally {
    await handle.close();
  }
}

/** Reads a regular file as text, with the checks of {@link readOwnFile}. */
export async function readOwnText(
  file: string,
  maxBytes: number,
  files: FileSystem,
): Promise<string> {
  return (await readOwnFile(file, maxBytes, files)).toString('utf8');
}

/**
 * Creates a private folder (0700) and its missing parent folders. Makes an existing folder private.
 * @throws UnsafeFile, or the system error
 */
export async function ensurePrivateFolder(folder: string, files: FileSystem): Promise<void> {
  const open = (): Promise<FileHandle> =>
    files.open(folder, constants.O_RDONLY | constants.O_DIRECTORY | NO_FOLLOW);
  // Most folders exist. On Windows, folders have no modes and cannot be opened.
  let handle = files.userId === undefined ? undefined : await open().catch(() => undefined);
  if (handle === undefined) {
    await files
      .mkdir(folder, { recursive: true, mode: 0o700 })
      .catch((error: unknown) => refuse(folder, error, files));
    await refuseLinkOnWindows(folder, files);
    if (files.userId === undefined) return;
    handle = await open().catch((error: unknown) => refuse(folder, error, files));
  }
  try {
    const stats = await handle.stat();
    requireOwner(stats, files);
    if ((stats.mode & 0o077) !== 0) await handle.chmod(0o700);
  } finally {
    await handle.close();
  }
}

async function openChecked(
  file: string,
  flags: number,
  files: FileSystem,
  links: Links,
): Promise<{ readonly handle: FileHandle; readonly size: number }> {
  const noLink = links === 'refuse' ? NO_FOLLOW : 0;
  if (links === 'refuse') await refuseLinkOnWindows(file, files);
  const handle = await files
    .open(file, flags | noLink | NO_WAIT, 0o600)
    .catch((error: unknown) => refuse(file, error, files));
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new UnsafeFile('it is not a regular file');
    requireOwner(stats, files);
    return { handle, size: stats.size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const READ_BYTES = 1 << 16;

// Windows has neither constant.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NO_WAIT = constants.O_NONBLOCK ?? 0;

// On other systems, opening the file already refuses links.
async function refuseLinkOnWindows(file: string, files: FileSystem): Promise<void> {
  if (files.userId === undefined) await refuseLink(file, files);
}

/** @throws UnsafeFile if the file or folder is a symbolic link */
export async function refuseLink(file: string, files: FileSystem): Promise<void> {
  const stats = await files.lstat(file).catch(() => undefined);
  if (stats?.isSymbolicLink() === true) throw new UnsafeFile('it is a symbolic link');
}

function requireOwner({ uid }: Stats, { userId }: FileSystem): void {
  if (userId === undefined || uid === userId || uid === 0) return;
  throw new UnsafeFile(`it belongs to another user (uid ${uid})`);
}

async function refuse(file: string, error: unknown, files: FileSystem): Promise<never> {
  if (hasErrno(error, 'ELOOP', 'EMLINK', 'ENOTDIR', 'EEXIST', 'ENOENT')) {
    const stats = await files.lstat(file).catch(() => undefined);
    if (stats?.isSymbolicLink() === true) throw new UnsafeFile('it is a symbolic link');
  }
  if (hasErrno(error, 'ENXIO', 'EISDIR')) throw new UnsafeFile('it is not a regular file');
  throw error;
}
