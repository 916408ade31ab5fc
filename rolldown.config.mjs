import { readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

const manifest = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

/**
 * Parts of undici that foley never reaches: it speaks HTTP/1.1 and sends bodies as bytes. Left in,
 * they cost every request the loading of node:http2 and a third of the chunk.
 */
const UNREACHED = /[\\/]undici[\\/]lib[\\/](dispatcher[\\/]client-h2|web[\\/]fetch[\\/]body)\.js$/;

const leaveOutUnreached = {
  name: 'leave-out-unreached',
  load(id) {
    if (!UNREACHED.test(id)) return null;
    return `module.exports = () => { throw new Error('not in this bundle'); };`;
  },
};

/**
 * CommonJS with a chunk per dynamic import: it starts fastest, and what a command does not need is
 * never read (docs/decisions/0001-bundle.md). Packages in `dependencies` hold binaries or
 * WebAssembly that are found by path, so they stay outside; everything else is bundled.
 */
export default defineConfig({
  input: {
    main: 'src/run.ts',
    'all-help': 'src/cli/all-help.ts',
    'flite-worker': 'src/service/engine/flite/worker.ts',
  },
  platform: 'node',
  external: Object.keys(manifest.dependencies).flatMap((name) => [name, new RegExp(`^${name}/`)]),
  plugins: [leaveOutUnreached],
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name].cjs',
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
  },
});
