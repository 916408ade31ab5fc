import { cp, mkdir, readdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { errorLine } from '../harness/error-line.ts';
import { FOLEY } from '../harness/run-foley.ts';
import { runProgram } from '../harness/run-program.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { TESTED_NODE } from '../harness/tested-node.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Packages that look for a binary relative to their own files. */
const COPIED = new Set(['libsql', 'sharp', 'detect-libc', '@neon-rs']);

/** The package as npm leaves it when it did not install the optional packages of one scope. */
async function packageWithout(
  sandbox: Sandbox,
  scope: '@echogarden' | '@img' | '@libsql',
): Promise<string> {
  const folder = path.join(sandbox.harness, 'package');
  const modules = path.join(folder, 'node_modules');
  await mkdir(modules, { recursive: true });
  for (const name of ['bin', 'dist', 'assets', 'package.json']) {
    await cp(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  }
  for (const name of await readdir(path.join(ROOT, 'node_modules'))) {
    const [from, to] = [path.join(ROOT, 'node_modules', name), path.join(modules, name)];
    if (name === scope || name.startsWith('.')) continue;
    if (COPIED.has(name)) await cp(from, to, { recursive: true });
    else await symlink(from, to);
  }
  return path.join(folder, 'bin', 'foley.cjs');
}

const HINT = /Delete node_modules and run `npm install --include=optional`/;

describe('a package without the packages that npm installs beside it', () => {
  test.each([
    ['tts', 'hi', '-o', 'hi.mp3'],
    ['serve', '--port', '0'],
    ['voices', 'list'],
  ])('of libsql: foley %s is exit 32 with what to type', async (...args) => {
    const sandbox = await createSandbox();
    const program = await packageWithout(sandbox, '@libsql');
    const result = await runProgram(TESTED_NODE, [program, ...args, '--json'], { sandbox });
    const error = errorLine(result);
    expect(error).toMatchObject({ exitCode: 32, code: 'state', billed: 'no' });
    expect(error.message).toMatch(/the package libsql cannot be loaded on \w+ \w+: /);
    expect(error.hint).toMatch(HINT);
  });

  test('of sharp: a picture is exit 32 before it is ordered, doctor says it, and speech works', async () => {
    const sandbox = await createSandbox();
    const program = await packageWithout(sandbox, '@img');
    const run = (...args: readonly string[]) =>
      runProgram(TESTED_NODE, [program, ...args, '--local'], { sandbox });
    const order = ['image', 'create', 'cat', '-m', 'vendor-image-1-flash', '-o', 'a.png'];
    const error = errorLine(await run(...order, '--json'));
    expect(error).toMatchObject({ exitCode: 32, code: 'state', billed: 'no' });
    expect(error.message).toContain('the package sharp cannot be loaded');
    expect(error.hint).toMatch(HINT);
    expect((await run('doctor')).stdout.toString()).toMatch(/problem +embedded service +.*sharp/);
    expect(await run('tts', 'hi', '-o', 'hi.mp3')).toMatchObject({ code: 0 });
  });
});

test('the program alone, outside of its package, says so', async () => {
  const sandbox = await createSandbox();
  const copy = path.join(sandbox.out, 'foley.cjs');
  await cp(FOLEY, copy);
  for (const args of [['--version'], ['tts', 'hi'], ['--help']]) {
    const result = await runProgram(TESTED_NODE, [copy, ...args], { sandbox });
    expect(result).toMatchObject({ code: 32, stderr: expect.stringMatching(/^foley: .*package/) });
    expect(result.stderr).toMatch(/npm install -g/);
    expect(result.stderr).not.toContain('Require stack');
  }
});
