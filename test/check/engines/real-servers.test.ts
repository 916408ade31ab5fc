import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { heardWords } from '../../harness/heard-words.ts';
import { findOnPath } from '../../harness/require-tool.ts';
import { runFoley } from '../../harness/run-foley.ts';
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
  const [line] = await once(running.stdout, 'data');
  return String(line).trim();
}

const SENTENCE = 'The ship left at noon and nobody waved.';

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
  const { channels, sampleRate } = readWav(await readFile(path.join(sandbox.out, 'a.wav')));
  const [samples = new Float32Array()] = channels;
  const heard = await heardWords(
    { samples, sampleRate },
    SENTENCE.toLowerCase().match(/\w+/g) ?? [],
  );
  expect(heard.map(({ word }) => word)).toContain('waved');
  expect(await readFile(path.join(sandbox.out, 'a.srt'), 'utf8')).toMatch(/nobody waved/);
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
