import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';

const manifest = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

/**
 * Chunks that hold all that a run needs up to a point, dynamic imports included: a file of its own
 * costs more than what is in it. Each takes what these entries import and no earlier one has.
 */
const MERGED = {
  start: ['src/main.ts', 'src/cli/program.ts', 'src/config/paths.ts'],
  settings: ['src/config/settings.ts'],
  tts: ['commands/tts/tts.ts'],
  connect: ['src/cli/connect.ts'],
};

/** Code that V8 gets from the cache may not import (src/launch/import-package.ts). */
const importFromOutside = {
  name: 'import-from-outside',
  renderChunk: (code, { fileName }) =>
    fileName.startsWith('chunks/')
      ? code.replaceAll(
          /\bimport\("(?=[@a-z])/g,
          'require("../import-package.cjs").importPackage("',
        )
      : null,
};

/** Commander starts other programs as commands, which foley has none of; loading that costs a millisecond. */
const leaveOutChildProcess = {
  name: 'leave-out-child-process',
  resolveId(id, importer) {
    const isCommanders = /[\\/]commander[\\/]/.test(importer ?? '');
    return id === 'node:child_process' && isCommanders ? '\0no-child-process' : null;
  },
  load: (id) => (id === '\0no-child-process' ? 'module.exports = {};' : null),
};

/** The service speaks HTTP/1.1 only, and loading node:http2 would cost its start some milliseconds. */
const leaveOutHttp2 = {
  name: 'leave-out-http2',
  resolveId(id, importer) {
    const isServers = /[\\/]@hono[\\/]node-server[\\/]/.test(importer ?? '');
    return id === 'node:http2' && isServers ? '\0no-http2' : null;
  },
  load: (id) =>
    id === '\0no-http2' ? 'export class Http2ServerRequest {}\nexport const constants = {};' : null,
};

function mergeChunks() {
  const chunkOf = new Map();
  const root = path.dirname(fileURLToPath(import.meta.url));
  const collect = {
    name: 'collect-merged-chunks',
    buildEnd() {
      for (const [chunk, entries] of Object.entries(MERGED)) {
        const ids = entries.map((entry) => path.join(root, entry));
        for (const id of ids) {
          if (chunkOf.has(id)) continue;
          chunkOf.set(id, chunk);
          ids.push(...(this.getModuleInfo(id)?.importedIds ?? []));
        }
      }
    },
  };
  const groups = Object.keys(MERGED).map((name) => ({
    name,
    test: (id) => chunkOf.get(id) === name,
  }));
  return { collect, groups };
}

const { collect, groups } = mergeChunks();
const output = {
  dir: 'dist',
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunks/[name].cjs',
  charset: 'ascii',
  comments: { jsdoc: false },
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
};

/**
 * CommonJS with a chunk per dynamic import: it starts fastest, and what a command does not need is
 * never read (docs/decisions/0001-bundle.md). Packages in `dependencies` hold binaries or
 * WebAssembly that are found by path, so they stay outside; everything else is bundled. What starts
 * the program is a build of its own, since it loads the other one's files (0003-code-cache.md).
 */
export default defineConfig([
  {
    input: {
      main: 'src/main.ts',
      'describe-tree': 'src/describe-tree.ts',
      'flite-worker': 'src/service/engine/flite/worker.ts',
      'listener-worker': 'src/service/voices/listen/worker.ts',
      'video-worker': 'src/service/media/pictures/worker.ts',
      'engine-host': 'src/service/engine/resident/host.ts',
      'media-child': 'src/service/media/child/entry.ts',
    },
    platform: 'node',
    external: Object.keys(manifest.dependencies).flatMap((name) => [name, new RegExp(`^${name}/`)]),
    plugins: [leaveOutChildProcess, leaveOutHttp2, importFromOutside, collect],
    output: { ...output, codeSplitting: { groups } },
  },
  { input: { launch: 'src/launch/launch.ts' }, platform: 'node', output },
  {
    input: { complete: 'src/cli/completion/complete.ts' },
    platform: 'node',
    output: { ...output, chunkFileNames: 'complete-[name].cjs' },
  },
  { input: { 'import-package': 'src/launch/import-package.ts' }, platform: 'node', output },
]);
