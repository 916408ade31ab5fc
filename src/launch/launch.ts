import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import module, { createRequire } from 'node:module';
import path from 'node:path';
import vm from 'node:vm';
import { crc32 } from 'node:zlib';
import { findHome, resolvePaths } from '../config/paths.ts';

/** Starts the built program from compiled code (docs/decisions/0003-code-cache.md). Ends the process when done. */
export function launch(host: NodeJS.Process): void {
  const main = path.join(import.meta.dirname, 'main.cjs');
  const load = loaderFor(host);
  host.once('exit', (code) => {
    if (code === 0) load.keep();
    // All output is written once the event loop is empty: skip Node's cleanup.
    host.exit(code);
  });
  const program = load.load(main);
  if (isProgram(program)) program.run(host);
}

type Loader = Pick<ChunkLoader, 'keep' | 'load'>;

function loaderFor(host: NodeJS.Process): Loader {
  const { argv, env } = host;
  const folder = codeFolder(host);
  const nodesOwn: unknown = Reflect.get(module, 'enableCompileCache');
  if (typeof nodesOwn === 'function') {
    if (folder !== undefined && hasFolder(folder)) nodesOwn(folder);
    return { load: module.createRequire(import.meta.filename), keep: () => undefined };
  }
  const isOff = env['NODE_DISABLE_COMPILE_CACHE'] !== undefined;
  const cache = openCodeCache(isOff ? undefined : folder, keyOf(argv[2]));
  return new ChunkLoader(cache, path.join(import.meta.dirname, 'chunks'));
}

// Node's own function also creates the folder, but never returns below /proc (Node 22 and 24).
function hasFolder(folder: string): boolean {
  if (existsSync(folder)) return true;
  attempt(() => makeFolder(folder));
  return existsSync(folder);
}

function codeFolder({ arch, env, platform, version }: NodeJS.Process): string | undefined {
  try {
    const paths = resolvePaths({ env, platform, homeDirectory: findHome() });
    return path.join(paths.cache, 'code', `${version}-${arch}`);
  } catch {
    // The home directory is unknown: the command reports it if it needs a folder.
    return undefined;
  }
}

// Each command has its own cache, because commands run different functions.
function keyOf(word: string | undefined): string {
  return word !== undefined && /^[a-z]{1,20}$/.test(word) ? word : 'other';
}

function isProgram(value: unknown): value is { run(host: NodeJS.Process): void } {
  return typeof value === 'object' && value !== null && 'run' in value;
}

// Imports ES modules for the chunks, because compiled chunks cannot.
const IMPORTER = '../import-package.cjs';

/**
 * Loads the chunks of the build as CommonJS modules. The compiled code of chunks comes from `cache`; Node loads all
 * other modules.
 */
export class ChunkLoader {
  readonly #cache: CodeCache;
  readonly #modules = new Map<string, { exports: unknown }>();
  readonly #scripts = new Map<string, { readonly checksum: number; readonly script: vm.Script }>();
  readonly #chunks: string;
  readonly #native: NodeJS.Require;
  #isCacheShort = false;

  /** @param chunks the folder that contains all chunks except the first */
  constructor(cache: CodeCache, chunks: string) {
    this.#cache = cache;
    this.#chunks = chunks;
    // Works for all chunks: they require only packages and files beside their folder.
    this.#native = createRequire(path.join(chunks, 'any.cjs'));
  }

  /** Loads a module by its absolute path, and returns the exports of the module. */
  load(file: string): unknown {
    const known = this.#modules.get(file);
    if (known !== undefined) return known.exports;
    const loaded = { exports: {} };
    this.#modules.set(file, loaded);
    const body: unknown = this.#compile(file).runInThisContext();
    if (typeof body !== 'function') throw new TypeError(`${file} is not a chunk`);
    const folder = path.dirname(file);
    body.call(loaded.exports, loaded.exports, this.#requireFrom(folder), loaded, file, folder);
    return loaded.exports;
  }

  /** Saves newly compiled code, if there is any, to the cache. */
  keep(): void {
    if (this.#isCacheShort) this.#cache.keep(() => this.#compiledChunks());
  }

  #compiledChunks(): CompiledChunks {
    // Keep chunks that other arguments need; drop those of an earlier build.
    const compiled = new Map(
      [...this.#cache.chunks].filter(([name]) => existsSync(path.join(this.#chunks, name))),
    );
    for (const [name, { checksum, script }] of this.#scripts) {
      compiled.set(name, { checksum, code: script.createCachedData() });
    }
    return compiled;
  }

  #compile(file: string): vm.Script {
    const bytes = readFileSync(file);
    const kept = this.#cache.chunks.get(path.basename(file));
    // V8 compares only the length of sources.
    const checksum = crc32(bytes);
    const cachedData = kept?.checksum === checksum ? kept.code : undefined;
    // The build is ASCII only, so no decoding is needed.
    const source = bytes.toString('latin1');
    const script = new vm.Script(
      `(function (exports, require, module, __filename, __dirname) {${source}\n})`,
      { filename: file, ...(cachedData === undefined ? {} : { cachedData }) },
    );
    // Code that V8 rejects is not replaced, since it may reject new code every time.
    if (cachedData === undefined) this.#isCacheShort = true;
    this.#scripts.set(path.basename(file), { checksum, script });
    return script;
  }

  #requireFrom(folder: string): NodeJS.Require {
    const native = this.#native;
    const own = (id: string): unknown =>
      id.startsWith('.') && id !== IMPORTER ? this.load(path.join(folder, id)) : native(id);
    return Object.assign(own, native);
  }
}

interface CompiledChunk {
  readonly checksum: number;
  readonly code: Buffer;
}

type CompiledChunks = ReadonlyMap<string, CompiledChunk>;

interface CodeCache {
  // Empty without a trusted cache.
  readonly chunks: CompiledChunks;
  // Ignores write errors; saves nothing in an unsafe folder.
  keep(compiledChunks: () => CompiledChunks): void;
}

const NO_CACHE: CodeCache = { chunks: new Map(), keep: () => undefined };
const CHECKSUM_BYTES = 4;
const LENGTH_BYTES = 4;

/**
 * Opens the cache of compiled code. V8 executes this code, so other users must not be able to write to the folder, and
 * a checksum protects each file.
 */
export function openCodeCache(folder: string | undefined, key: string): CodeCache {
  if (folder === undefined) return NO_CACHE;
  const access = accessTo(folder);
  if (access === 'missing')
    return {
      ...NO_CACHE,
      keep: () => attempt(() => makeFolder(folder)),
    };
  if (access === 'foreign') return NO_CACHE;
  const file = path.join(folder, key);
  const chunks = attempt(() => unpack(readFileSync(file))) ?? NO_CACHE.chunks;
  const keep: CodeCache['keep'] = (compiledChunks) => {
    attempt(() => replace(file, pack(compiledChunks())));
  };
  return { chunks, keep };
}

// Not with `recursive`, which never returns for a folder below /proc.
function makeFolder(folder: string): void {
  const parent = path.dirname(folder);
  if (parent !== folder && accessTo(parent) === 'missing') makeFolder(parent);
  mkdirSync(folder, { mode: 0o700 });
}

function accessTo(folder: string): 'foreign' | 'missing' | 'ours' {
  const state = attempt(() => statSync(folder));
  if (state === undefined) return 'missing';
  const uid = process.getuid?.();
  return uid === undefined || (state.uid === uid && (state.mode & 0o022) === 0)
    ? 'ours'
    : 'foreign';
}

function pack(chunks: CompiledChunks): Buffer {
  const entries = Array.from(chunks, ([name, { checksum, code }]) => {
    return { name, checksum, bytes: code.length };
  });
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
