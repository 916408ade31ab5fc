import type { ChecksumKind } from './checksum.ts';
import { openDirectOutput } from './direct-output.ts';
import type { FileDeps } from './file-deps.ts';
import { numbered } from './names.ts';
import type { Existing, Output } from './output.ts';
import { existsFailure } from './output-failures.ts';
import { openPublishedOutput } from './published-output.ts';
import { isTaken, resolveTarget } from './target.ts';

export interface OutputOptions extends FileDeps {
  /** As the person wrote it. */
  readonly path: string;
  /** Default `replace`. */
  readonly existing?: Existing | undefined;
  /**
   * Permissions of the file, before the umask. Without it a file that is replaced keeps its own, and
   * a new one gets 0o666.
   */
  readonly mode?: number | undefined;
  /** Where it grows, on the same disk; by default beside its final name. */
  readonly temporaryFolder?: string | undefined;
  /** The caller brings the folder to the disk, once for many files. */
  readonly isFolderSyncedLater?: boolean | undefined;
  /** With which the person names another place, for hints; `--output` by default. */
  readonly flag?: string | undefined;
  /** By what the file is told again; CRC-32 by default. */
  readonly checksum?: ChecksumKind | undefined;
}

/**
 * Opens an output before anything is billed: its folder is there and can be written in, because the
 * temporary file already is in it. The older file stays as it is until `publish`. A pipe or a device
 * is written directly. Throws a {@link Failure}: 2 for a folder, 30 for what cannot be written, 31
 * for a taken name that must stay.
 */
export async function openOutput(options: OutputOptions): Promise<Output> {
  const { path, files, existing = 'replace' } = options;
  const base = { ...options, existing, asked: path, replaced: undefined };
  if (existing === 'number') {
    return openPublishedOutput({ ...base, path: await firstFree(path, options) });
  }
  const target = await resolveTarget(path, files);
  if (target.kind === 'direct') return openDirectOutput(path, files);
  if (target.kind === 'new') return openPublishedOutput(base);
  if (existing === 'refuse') throw existsFailure(path);
  return openPublishedOutput({ ...base, replaced: target });
}

async function firstFree(path: string, { files }: FileDeps): Promise<string> {
  for (let number = 1; ; number += 1) {
    const candidate = numbered(path, number);
    if (!(await isTaken(candidate, files))) return candidate;
  }
}
