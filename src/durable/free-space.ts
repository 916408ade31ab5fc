import path from 'node:path';
import type { FileSystem } from '../system/file-system.ts';
import { Failure } from '../errors/failure.ts';
import { display } from '../text/display.ts';
import { hasErrno, unwritable } from './file-failures.ts';

/**
 * Checks that the disk has enough free space for the output of a billed request. Passes if the free space is unknown.
 * @param flag the flag with which the user can choose another output
 * @throws Failure of kind `output`
 */
export async function requireOutputSpace(
  output: string,
  bytes: number,
  { files, flag = '--output' }: { readonly files: FileSystem; readonly flag?: string },
): Promise<void> {
  const free = await freeBytes(path.dirname(output), files);
  if (free >= bytes) return;
  throw unwritable(output, `the disk is full: ${shortage(free, bytes)}`, {
    hint: `Free disk space, or choose another place with ${flag}. Nothing was sent.`,
  });
}

/**
 * Checks that the disk has enough free space to save the audio of a billed request in the spool.
 * @throws Failure of kind `state`
 */
export async function requireSpoolSpace(
  folder: string,
  bytes: number,
  files: FileSystem,
): Promise<void> {
  const wanted = Math.min(bytes, SPOOL_BYTES);
  const free = await freeBytes(folder, files);
  if (free >= wanted) return;
  const problem = `the disk is full: ${shortage(free, wanted)}`;
  throw new Failure(`cannot use the spool at ${display(folder)}: ${problem}`, {
    code: 'state',
    exit: 'state',
    hint: 'Free disk space there, or set XDG_STATE_HOME to another folder. Nothing was sent.',
  });
}

/**
 * Checks that the disk has `bytes` bytes of free space for files in a folder that foley manages.
 * @param what the words before the required size in the message, such as `the voices need`
 * @param variable the environment variable with which the user can choose another folder
 * @throws Failure of kind `output` if the disk has less free space
 */
export async function requireSpace(
  folder: string,
  bytes: number,
  { files, what, variable }: { files: FileSystem; what: string; variable: string },
): Promise<void> {
  const free = await freeBytes(folder, files);
  if (free >= bytes) return;
  throw unwritable(folder, `the disk is full: ${shortage(free, bytes, what)}`, {
    hint: `Free disk space there, or set ${variable} to another folder.`,
  });
}

// The spool never needs more: foley moves files into it, so only audio in memory takes additional space.
const SPOOL_BYTES = 8 * 1024 * 1024;

async function freeBytes(folder: string, files: FileSystem): Promise<number> {
  try {
    const { bavail, blocks, bsize } = await files.statfs(folder);
    // Some file systems report 0 blocks; their free space is unknown.
    return blocks === 0 ? Infinity : bavail * bsize;
  } catch (error) {
    const above = path.dirname(folder);
    return hasErrno(error, 'ENOENT') && above !== folder ? freeBytes(above, files) : Infinity;
  }
}

function shortage(free: number, wanted: number, what = 'the audio needs'): string {
  return `${sizeOf(free)} free, and ${what} about ${sizeOf(wanted)}`;
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes are`;
  return bytes < 1024 * 1024
    ? `${Math.ceil(bytes / 1024)} KiB`
    : `${Math.ceil(bytes / 1024 / 1024)} MiB`;
}
