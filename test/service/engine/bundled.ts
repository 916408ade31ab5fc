import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export interface Bundled {
  readonly workerFile: string;
  readonly engineFile: string;
  /** Deletes them. */
  remove(): Promise<void>;
}

/**
 * The speaking thread and the engine as they are shipped: a thread cannot run TypeScript. They are
 * put where the packages beside them are found.
 */
export async function bundleEngine(): Promise<Bundled> {
  const cache = path.join(ROOT, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const dir = await mkdtemp(path.join(cache, 'foley-engine-'));
  const source = path.join(ROOT, 'src', 'service', 'engine', 'flite');
  const bundle = await rolldown({
    input: { worker: path.join(source, 'worker.ts'), engine: path.join(source, 'engine.ts') },
    platform: 'node',
    external: [/^@echogarden\//],
  });
  await bundle.write({ dir, format: 'cjs', entryFileNames: '[name].cjs' });
  await bundle.close();
  return {
    workerFile: path.join(dir, 'worker.cjs'),
    engineFile: path.join(dir, 'engine.cjs'),
    remove: () => rm(dir, { recursive: true }),
  };
}
