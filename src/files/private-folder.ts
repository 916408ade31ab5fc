import type { FileSystem } from '../effects/file-system.ts';

/**
 * Makes a folder that only its owner can look into (0700), the missing ones above it too, and closes
 * one that others could. Throws the system's error.
 */
export async function ensurePrivateFolder(folder: string, files: FileSystem): Promise<void> {
  await files.mkdir(folder, { recursive: true, mode: 0o700 });
  const { mode } = await files.stat(folder);
  if ((mode & 0o077) !== 0) await files.chmod(folder, 0o700);
}
