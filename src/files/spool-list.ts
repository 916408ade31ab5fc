import path from 'node:path';
import type { FileSystem } from '../effects/file-system.ts';
import { hasErrno } from './errno.ts';
import { readOwnText, SMALL_FILE_BYTES } from './own-files.ts';
import type { SpoolRecord } from './spool-record.ts';
import { parseSpoolRecord } from './spool-record.ts';

/** One piece of audio in the spool. */
export interface SpoolEntry {
  readonly id: string;
  /** The audio file. */
  readonly path: string;
  readonly sidecar: string;
  readonly bytes: number;
  /** When it was begun, in milliseconds since the epoch. */
  readonly keptAt: number;
  /** What is known of it; undefined when the sidecar is missing, damaged or of a later foley. */
  readonly record: SpoolRecord | undefined;
}

/** What is in the folder, the oldest first; nothing when there is no folder. Throws the system's error. */
export async function listSpool(folder: string, files: FileSystem): Promise<SpoolEntry[]> {
  const names = await namesIn(folder, files);
  const entries: SpoolEntry[] = [];
  for (const name of names) {
    const [, id, extension] = ENTRY_NAME.exec(name) ?? [];
    if (id === undefined || extension === SIDECAR_EXTENSION) continue;
    const entry = await entryOf(folder, { id, name }, files);
    if (entry !== undefined) entries.push(entry);
  }
  return entries.toSorted((a, b) => a.keptAt - b.keptAt || (a.id < b.id ? -1 : 1));
}

/** The sidecars in the folder that lie beside no audio, with the time of their last change. */
export async function lonelySidecars(folder: string, files: FileSystem): Promise<LonelyFile[]> {
  const names = await namesIn(folder, files);
  const withAudio = new Set(
    names.filter((name) => !name.endsWith(`.${SIDECAR_EXTENSION}`)).map((name) => idOf(name)),
  );
  const lonely: LonelyFile[] = [];
  for (const name of names) {
    if (!name.endsWith(`.${SIDECAR_EXTENSION}`) || withAudio.has(idOf(name))) continue;
    const file = path.join(folder, name);
    const changedAt = await changeTimeOf(file, files);
    if (changedAt !== undefined) lonely.push({ path: file, changedAt });
  }
  return lonely;
}

export interface LonelyFile {
  readonly path: string;
  readonly changedAt: number;
}

/** Where the audio and the sidecar of an entry are. */
export function entryFiles(
  folder: string,
  id: string,
  extension: string,
): { readonly audio: string; readonly sidecar: string } {
  return {
    audio: path.join(folder, `${id}.${extension}`),
    sidecar: path.join(folder, `${id}.${SIDECAR_EXTENSION}`),
  };
}

const SIDECAR_EXTENSION = 'json';
const ENTRY_NAME = /^(\d{8}T\d{6}Z-[0-9a-f]{8})\.([A-Za-z0-9_-]+)$/;

async function namesIn(folder: string, files: FileSystem): Promise<string[]> {
  return files.readdir(folder).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  });
}

function idOf(name: string): string | undefined {
  return ENTRY_NAME.exec(name)?.[1];
}

async function entryOf(
  folder: string,
  { id, name }: { readonly id: string; readonly name: string },
  files: FileSystem,
): Promise<SpoolEntry | undefined> {
  const file = path.join(folder, name);
  const { sidecar } = entryFiles(folder, id, '');
  try {
    const { size, mtimeMs } = await files.stat(file);
    const record = parseSpoolRecord(await textOrNothing(sidecar, files));
    const written = record === undefined ? NaN : Date.parse(record.keptAt);
    const keptAt = Number.isNaN(written) ? mtimeMs : written;
    return { id, path: file, sidecar, bytes: size, keptAt, record };
  } catch (error) {
    // Somebody else removed it meanwhile.
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function changeTimeOf(file: string, files: FileSystem): Promise<number | undefined> {
  return files.stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}

async function textOrNothing(file: string, files: FileSystem): Promise<string> {
  return readOwnText(file, SMALL_FILE_BYTES, files).catch(() => '');
}
