import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Packages with binaries or WebAssembly, which find their files beside their scripts. */
const WITH_FILES =
  /^(?:@echogarden|@mediabunny|@wasm-audio-decoders)\/|^(?:h264-mp4-encoder|libsql|mediabunny|mpg123-decoder|ogg-opus-decoder|opusscript|sharp)$/;

/** Programs for processes of their own, built as the package is built. */
export interface Bundle {
  /** The folder that holds `dist/` with a `.cjs` for each program. */
  readonly folder: string;
  remove(): Promise<void>;
}

/** Builds TypeScript files, by the name that each is to have, with everything that they import. */
export async function buildBundle(programs: Readonly<Record<string, string>>): Promise<Bundle> {
  const folder = await mkdtemp(join(tmpdir(), 'foley-bundle-'));
  const bundle = await rolldown({
    input: Object.fromEntries(
      Object.entries(programs).map(([name, file]) => [name, join(ROOT, file)]),
    ),
    platform: 'node',
    external: WITH_FILES,
  });
  await bundle.write({
    dir: join(folder, 'dist'),
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name].cjs',
  });
  await bundle.close();
  for (const name of ['node_modules', 'assets', 'dist/packages']) {
    await symlink(join(ROOT, name), join(folder, name), 'junction');
  }
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
