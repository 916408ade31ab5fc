import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { skipWithout } from '../harness/require-tool.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';

const CHUNKS = fileURLToPath(new URL('../../dist/chunks/', import.meta.url));

/** Each takes as long to make as half of a start of Node. */
const REFUSE_SLOW_OBJECTS = `for (const name of ['Segmenter', 'DisplayNames']) {
  Intl[name] = function () { throw new Error('Intl.' + name + ' is made by a plain tts'); };
}`;

test('a plain tts makes no Intl object that takes 10 ms', async () => {
  const sandbox = await createSandbox();
  const hook = path.join(sandbox.harness, 'refuse.cjs');
  await writeFile(hook, REFUSE_SLOW_OBJECTS);
  const env = { NODE_OPTIONS: `--require "${hook}"` };
  const speak = (args: readonly string[]) =>
    runFoley(['tts', 'Hello.', '-q', ...args], { sandbox, env });
  expect(await speak(['-o', 'a.mp3'])).toMatchObject({ code: 0, stderr: '' });
  // The hook works: captions need a segmenter.
  const captions = await speak(['-o', 'b.mp3', '--subtitles', 'b.srt']);
  expect(captions.stderr).toContain('Intl.Segmenter is made');
});

/** Notes the chunks of the build that are read. */
const NOTE_CHUNKS = `const files = require('node:fs');
const { readFileSync } = files;
const read = [];
files.readFileSync = (file, ...options) => {
  if (/[\\\\/]chunks[\\\\/]/.test(String(file))) read.push(String(file).split(/[\\\\/]/).at(-1));
  return readFileSync(file, ...options);
};
process.on('exit', () => files.writeFileSync(process.env.CHUNK_NOTES, read.join('\\n')));`;

async function chunksRead(name: string, command = ['tts', '-o', 'a.mp3']): Promise<string> {
  const sandbox = await createSandbox();
  const hook = path.join(sandbox.harness, 'chunks.cjs');
  const notes = path.join(sandbox.harness, 'chunks');
  await writeFile(hook, NOTE_CHUNKS);
  await writeFile(path.join(sandbox.out, name), '# Hello.');
  const env = { NODE_OPTIONS: `--require "${hook}"`, CHUNK_NOTES: notes };
  const result = await runFoley([...command, '-f', name, '-q'], { sandbox, env });
  expect(result).toMatchObject({ code: 0 });
  return readFile(notes, 'utf8');
}

test('only a command that sends a request reads undici, and only its client', async () => {
  expect(await chunksRead('a.txt', ['text'])).not.toContain('undici');
  const chunks = await chunksRead('a.txt');
  expect(chunks.match(/undici.*/g)).toEqual(['undici.cjs']);
  const code = await readFile(path.join(CHUNKS, 'undici.cjs'), 'utf8');
  expect(code).toContain('wasm_on_headers_complete');
  expect(code).not.toMatch(/webidl|MockAgent|require\("node:(?:assert|http2?)"\)/);
});

test('a plain tts reads no code for documents', async () => {
  const plain = await chunksRead('a.txt');
  expect(plain).toContain('tts.cjs');
  expect(plain).not.toMatch(/document|markdown|html|epub|docx|odt|rtf|fb2|lexicon|pauses/);
  const markdown = await chunksRead('a.md');
  expect(markdown).toMatch(/document-source[^]*markdown/);
  expect(markdown).not.toMatch(/epub|docx|odt|rtf|fb2/);
});

test('a plain tts reads the parts of the schema library that it uses', async () => {
  const chunks = await chunksRead('a.txt');
  const code = await Promise.all(
    chunks.split('\n').map((chunk) => readFile(path.join(CHUNKS, chunk), 'utf8')),
  );
  // The bundler names the file of each part.
  const library = code.join('').match(/typebox\/build\/.*/g) ?? [];
  expect(library).toContain('typebox/build/schema/check.mjs');
  expect(library.join(' ')).not.toMatch(/schema\/compile|engine\/instantiate/);
});

test('runs with folders for the cache and the state that cannot be created', async () => {
  if (!existsSync('/proc/self')) skipWithout('/proc/PID/status');
  const env = { XDG_CACHE_HOME: '/proc/foley', XDG_STATE_HOME: '/proc/foley' };
  const options = { env, ownCode: true, timeoutMs: 20_000 };
  for (const _attempt of [1, 2]) {
    expect(await runFoley(['config', 'path'], options)).toMatchObject({ code: 0, stderr: '' });
  }
  const voices = await runFoley(['voices', 'list', '--local'], options);
  expect(voices).toMatchObject({ code: 32 });
  expect(voices.stderr).toContain('/proc/foley');
});
