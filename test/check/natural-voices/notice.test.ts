import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runFoley } from '../../harness/run-foley.ts';
import { sandbox } from '../../harness/sandbox.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { startInTerminal } from '../../harness/terminal.ts';

const HINT = 'foley engine add kokoro';

/** What a terminal shows of a command that speaks. */
async function speak(
  box: Sandbox,
  more: { args?: readonly string[]; env?: Record<string, string> } = {},
): Promise<string> {
  const args = ['tts', 'Hello', '-o', 'hello.wav', ...(more.args ?? [])];
  const running = await startInTerminal(args, { box, env: more.env ?? {}, columns: 200 });
  const result = await running.done;
  expect(result.code).toBe(0);
  return result.stdout.toString();
}

const stampOf = (box: Sandbox): string => path.join(box.state, 'foley', 'natural-voices-notice');

test('on a terminal, the first speech of a day names the natural voices', async () => {
  const box = await sandbox();
  expect(await speak(box)).toContain(HINT);
  expect(await speak(box)).not.toContain(HINT);
  await writeFile(stampOf(box), new Date(Date.now() - 25 * 3_600_000).toISOString());
  expect(await speak(box)).toContain(HINT);
});

test('not with --quiet, --json, CI or a pipe', async () => {
  const box = await sandbox();
  expect(await speak(box, { args: ['--quiet'] })).not.toContain(HINT);
  expect(await speak(box, { args: ['--json'] })).not.toContain(HINT);
  expect(await speak(box, { env: { CI: 'true' } })).not.toContain(HINT);
  const piped = await runFoley(['tts', 'Hello', '-o', 'hello.wav'], { box });
  expect(piped.stderr).not.toContain(HINT);
  expect(await speak(box)).toContain(HINT);
});

test('not when an engine is added', async () => {
  const box = await sandbox();
  const morse = path.resolve('examples/engine/morse.mjs');
  const added = await runFoley(['engine', 'add', 'morse', '--', 'node', morse], { box });
  expect(added.code, added.stderr).toBe(0);
  expect(await speak(box)).not.toContain(HINT);
});

test('a stamp that cannot be written is silent', async () => {
  const box = await sandbox();
  await mkdir(stampOf(box), { recursive: true });
  const shown = await speak(box);
  expect(shown).not.toContain(HINT);
  expect(shown).not.toContain('natural-voices-notice');
  await rm(stampOf(box), { recursive: true });
});
