import { mkdir, readdir, rename, symlink, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorLine } from '../harness/error-line.ts';
import { makeFifo } from '../harness/posix.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';

const SCRIPT = 'script.txt';
const ARGS = ['script', SCRIPT, '-o', 'a.wav', '-v', 'Martin', '--json'] as const;

async function make(sandbox: Sandbox, text: string) {
  await writeFile(path.join(sandbox.out, SCRIPT), text);
  // A command that waits for the other end of a pipe would take longer.
  return runFoley(ARGS, { sandbox, timeoutMs: 30_000 });
}

async function linesOf(sandbox: Sandbox): Promise<readonly string[]> {
  const folder = path.join(sandbox.out, 'a.wav.foley', 'lines');
  return (await readdir(folder)).map((name) => path.join(folder, name));
}

describe('a folder of a recording that another person has prepared is refused', () => {
  test.each([
    [
      'a link in place of the folder',
      async ({ home, out }: Sandbox) => symlink(home, path.join(out, 'a.wav.foley')),
      'it is a symbolic link',
    ],
    [
      'a link in place of the saved state',
      async ({ home, out }: Sandbox) => {
        await mkdir(path.join(out, 'a.wav.foley'));
        await symlink(path.join(home, 'x'), path.join(out, 'a.wav.foley', 'recording.json'));
      },
      'it is a symbolic link',
    ],
    [
      'a pipe in place of the saved state',
      async ({ out }: Sandbox) => {
        await mkdir(path.join(out, 'a.wav.foley'));
        makeFifo(path.join(out, 'a.wav.foley', 'recording.json'));
      },
      'it is not a regular file',
    ],
  ])('%s', async (_name, prepare, problem) => {
    const sandbox = await createSandbox();
    await prepare(sandbox);
    const before = await readdir(sandbox.home);
    const error = errorLine(await make(sandbox, 'Hi.'));
    expect(error).toMatchObject({ exitCode: 30, billed: 'no' });
    expect(error.message).toContain(problem);
    expect(await readdir(sandbox.home)).toEqual(before);
  });
});

test('a pipe in place of a spoken line is refused before anything is billed', async () => {
  const sandbox = await createSandbox();
  expect((await make(sandbox, 'Hi.')).code).toBe(0);
  const [line = ''] = await linesOf(sandbox);
  await unlink(line);
  makeFifo(line);
  // The other line makes the recording outdated.
  const error = errorLine(await make(sandbox, 'Hi.\n\nHo.'));
  expect(error).toMatchObject({ exitCode: 2, billed: 'no' });
  expect(error.message).toContain('is a pipe or a device');
});

test('a link in place of a spoken line does not lead out of the folder', async () => {
  const sandbox = await createSandbox();
  expect((await make(sandbox, 'Hi.')).code).toBe(0);
  const [line = ''] = await linesOf(sandbox);
  await rename(line, path.join(sandbox.home, 'line.wav'));
  await symlink(path.join(sandbox.home, 'line.wav'), line);
  const error = errorLine(await make(sandbox, 'Hi.\n\nHo.'));
  expect(error).toMatchObject({ billed: 'no' });
  expect(error.message).toContain('through a symbolic link');
});

test('the lexicon of a project is a regular file', async () => {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'foley.config.json'), '{"lexicon":"words.tsv"}');
  makeFifo(path.join(sandbox.out, 'words.tsv'));
  const args = ['tts', 'hi', '-v', 'v', '--dry-run', '--json'];
  const error = errorLine(await runFoley(args, { sandbox, timeoutMs: 30_000 }));
  expect(error).toMatchObject({ exitCode: 2, billed: 'no' });
  expect(error.message).toContain('words.tsv cannot be read: it is not a regular file');
});
