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
  undici: ['src/api/transport/connections.ts'],
};

/**
 * Packages of JavaScript and WebAssembly, each bundled into a file of its own in dist/packages, so that a command reads
 * only those that it needs, and a user can replace those under the LGPL.
 */
const PACKAGES = {
  '@echogarden/sonic-wasm': 'sonic',
  '@echogarden/speex-resampler-wasm/simd': 'speex-resampler',
  '@mediabunny/aac-encoder': 'aac-encoder',
  '@mediabunny/flac-encoder': 'flac-encoder',
  '@wasm-audio-decoders/flac': 'flac-decoder',
  '@wasm-audio-decoders/ogg-vorbis': 'ogg-vorbis-decoder',
  'audio-file-decoder': 'aac-decoder',
  'h264-mp4-encoder': 'h264-mp4-encoder',
  'jq-wasm': 'jq',
  mediabunny: 'mediabunny',
  'mpg123-decoder': 'mpg123-decoder',
  'ogg-opus-decoder': 'ogg-opus-decoder',
  opusscript: 'opusscript',
};

/** WebAssembly that is read as a file, by its name in dist/packages. */
export const WEBASSEMBLY = {
  'mp3.wasm': 'wasm-media-encoders/wasm/mp3.wasm',
  'ogg.wasm': 'wasm-media-encoders/wasm/ogg.wasm',
  'opusscript_native_wasm.wasm': 'opusscript/build/opusscript_native_wasm.wasm',
  'sonic.wasm': '@echogarden/sonic-wasm/sonic.wasm',
  'speex-resampler-simd.wasm': '@echogarden/speex-resampler-wasm/wasm/speex-resampler-simd.wasm',
};

/** Large WebAssembly that is rarely needed, compressed; by its name in dist/packages. */
export const COMPRESSED = {
  'aac-decoder.wasm.br': 'audio-file-decoder/decode-audio.wasm',
  'jq.wasm.br': 'jq-wasm/jq.wasm',
};

const packagePath = (name) => (name in PACKAGES ? `./packages/${PACKAGES[name]}.mjs` : name);

/** Code that V8 gets from the cache may not import (src/launch/import-package.ts). */
const importFromOutside = {
  name: 'import-from-outside',
  renderChunk(code, { fileName }) {
    const isCached = fileName.startsWith('chunks/');
    return code
      .replaceAll(/\bimport\("([@a-z][^"]*)"\)/g, (_, name) =>
        isCached
          ? `require("../import-package.cjs").importPackage("${packagePath(name)}")`
          : `import("${packagePath(name)}")`,
      )
      .replaceAll(
        'wasm-media-encoders/wasm/${name}',
        `${isCached ? '..' : '.'}/packages/\${name}.wasm`,
      )
      .replaceAll(
        'audio-file-decoder/decode-audio.wasm',
        `${isCached ? '..' : '.'}/packages/aac-decoder.wasm.br`,
      );
  },
};

/** Parts of packages that foley does not use: a model for speech at very low bit rates, and Opus without WebAssembly. */
const leaveOutVariants = {
  name: 'leave-out-variants',
  resolveId: (id) =>
    /[\\/](?:opus-ml|opusscript_native_nasm\.js)$/.test(id) ? '\0no-variant' : null,
  load: (id) => (id === '\0no-variant' ? 'module.exports = {};' : null),
};

/** The AAC decoder would print its warnings, and turn every unhandled rejection of the process into an exception. */
const quietAacDecoder = {
  name: 'quiet-aac-decoder',
  transform: (code, id) =>
    /[\\/]audio-file-decoder[\\/]/.test(id)
      ? code
          .replaceAll(/process\.on\("un\w+",\(function\(\w+\)\{throw \w+\}\)\),/g, '')
          .replaceAll(/console\.(?:log|warn)\.bind\(console\)/g, 'function(){}')
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

/** foley uses only undici's client over HTTP/1.1: loading the rest would take longer than a short request. */
const leaveOutOfUndici = {
  name: 'leave-out-of-undici',
  resolveId(id, importer) {
    if (id === 'undici') return '\0undici-client';
    if (!/[\\/]undici[\\/]/.test(importer ?? '')) return null;
    if (id === 'node:assert') return '\0assert';
    return /^node:http2?$|client-h2\.js$|fetch[\\/]body\.js$/.test(id) ? '\0no-part' : null;
  },
  load: (id) => UNDICI_PARTS[id] ?? null,
};

const UNDICI_PARTS = {
  '\0undici-client': `export { default as Client } from 'undici/lib/dispatcher/client.js';
export { default as buildConnector } from 'undici/lib/core/connect.js';`,
  '\0assert': `module.exports = (isTrue, message = 'an assertion of undici failed') => {
  if (!isTrue) throw new Error(message);
};`,
  '\0no-part': 'module.exports = {};',
};

/** foley uses only the metrics of prom-client, not what sends them or measures the process. */
const leaveOutOfPromClient = {
  name: 'leave-out-of-prom-client',
  resolveId: (id) => (id === 'prom-client' ? '\0prom-client' : null),
  load: (id) =>
    id === '\0prom-client'
      ? ['Counter', 'Gauge', 'Histogram', 'Registry']
          .map((name) => {
            const file = `prom-client/lib/${name.toLowerCase()}.js`;
            return `export { default as ${name} } from '${file}';`;
          })
          .join('\n')
      : null,
};

/** p-retry measures the time, which foley does not limit. Loading `performance` takes a millisecond. */
const leaveOutPerformance = {
  name: 'leave-out-performance',
  transform: (code, id) =>
    /[\\/]p-retry[\\/]/.test(id) ? code.replaceAll('performance.now()', 'Date.now()') : null,
};

/**
 * libsql asks Node for a report to find out the C library, which costs milliseconds, and more with every thread. Without
 * it, libsql still corrects its guess from /usr/bin/ldd.
 */
const leaveOutReport = {
  name: 'leave-out-report',
  transform: (code, id) =>
    /[\\/]@neon-rs[\\/]load[\\/]/.test(id)
      ? code.replace(/process\.report\S*getReport\(\)/, 'undefined')
      : null,
};

/**
 * V8 checks a regular expression whenever it parses the code around it, which takes 30 us for each Unicode property. It
 * checks the arguments of a constructor only when that is called, which a function does once.
 */
const constructUnicodeExpressions = {
  name: 'construct-unicode-expressions',
  transform(code, id) {
    if (!code.includes('\\p{')) return null;
    const shared = [];
    let constructed = '';
    let at = 0;
    const found = unicodeExpressions(this.parse(code, { lang: id.endsWith('ts') ? 'ts' : 'js' }));
    for (const { start, end, regex, isInFunction } of found.toSorted((a, b) => a.start - b.start)) {
      const { pattern, flags } = regex;
      let expression = `/* @__PURE__ */ new RegExp(${JSON.stringify(pattern)}, '${flags}')`;
      // Only an expression with the flag g or y changes when it is used.
      if (isInFunction && !/[gy]/.test(flags)) {
        const name = `unicodeExpression${shared.length}`;
        shared.push(name);
        expression = `${name} ??= ${expression}`;
      }
      constructed += `${code.slice(at, start)}(${expression})`;
      at = end;
    }
    const declared = shared.length === 0 ? '' : `\nvar ${shared.join(', ')};`;
    return constructed + code.slice(at) + declared;
  },
};

/** The regular expressions with a Unicode property in a part of a syntax tree. */
function unicodeExpressions(part, isInFunction = false) {
  if (typeof part !== 'object' || part === null) return [];
  if (part.regex?.pattern.includes('\\p{')) return [{ ...part, isInFunction }];
  const isWithin = isInFunction || /Function/.test(part.type);
  return Object.values(part).flatMap((inner) => unicodeExpressions(inner, isWithin));
}

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
      'listener-worker': 'src/service/voices/listen/worker.ts',
      'video-worker': 'src/service/media/pictures/worker.ts',
      'engine-host': 'src/service/engine/resident/host.ts',
      'jq-worker': 'src/cli/jq-worker.ts',
      'document-worker': 'src/speech/document-worker.ts',
      'subtitles-worker': 'src/captions/subtitles-worker.ts',
      'media-child': 'src/service/media/child/entry.ts',
      'library/client': 'src/library/client.ts',
      'library/service': 'src/library/service.ts',
    },
    platform: 'node',
    // Some commands need early what others import late.
    checks: { ineffectiveDynamicImport: false },
    external: [...Object.keys(manifest.dependencies), ...Object.keys(PACKAGES)],
    plugins: [
      leaveOutChildProcess,
      leaveOutHttp2,
      leaveOutReport,
      leaveOutOfUndici,
      leaveOutOfPromClient,
      leaveOutPerformance,
      constructUnicodeExpressions,
      importFromOutside,
      collect,
    ],
    output: { ...output, codeSplitting: { groups } },
  },
  { input: { launch: 'src/launch/launch.ts' }, platform: 'node', output },
  // The first speech waits for this worker, so it has its own copy of the few functions that it shares with the service.
  {
    input: { 'hibari-worker': 'src/service/engine/hibari/hibari-worker.ts' },
    platform: 'node',
    plugins: [constructUnicodeExpressions],
    treeshake: { moduleSideEffects: false },
    output: { ...output, codeSplitting: false },
  },
  // `foley engine add` copies this file and the next one (src/engines/install.ts), which therefore have no chunks.
  {
    input: { 'english-reader': 'src/phonemes/english-reader.ts' },
    platform: 'node',
    plugins: [constructUnicodeExpressions],
    treeshake: { moduleSideEffects: false },
    output: { ...output, codeSplitting: false },
  },
  {
    input: { 'hibari-voice': 'src/service/engine/hibari/added-voice.ts' },
    platform: 'node',
    plugins: [constructUnicodeExpressions],
    treeshake: { moduleSideEffects: false },
    output: { ...output, codeSplitting: false },
  },
  {
    input: { complete: 'src/cli/completion/complete.ts' },
    platform: 'node',
    output: { ...output, chunkFileNames: 'complete-[name].cjs' },
  },
  {
    input: Object.fromEntries(Object.entries(PACKAGES).map(([name, file]) => [file, name])),
    platform: 'node',
    plugins: [leaveOutVariants, quietAacDecoder],
    transform: { define: { __dirname: 'import.meta.dirname' } },
    output: {
      ...output,
      format: 'esm',
      entryFileNames: 'packages/[name].mjs',
      chunkFileNames: 'packages/shared-[name].mjs',
      minify: true,
    },
  },
  { input: { 'import-package': 'src/launch/import-package.ts' }, platform: 'node', output },
]);
