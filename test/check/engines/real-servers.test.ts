import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { heardWords } from '../../harness/heard-words.ts';
import { naturalModels } from '../../harness/natural-models.ts';
import { installPythonTools } from '../../harness/python-tools.ts';
import { findOnPath } from '../../harness/require-tool.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { readWav } from '../../harness/wav.ts';

const EXAMPLE = fileURLToPath(new URL('../../../examples/server/flite_server.py', import.meta.url));

/** Starts a server that prints its URL first. */
async function startProgram(...command: readonly string[]): Promise<string> {
  const [program = '', ...args] = command;
  const running = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => {
    running.kill();
  });
  const ended = once(running, 'exit').then(() => {
    throw new Error(`${program} ended before it served`);
  });
  const [line] = await Promise.race([once(running.stdout, 'data'), ended]);
  ended.catch(() => undefined);
  return String(line).trim();
}

const SENTENCE = 'The ship left at noon and nobody waved.';

/** Expects the sentence in the sound `a.wav` and in the captions `a.srt`. */
async function expectSentence(sandbox: Sandbox): Promise<void> {
  const { channels, sampleRate } = readWav(await readFile(path.join(sandbox.out, 'a.wav')));
  const [samples = new Float32Array()] = channels;
  const heard = await heardWords(
    { samples, sampleRate },
    SENTENCE.toLowerCase().match(/\w+/g) ?? [],
  );
  expect(heard.map(({ word }) => word)).toContain('waved');
  expect(await readFile(path.join(sandbox.out, 'a.srt'), 'utf8')).toMatch(/nobody waved/);
}

test('a Debian engine behind thirty lines of Python speaks, with captions, scripts and batches', async () => {
  const python = findOnPath('python3') ?? 'python3';
  const urls: string[] = [];
  for (let index = 0; index < 2; index += 1) {
    urls.push(await startProgram(python, EXAMPLE, '0'));
  }
  const sandbox = await createSandbox();
  const run = (...args: string[]) => runFoley(args, { sandbox });
  const added = await run('engine', 'add', 'flite', ...urls.flatMap((url) => ['--url', url]));
  expect(added.code, added.stderr).toBe(0);
  const tested = await run('engine', 'test', 'flite');
  expect(tested.code, tested.stdout.toString()).toBe(0);
  const local = ['--local', '-v', 'slt'];
  const spoken = await run('tts', SENTENCE, ...local, '-o', 'a.wav', '--subtitles', 'a.srt');
  expect(spoken.code, spoken.stderr).toBe(0);
  await expectSentence(sandbox);
  await writeFile(
    path.join(sandbox.out, 'lines.txt'),
    'One line.\nAnother line.\nThe last line.\n',
  );
  const batch = await run('batch', '--lines', 'lines.txt', ...local, '--output-dir', 'lines', '-q');
  expect(batch.code, batch.stderr).toBe(0);
  await writeFile(path.join(sandbox.out, 'talk.txt'), 'Anna: Good morning.\nBen: Good night.\n');
  const script = await run('script', 'talk.txt', '--local', '-v', 'slt', '-o', 'talk.wav');
  expect(script.code, script.stderr).toBe(0);
});

test('the server kokoro-cli of PyPI speaks, with voices from its own path and captions', async () => {
  const bin = await installPythonTools(
    fileURLToPath(new URL('../python/kokoro-server.txt', import.meta.url)),
  );
  const script = fileURLToPath(new URL('../python/serve_kokoro.py', import.meta.url));
  const sandbox = await createSandbox();
  const kokoro = path.join(await naturalModels(), 'kokoro');
  const url = await startProgram(path.join(bin, 'python'), script, kokoro, sandbox.temporary);
  const run = (...args: string[]) => runFoley(args, { sandbox });
  // It has no list at a usual place, and says so.
  const unlisted = await run('engine', 'add', 'farm', '--url', url);
  expect(unlisted.code).toBe(2);
  expect(unlisted.stderr).toMatch(/answered 404: Not found.*--voices-from/s);
  const added = await run('engine', 'add', 'farm', '--url', url, '--voices-from', '/voices');
  expect(added.code, added.stderr).toBe(0);
  const spoken = await run(
    'tts',
    SENTENCE,
    '--local',
    '-v',
    'af_heart',
    '-o',
    'a.wav',
    '--subtitles',
    'a.srt',
  );
  expect(spoken.code, spoken.stderr).toBe(0);
  await expectSentence(sandbox);
}, 900_000);
