import { existsSync, readFileSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';
import vm from 'node:vm';
import { crc32 } from 'node:zlib';
import { resolvePaths } from '../config/paths.ts';
import { openCodeCache } from './code-cache.ts';
import type { CodeCache } from './code-cache.ts';

/**
 * Starts the built program, with the code that V8 compiled for the same command before
 * (docs/decisions/0003-code-cache.md), and ends the process as soon as nothing is left to do.
 */
export function launch(host: NodeJS.Process): void {
  const main = path.join(import.meta.dirname, 'main.cjs');
  const load = loaderFor(host);
  host.once('exit', (code) => {
    if (code === 0) load.keep();
    // All is written, or the loop would not be empty: what Node would tidy up yet is memory.
    host.exit(code);
  });
  const program = load.load(main);
  if (isProgram(program)) program.run(host);
}

type Loader = Pick<ChunkLoader, 'keep' | 'load'>;

function loaderFor(host: NodeJS.Process): Loader {
  const { arch, argv, env, platform, version } = host;
  const paths = resolvePaths({ env, platform, homeDirectory: homedir() });
  const folder = path.join(paths.cache, 'code', `${version}-${arch}`);
  const nodesOwn: unknown = Reflect.get(module, 'enableCompileCache');
  if (typeof nodesOwn === 'function') {
    nodesOwn(folder);
    return { load: module.createRequire(import.meta.filename), keep: () => undefined };
  }
  const isOff = env['NODE_DISABLE_COMPILE_CACHE'] !== undefined;
  const cache = openCodeCache({ folder: isOff ? undefined : folder, key: keyOf(argv[2]) });
  return new ChunkLoader(cache, path.join(import.meta.dirname, 'chunks'));
}

/** A command uses other functions of a shared chunk than the next one does. */
function keyOf(word: string | undefined): string {
  return word !== undefined && /^[a-z]{1,20}$/.test(word) ? word : 'other';
}

interface Program {
  run(host: NodeJS.Process): void;
}

function isProgram(value: unknown): value is Program {
  return typeof value === 'object' && value !== null && 'run' in value;
}

/** What imports ES modules for the chunks, since code that is loaded this way cannot. */
const IMPORTER = '../import-package.cjs';

/**
 * Loads the files of the build as Node would load CommonJS, but takes their compiled code from
 * `cache`. What is not a file of the build is left to Node.
 */
export class ChunkLoader {
  readonly #cache: CodeCache;
  readonly #modules = new Map<string, { exports: unknown }>();
  readonly #scripts = new Map<string, { readonly checksum: number; readonly script: vm.Script }>();
  readonly #chunks: string;
  readonly #native: NodeJS.Require;
  #isCacheShort = false;

  /** `chunks` is the folder that all of them but the first lie in. */
  constructor(cache: CodeCache, chunks: string) {
    this.#cache = cache;
    this.#chunks = chunks;
    // For all of them, since what they ask Node for has an absolute name or lies beside their folder.
    this.#native = createRequire(path.join(chunks, 'any.cjs'));
  }

  /** The exports of `file`, an absolute path. Throws what the file throws. */
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

  /** Keeps what was compiled in this run, if the next one can use it. */
  keep(): void {
    if (!this.#isCacheShort) return;
    // Chunks that only other arguments need stay, and those of an earlier build do not.
    const compiled = new Map(
      [...this.#cache.chunks].filter(([name]) => existsSync(path.join(this.#chunks, name))),
    );
    for (const [name, { checksum, script }] of this.#scripts) {
      compiled.set(name, { checksum, code: script.createCachedData() });
    }
    this.#cache.keep(compiled);
  }

  #compile(file: string): vm.Script {
    const bytes = readFileSync(file);
    const kept = this.#cache.chunks.get(path.basename(file));
    // V8 tells one source from another by its length only.
    const checksum = crc32(bytes);
    const cachedData = kept?.checksum === checksum ? kept.code : undefined;
    // The build writes ASCII only, and this way nothing has to be decoded.
    const source = bytes.toString('latin1');
    const script = new vm.Script(
      `(function (exports, require, module, __filename, __dirname) {${source}\n})`,
      {
        filename: file,
        ...(cachedData === undefined ? {} : { cachedData }),
      },
    );
    // Code that V8 refuses is not replaced: it may refuse that of this run too, each time.
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
