import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import vm from 'node:vm';
import { crc32 } from 'node:zlib';
import type { CodeCache } from './code-cache.ts';

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
    const module = { exports: {} };
    this.#modules.set(file, module);
    const body: unknown = this.#compile(file).runInThisContext();
    if (typeof body !== 'function') throw new TypeError(`${file} is not a chunk`);
    const folder = path.dirname(file);
    body.call(module.exports, module.exports, this.#requireFrom(folder), module, file, folder);
    return module.exports;
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
