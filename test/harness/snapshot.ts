import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';

/** What is at one path: enough to see that it was made, removed, changed or opened up. */
export interface FileRecord {
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly size: number;
  /** Permission bits, such as 0o600. */
  readonly mode: number;
  /** SHA-256 of a file, the target of a link, else empty. */
  readonly content: string;
}

/** Every path under a folder, relative, with `/` between its parts. */
export type Snapshot = ReadonlyMap<string, FileRecord>;

export interface Difference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Records every file, folder and link under `root`, but not the harness's own corner. */
export async function snapshot(root: string): Promise<Snapshot> {
  const records = new Map<string, FileRecord>();
  await visit(root, '', records);
  return records;
}

/** What happened between two snapshots; paths are sorted. */
export function difference(before: Snapshot, after: Snapshot): Difference {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return {
    added: paths.filter((name) => !before.has(name)),
    removed: paths.filter((name) => !after.has(name)),
    changed: paths.filter((name) => hasChanged(before.get(name), after.get(name))),
  };
}

/** Relative paths of the regular files in a snapshot, sorted. */
export function filesOf(records: Snapshot): string[] {
  return [...records]
    .filter(([, record]) => record.kind === 'file')
    .map(([name]) => name)
    .sort();
}

function hasChanged(before: FileRecord | undefined, after: FileRecord | undefined): boolean {
  if (before === undefined || after === undefined) {
    return false;
  }
  return (
    before.kind !== after.kind || before.mode !== after.mode || before.content !== after.content
  );
}

async function visit(
  root: string,
  folder: string,
  records: Map<string, FileRecord>,
): Promise<void> {
  for (const entry of await readdir(path.join(root, folder), { withFileTypes: true })) {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (name === '.harness') {
      continue;
    }
    await unlessVanished(async () => {
      records.set(name, await recordOf(path.join(root, name), entry));
      if (entry.isDirectory()) {
        await visit(root, name, records);
      }
    });
  }
}

/** Another command may be at work in the same folders; what it just removed is no error. */
async function unlessVanished(look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) {
      throw error;
    }
  }
}

async function recordOf(file: string, entry: Dirent): Promise<FileRecord> {
  const { size, mode } = await lstat(file);
  const common = { size: entry.isFile() ? size : 0, mode: mode & 0o777 };
  if (entry.isFile()) {
    const content = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
    return { ...common, kind: 'file', content };
  }
  if (entry.isSymbolicLink()) {
    return { ...common, kind: 'link', content: await readlink(file) };
  }
  return { ...common, kind: entry.isDirectory() ? 'folder' : 'other', content: '' };
}
