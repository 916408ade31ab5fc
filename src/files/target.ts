import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import path from 'node:path';
import type { FileSystem } from '../effects/file-system.ts';
import { usageFailure } from '../errors/failure.ts';
import { hasErrno } from './errno.ts';
import { folderFailure, outputFailure, unwritable } from './output-failures.ts';

/** What an output path leads to. */
export type Target =
  | { readonly kind: 'new'; readonly file: string }
  /** A regular file; `file` is where it really is, behind symbolic links. */
  | { readonly kind: 'present'; readonly file: string; readonly stats: Stats }
  /** A pipe, a device, a stream of this process: to be written into, never replaced. */
  | { readonly kind: 'direct'; readonly file: string };

/**
 * Looks at where an output would go. Throws a usage failure for a folder or no name at all, exit 30
 * for a path that cannot be reached, a link that leads nowhere, or a file that may not be written.
 */
export async function resolveTarget(output: string, files: FileSystem): Promise<Target> {
  if (output === '')
    throw usageFailure('the output needs a name', 'Write to stdout with --output -.');
  if (output.includes('\0')) throw usageFailure('the name of the output has a NUL character in it');
  if (OWN_STREAM.test(output)) return { kind: 'direct', file: output };
  const stats = await statOf(output, files);
  if (stats === undefined) return newTarget(output, files);
  if (stats.isDirectory()) throw folderFailure(output);
  if (!stats.isFile()) return { kind: 'direct', file: output };
  try {
    await files.access(output, constants.W_OK);
    return { kind: 'present', file: await files.realpath(output), stats };
  } catch (error) {
    throw hasErrno(error, 'EACCES', 'EPERM')
      ? unwritable(output, 'it is write-protected', {
          hint: 'Make it writable (chmod u+w), or choose another name with --output.',
          cause: error,
        })
      : outputFailure(output, error, 'opening');
  }
}

/** Whether anything, a link that leads nowhere included, has this name. */
export async function isTaken(file: string, files: FileSystem): Promise<boolean> {
  try {
    await files.lstat(file);
    return true;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return false;
    throw outputFailure(file, error, 'opening');
  }
}

/** Names of this process's own streams; they may be files, yet are not to be replaced. */
const OWN_STREAM = /^\/(?:dev\/(?:stdout|stderr|fd\/\d+)|proc\/self\/fd\/\d+)$/;

async function statOf(output: string, files: FileSystem): Promise<Stats | undefined> {
  try {
    return await files.stat(output);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw outputFailure(output, error, 'opening');
  }
}

async function newTarget(output: string, files: FileSystem): Promise<Target> {
  if (output.endsWith('/') || output.endsWith(path.sep)) throw folderFailure(output);
  if (await isTaken(output, files)) {
    throw unwritable(output, 'it is a symbolic link to a file that does not exist', {
      hint: 'Remove the link, or choose another name with --output.',
    });
  }
  return { kind: 'new', file: output };
}
