import { mkdir, readdir, rename, symlink, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorLine } from '../harness/error-line.ts';
import { makeFifo } from '../harness/posix.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { sandbox } from '../harness/sandbox.ts';

const SCRIPT = 'script.txt';
const ARGS = ['script', SCRIPT, '-o', 'a.wav', '-v', 'Martin', '--json'] as const;

async function make(box: Sandbox, text: string) {
  await writeFile(path.join(box.out, SCRIPT), text);
  // A command that waits for the other end of a pipe would take longer.
  return runFoley(ARGS, { box, timeoutMs: 30_000 });
}

async function linesOf(box: Sandbox): Promise<readonly string[]> {
  const folder = path.join(box.out, 'a.wav.foley', 'lines');
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
    const box = await sandbox();
    await prepare(box);
    const before = await readdir(box.home);
    const error = errorLine(await make(box, 'Hi.'));
    expect(error).toMatchObject({ exitCode: 30, billed: 'no' });
    expect(error.message).toContain(problem);
    expect(await readdir(box.home)).toEqual(before);
  });
});

test('a pipe in place of a spoken line is refused before anything is billed', async () => {
  const box = await sandbox();
  expect((await make(box, 'Hi.')).code).toBe(0);
  const [line = ''] = await linesOf(box);
  await unlink(line);
  makeFifo(line);
  // The other line makes the recording outdated.
  const error = errorLine(await make(box, 'Hi.\n\nHo.'));
  expect(error).toMatchObject({ exitCode: 2, billed: 'no' });
  expect(error.message).toContain('is a pipe or a device');
});

test('a link in place of a spoken line does not lead out of the folder', async () => {
  const box = await sandbox();
  expect((await make(box, 'Hi.')).code).toBe(0);
  const [line = ''] = await linesOf(box);
  await rename(line, path.join(box.home, 'line.wav'));
  await symlink(path.join(box.home, 'line.wav'), line);
  const error = errorLine(await make(box, 'Hi.\n\nHo.'));
  expect(error).toMatchObject({ billed: 'no' });
  expect(error.message).toContain('through a symbolic link');
});

test('the lexicon of a project is a regular file', async () => {
  const box = await sandbox();
  await writeFile(path.join(box.out, 'foley.config.json'), '{"lexicon":"words.tsv"}');
  makeFifo(path.join(box.out, 'words.tsv'));
  const args = ['tts', 'hi', '-v', 'v', '--dry-run', '--json'];
  const error = errorLine(await runFoley(args, { box, timeoutMs: 30_000 }));
  expect(error).toMatchObject({ exitCode: 2, billed: 'no' });
  expect(error.message).toContain('words.tsv cannot be read: it is not a regular file');
});
