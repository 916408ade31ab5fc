// Bundles the sources into dist/ (rolldown.config.mjs). The old build stays until the new one is whole.
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import asc from 'assemblyscript/asc';
import { rolldown } from 'rolldown';
import { isolatedDeclarationSync } from 'rolldown/experimental';
import config, { COMPRESSED, WEBASSEMBLY } from '../rolldown.config.mjs';
import { notices } from './notices.mjs';
import { root } from './set-up.mjs';

/** The files of src/library with types that programs see; they import no other file of src. */
const PUBLIC_TYPES = ['client', 'client-types', 'foley-error', 'service'];

// The highest qualities take seconds and save a tenth.
const COMPRESSION = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

const require = createRequire(import.meta.url);
const started = new Date();
const next = path.join(root, `dist-${process.pid}`);
process.chdir(root);
try {
  const modules = [];
  for (const { output, ...input } of config) {
    const bundle = await rolldown({ ...input, logLevel: 'warn' });
    const { output: chunks } = await bundle.write(Object.assign({}, output, { dir: next }));
    await bundle.close();
    chunks.forEach(requireAscii);
    modules.push(...chunks.flatMap((chunk) => chunk.moduleIds ?? []));
  }
  for (const [name, file] of Object.entries(WEBASSEMBLY)) {
    copyFileSync(path.join('node_modules', file), path.join(next, 'packages', name));
    modules.push(path.resolve('node_modules', file));
  }
  for (const [name, file] of Object.entries(COMPRESSED)) {
    const bytes = readFileSync(require.resolve(file));
    writeFileSync(path.join(next, 'packages', name), brotliCompressSync(bytes, COMPRESSION));
    modules.push(require.resolve(file));
  }
  await compileKernels('products', 'kernels.wasm', 'simd');
  await compileKernels('relaxed-products', 'relaxed-kernels.wasm', 'simd,relaxed-simd');
  writeFileSync(path.join(next, 'THIRD-PARTY-NOTICES.md'), notices(modules));
  for (const name of PUBLIC_TYPES) writeFileSync(...declarationOf(name));
  const { describedTree, grammarOf, renderAllHelp } = require(path.join(next, 'describe-tree.cjs'));
  writeFileSync(path.join(next, 'help.json'), JSON.stringify(await renderAllHelp()));
  const described = await describedTree();
  writeFileSync(path.join(next, 'tree.json'), JSON.stringify(described));
  copyFileSync('src/cli/generated/output-schemas.json', path.join(next, 'schemas.json'));
  writeFileSync(path.join(next, 'completion.json'), JSON.stringify(grammarOf(described)));
  const stamp = path.join(next, '.stamp');
  writeFileSync(stamp, '');
  // What was changed while the build ran is not in it.
  utimesSync(stamp, started, started);
  const old = `${next}-old`;
  if (existsSync('dist')) renameSync('dist', old);
  renameSync(next, 'dist');
  rmSync(old, { recursive: true, force: true });
} finally {
  rmSync(next, { recursive: true, force: true });
}

/** Compiles the arithmetic of the built-in voice from AssemblyScript. */
async function compileKernels(products, file, features) {
  const sources = [products, 'network', 'sound'].map((name) => `assembly/${name}.ts`);
  const output = ['--outFile', path.join(next, 'packages', file)];
  const options = ['--runtime', 'stub', '--noAssert', '-O3', '--initialMemory', '1'];
  const { error } = await asc.main([...sources, ...output, '--enable', features, ...options], {
    stderr: process.stderr,
  });
  if (error !== null) throw error;
}

/** The launcher reads chunks byte by byte. The bundler cannot escape the text of `String.raw`. */
function requireAscii({ code = '', fileName }) {
  if (!fileName.endsWith('.cjs')) return;
  // One expression for a whole line would take 15 s: undici has a line of 72,000 characters.
  const lines = code.replaceAll(/\/\*![^]*?\*\//g, '').split('\n');
  const foreign = lines.find((line) => /[^\0-\x7f]/.test(line));
  if (foreign !== undefined) throw new Error(`${fileName} is not ASCII: ${foreign}`);
}

/** The declaration file of a public source file, as CommonJS: its path and its content. */
function declarationOf(name) {
  const source = path.join(root, 'src/library', `${name}.ts`);
  const { code, errors } = isolatedDeclarationSync(source, readFileSync(source, 'utf8'));
  if (errors.length > 0) throw new Error(`${source}: ${errors[0].message}`);
  return [
    path.join(next, 'library', `${name}.d.cts`),
    code.replaceAll(/(\bfrom "\.\/.*)\.ts"/g, '$1.cjs"'),
  ];
}
