import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { naturalModels } from '../../harness/natural-models.ts';
import { installPythonTools } from '../../harness/python-tools.ts';
import { findOnPath } from '../../harness/require-tool.ts';
import { openPage } from '../../harness/browser.ts';
import { runFoley, startFoley } from '../../harness/run-foley.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { expectSentence, SENTENCE, SLOW_MS, startProgram } from './real-server.ts';

const EXAMPLE = fileURLToPath(new URL('../../../examples/server/flite_server.py', import.meta.url));

test('a Debian engine behind thirty lines of Python speaks, with captions, batches, scripts, realtime and the page', async () => {
  const python = findOnPath('python3') ?? 'python3';
  const urls: string[] = [];
  for (let index = 0; index < 2; index += 1) {
    urls.push(await startProgram(python, EXAMPLE, '0'));
  }
  const sandbox = await createSandbox();
  const run = (...args: string[]) => runFoley(args, { sandbox, timeoutMs: SLOW_MS });
  const added = await run('engine', 'add', 'flite', ...urls.flatMap((url) => ['--url', url]));
  expect(added.code, added.stderr).toBe(0);
  const tested = await run('engine', 'test', 'flite');
  expect(tested.code, tested.stdout.toString()).toBe(0);
  const local = ['--local', '-v', 'slt'];
  await expectSentence(sandbox, 'slt');
  await writeFile(
    path.join(sandbox.out, 'lines.txt'),
    'One line.\nAnother line.\nThe last line.\n',
  );
  const batch = await run('batch', '--lines', 'lines.txt', ...local, '--output-dir', 'lines', '-q');
  expect(batch.code, batch.stderr).toBe(0);
  await writeFile(path.join(sandbox.out, 'talk.txt'), 'Anna: Good morning.\nBen: Good night.\n');
  const script = await run('script', 'talk.txt', '--local', '-v', 'slt', '-o', 'talk.wav');
  expect(script.code, script.stderr).toBe(0);
  const live = await run('live', SENTENCE, ...local, '-o', 'live.wav');
  expect(live.code, live.stderr).toBe(0);
  const serving = await startFoley(['serve', '--port', '0'], { sandbox, timeoutMs: SLOW_MS });
  const [, link = ''] = await serving.waitFor('stderr', /open (\S+#\S+) \(works in one browser\)/);
  const page = await openPage(link);
  await page.locator('#text').fill(SENTENCE);
  await page.locator('#voice').selectOption({ label: 'slt' });
  await page.locator('#speak').click();
  await page.locator('#play', { hasText: 'Replay' }).waitFor({ timeout: 60_000 });
  expect(await page.locator('#words').textContent()).toBe(SENTENCE);
});

test('the server kokoro-cli of PyPI speaks, with voices from its own path and captions', async () => {
  const bin = await installPythonTools(
    fileURLToPath(new URL('../python/kokoro-server.txt', import.meta.url)),
  );
  const script = fileURLToPath(new URL('../python/serve_kokoro.py', import.meta.url));
  const sandbox = await createSandbox();
  const kokoro = path.join(await naturalModels(), 'kokoro');
  const url = await startProgram(path.join(bin, 'python'), script, kokoro, sandbox.temporary);
  const run = (...args: string[]) => runFoley(args, { sandbox, timeoutMs: SLOW_MS });
  // It has no list at a usual place, and says so.
  const unlisted = await run('engine', 'add', 'farm', '--url', url);
  expect(unlisted.code).toBe(2);
  expect(unlisted.stderr).toMatch(/answered 404: Not found.*--voices-from/s);
  const added = await run('engine', 'add', 'farm', '--url', url, '--voices-from', '/voices');
  expect(added.code, added.stderr).toBe(0);
  await expectSentence(sandbox, 'af_heart');
}, 900_000);

test('the server local-tts-studio of PyPI speaks with Piper and a key, and its one weakness is told', async () => {
  const bin = await installPythonTools(
    fileURLToPath(new URL('../python/piper-server.txt', import.meta.url)),
  );
  const script = fileURLToPath(new URL('../python/serve_piper.py', import.meta.url));
  const sandbox = await createSandbox();
  const key = path.join(sandbox.out, 'key.txt');
  await writeFile(key, 'key-of-a-test');
  const piper = path.join(await naturalModels(), 'piper');
  const url = await startProgram(path.join(bin, 'python'), script, piper, sandbox.temporary, key);
  const run = (...args: string[]) => runFoley(args, { sandbox, timeoutMs: SLOW_MS });
  const flags = ['--url', url, '--voice', 'joe'];
  const keyless = await run('engine', 'add', 'studio', ...flags);
  expect(keyless.code).toBe(2);
  expect(keyless.stderr).toMatch(/answered 401: You didn't provide an API key/);
  // Its web interface answers every path that it does not know.
  const unlisted = await run('engine', 'add', 'studio', '--url', url, '--key-file', 'key.txt');
  expect(unlisted.stderr).toMatch(/audio\/voices sent something else than JSON.*--voice/s);
  const added = await run('engine', 'add', 'studio', ...flags, '--key-file', 'key.txt');
  expect(added.code, added.stderr).toBe(0);
  await expectSentence(sandbox, 'joe');
  const tested = await run('engine', 'test', 'studio');
  expect(tested.stdout.toString()).toMatch(/failed +controls .*no effect: speed/);
  expect(tested.stdout.toString().match(/^failed/gm)).toHaveLength(1);
}, 900_000);
