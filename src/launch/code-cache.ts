import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';

/** What V8 made of a file. */
export interface CompiledChunk {
  /** CRC-32 of the source. */
  readonly checksum: number;
  readonly code: Buffer;
}

/** What V8 compiled of the chunks that one command loads, by the name of the file. */
export type CompiledChunks = ReadonlyMap<string, CompiledChunk>;

export interface CodeCache {
  /** What an earlier run left; empty when there is none that can be trusted. */
  readonly chunks: CompiledChunks;
  /** Keeps these for the next run. What cannot be written is not: nothing depends on it. */
  keep(chunks: CompiledChunks): void;
}

export interface CodeCacheInputs {
  /** The folder of all of them; made by the first run, filled from the second one on. None: no cache. */
  readonly folder: string | undefined;
  /** One file for each: words that may be a file's name. */
  readonly key: string;
}

const NO_CACHE: CodeCache = { chunks: new Map(), keep: () => undefined };
const CHECKSUM_BYTES = 4;
const LENGTH_BYTES = 4;

/**
 * Compiled code of earlier runs, in `folder`. V8 executes what it is given there, so nothing is
 * taken from a folder that others may write to, and nothing that is not whole: a checksum
 * stands in front. A first run only makes the folder, at its
 * end: where every run is the first, none pays for a next one.
 */
export function openCodeCache({ folder, key }: CodeCacheInputs): CodeCache {
  if (folder === undefined) return NO_CACHE;
  const access = accessTo(folder);
  if (access === 'missing') return { ...NO_CACHE, keep: () => makeFolder(folder) };
  if (access === 'foreign') return NO_CACHE;
  const file = path.join(folder, key);
  const chunks = attempt(() => unpack(readFileSync(file))) ?? NO_CACHE.chunks;
  const keep = (next: CompiledChunks): void => {
    attempt(() => replace(file, pack(next)));
  };
  return { chunks, keep };
}

function accessTo(folder: string): 'foreign' | 'missing' | 'ours' {
  const state = attempt(() => statSync(folder));
  if (state === undefined) return 'missing';
  const uid = process.getuid?.();
  return uid === undefined || (state.uid === uid && (state.mode & 0o022) === 0)
    ? 'ours'
    : 'foreign';
}

function makeFolder(folder: string): void {
  attempt(() => mkdirSync(folder, { recursive: true, mode: 0o700 }));
}

function pack(chunks: CompiledChunks): Buffer {
  const entries = [...chunks].map(([name, { checksum, code }]) => ({
    name,
    checksum,
    bytes: code.length,
  }));
  const index = Buffer.from(JSON.stringify(entries));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(index.length);
  const code = [...chunks.values()].map((chunk) => chunk.code);
  const rest = Buffer.concat([length, index, ...code]);
  return Buffer.concat([checksumOf(rest), rest]);
}

function unpack(bytes: Buffer): CompiledChunks {
  const rest = bytes.subarray(CHECKSUM_BYTES);
  const chunks = new Map<string, CompiledChunk>();
  if (!checksumOf(rest).equals(bytes.subarray(0, CHECKSUM_BYTES))) return chunks;
  let end = LENGTH_BYTES + rest.readUInt32LE();
  const index: readonly { name: string; checksum: number; bytes: number }[] = JSON.parse(
    rest.toString('utf8', LENGTH_BYTES, end),
  );
  for (const { name, checksum, bytes: length } of index) {
    chunks.set(name, { checksum, code: rest.subarray(end, end + length) });
    end += length;
  }
  return chunks;
}

function checksumOf(bytes: Buffer): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(bytes));
  return checksum;
}

function replace(file: string, bytes: Buffer): void {
  const temporary = `${file}-${process.pid}`;
  try {
    writeFileSync(temporary, bytes, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
