import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runFoley } from '../../harness/run-foley.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { startInTerminal } from '../../harness/terminal.ts';

const HINT = 'foley engine add kokoro';

/** What a terminal shows of a command that speaks. */
async function speak(
  sandbox: Sandbox,
  more: { args?: readonly string[]; env?: Record<string, string> } = {},
): Promise<string> {
  const args = ['tts', 'Hello', '-o', 'hello.wav', ...(more.args ?? [])];
  const running = await startInTerminal(args, { sandbox, env: more.env ?? {}, columns: 200 });
  const result = await running.done;
  expect(result.code).toBe(0);
  return result.stdout.toString();
}

const stampOf = (sandbox: Sandbox): string =>
  path.join(sandbox.state, 'foley', 'natural-voices-notice');

test('on a terminal, the first speech of a day names the natural voices', async () => {
  const sandbox = await createSandbox();
  expect(await speak(sandbox)).toContain(HINT);
  expect(await speak(sandbox)).not.toContain(HINT);
  await writeFile(stampOf(sandbox), new Date(Date.now() - 25 * 3_600_000).toISOString());
  expect(await speak(sandbox)).toContain(HINT);
});

test('not with --quiet, --json, CI or a pipe', async () => {
  const sandbox = await createSandbox();
  expect(await speak(sandbox, { args: ['--quiet'] })).not.toContain(HINT);
  expect(await speak(sandbox, { args: ['--json'] })).not.toContain(HINT);
  expect(await speak(sandbox, { env: { CI: 'true' } })).not.toContain(HINT);
  const piped = await runFoley(['tts', 'Hello', '-o', 'hello.wav'], { sandbox });
  expect(piped.stderr).not.toContain(HINT);
  expect(await speak(sandbox)).toContain(HINT);
});

test('not when an engine is added', async () => {
  const sandbox = await createSandbox();
  const morse = path.resolve('examples/engine/morse.mjs');
  const added = await runFoley(['engine', 'add', 'morse', '--', 'node', morse], { sandbox });
  expect(added.code, added.stderr).toBe(0);
  expect(await speak(sandbox)).not.toContain(HINT);
});

test('a stamp that cannot be written is silent', async () => {
  const sandbox = await createSandbox();
  await mkdir(stampOf(sandbox), { recursive: true });
  const shown = await speak(sandbox);
  expect(shown).not.toContain(HINT);
  expect(shown).not.toContain('natural-voices-notice');
  await rm(stampOf(sandbox), { recursive: true });
});
