import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Dirent } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
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

/** Records every file, folder and link under `root`, but not the harness's own corner. */
export async function snapshot(root: string): Promise<Snapshot> {
  const records = new Map<string, FileRecord>();
  for await (const found of walk(root)) {
    const record = await unlessVanished(recordOf(found));
    if (record !== undefined) {
      records.set(found.name, record);
    }
  }
  return records;
}

/** What happened between two snapshots; paths are sorted. */
export function difference(before: Snapshot, after: Snapshot) {
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

/** One path of a folder as it is found, before anything is read. */
export interface FoundPath {
  /** Relative, with `/` between its parts. */
  readonly name: string;
  readonly full: string;
  readonly entry: Dirent;
}

/** Walks every path under `root`, a folder before what is in it; the harness's corner is left out. */
export async function* walk(root: string, folder = ''): AsyncGenerator<FoundPath> {
  const entries = await unlessVanished(readdir(path.join(root, folder), { withFileTypes: true }));
  for (const entry of entries ?? []) {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (name !== '.harness') {
      yield { name, full: path.join(root, name), entry };
      if (entry.isDirectory()) {
        yield* walk(root, name);
      }
    }
  }
}

/** Another command may be at work in the same folders; what it just removed is no error. */
export async function unlessVanished<Found>(found: Promise<Found>): Promise<Found | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

async function recordOf({ full, entry }: FoundPath): Promise<FileRecord> {
  const { size, mode } = await lstat(full);
  const common = { size: entry.isFile() ? size : 0, mode: mode & 0o777 };
  if (entry.isFile()) {
    return { ...common, kind: 'file', content: await digest(full) };
  }
  if (entry.isSymbolicLink()) {
    return { ...common, kind: 'link', content: await readlink(full) };
  }
  return { ...common, kind: entry.isDirectory() ? 'folder' : 'other', content: '' };
}

async function digest(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(file)) {
    hash.update(bytes);
  }
  return hash.digest('hex');
}
