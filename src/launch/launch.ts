import module from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';
import { resolvePaths } from '../config/paths.ts';
import { ChunkLoader } from './chunk-loader.ts';
import { openCodeCache } from './code-cache.ts';

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
