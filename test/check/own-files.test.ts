import { execFileSync } from 'node:child_process';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorLine } from '../harness/error-line.ts';
import { skipWithout } from '../harness/require-tool.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { batchSandbox } from '../binary/batch/batch-sandbox.ts';
import { firstVoiceId } from '../binary/support/serve.ts';
import { makeFifo, requirePosix } from '../harness/posix.ts';

const PROJECT_FILE = 'foley.config.json';
const DRY_RUN = ['tts', 'hi', '-v', 'v', '--dry-run', '--json'] as const;
/** More than a whole run takes, and far less than what an endless file would fill. */
const MOST_BYTES = 512 * 1024 * 1024;

/** The refusal of the project file `make` puts into the current folder. */
async function refusal(make: (file: string, sandbox: Sandbox) => Promise<unknown>) {
  const sandbox = await createSandbox();
  await make(path.join(sandbox.out, PROJECT_FILE), sandbox);
  const result = await runFoley(DRY_RUN, { sandbox, timeoutMs: 15_000 });
  expect(result.code).toBe(2);
  return errorLine(result);
}

describe('a project file that is no small regular file is refused, not read', () => {
  test('a link to an endless device', async () => {
    requirePosix('/dev/null, /dev/zero and /dev/fd');
    const error = await refusal((file) => symlink('/dev/zero', file));
    expect(error).toMatchObject({ code: 'config', billed: 'no' });
    expect(error.message).toMatch(/foley\.config\.json cannot be used: it is a symbolic link$/);
  });

  test('a link to a file', async () => {
    const error = await refusal(async (file, sandbox) => {
      await writeFile(path.join(sandbox.home, 'other.json'), '{"speed":2}');
      await symlink(path.join(sandbox.home, 'other.json'), file);
    });
    expect(error.message).toContain('it is a symbolic link');
  });

  test('a FIFO without a writer', async () => {
    const error = await refusal(async (file) => makeFifo(file));
    expect(error.message).toContain('it is not a regular file');
  });

  test('a folder', async () => {
    const error = await refusal((file) => mkdir(file));
    expect(error.message).toContain('it is not a regular file');
  });

  test('a file of a gigabyte, which is not read', async () => {
    const sandbox = await createSandbox();
    const file = path.join(sandbox.out, PROJECT_FILE);
    await writeFile(file, '{}');
    await truncate(file, 1024 * 1024 * 1024);
    const result = await runFoley(DRY_RUN, {
      sandbox,
      env: { NODE_OPTIONS: `--max-old-space-size=${MOST_BYTES / 1024 / 1024}` },
    });
    expect(errorLine(result).message).toContain('it is larger than 64 KiB');
  });

  test('a file of another user', async () => {
    const sandbox = await createSandbox({ unprivileged: true });
    if (sandbox.user === undefined) skipWithout('the rights of root');
    const file = path.join(sandbox.out, PROJECT_FILE);
    await writeFile(file, '{"speed":2}');
    await chown(file, 4711, 4711);
    const result = await runFoley(DRY_RUN, { sandbox });
    expect(result.code).toBe(2);
    expect(errorLine(result).message).toContain('it belongs to another user (uid 4711)');
    await chown(file, 0, 0);
    expect((await runFoley(DRY_RUN, { sandbox })).code).toBe(0);
  });

  test('one further up is not looked at when there is a nearer one', async () => {
    requirePosix('/dev/null, /dev/zero and /dev/fd');
    const sandbox = await createSandbox();
    const inner = path.join(sandbox.out, 'inner');
    await mkdir(inner);
    await symlink('/dev/zero', path.join(sandbox.out, PROJECT_FILE));
    await writeFile(path.join(inner, PROJECT_FILE), '{}');
    expect((await runFoley(DRY_RUN, { sandbox, cwd: inner })).code).toBe(0);
  });
});

describe('files of the person', () => {
  test('settings may lie behind a link, as dotfiles do, but not behind one to a device', async () => {
    requirePosix('/dev/null, /dev/zero and /dev/fd');
    const sandbox = await createSandbox();
    const folder = path.join(sandbox.config, 'foley');
    await mkdir(folder);
    const file = path.join(folder, 'config.json');
    await writeFile(path.join(sandbox.home, 'dotfile.json'), '{"speed":1.5}');
    await symlink(path.join(sandbox.home, 'dotfile.json'), file);
    const result = await runFoley(['config', 'get', 'speed'], { sandbox });
    expect(result.stdout.toString()).toBe('1.5\n');
    execFileSync('ln', ['-sfn', '/dev/zero', file]);
    const refused = await runFoley(['config', 'get', 'speed', '--json'], { sandbox });
    expect(refused.code).toBe(2);
    expect(errorLine(refused).message).toContain('it is not a regular file');
  });

  test('state is stored in real folders, never behind a link', async () => {
    requirePosix('files that only their owner can read');
    const fixture = await batchSandbox({});
    const { sandbox } = fixture;
    const victim = path.join(sandbox.home, 'victim');
    await mkdir(victim);
    await chmod(victim, 0o755);
    await mkdir(path.join(sandbox.state, 'foley'));
    await symlink(victim, path.join(sandbox.state, 'foley', 'journal'));
    const voice = await firstVoiceId(fixture.service);
    const args = ['tts', 'hi', '-v', voice, '-o', 'hi.mp3', '--json'];
    const result = await runFoley(args, { sandbox, env: fixture.service.env });
    expect(result.code).toBe(32);
    expect(errorLine(result)).toMatchObject({ code: 'state', billed: 'no' });
    expect(errorLine(result).message).toContain('it is a symbolic link');
    expect((await stat(victim)).mode & 0o777).toBe(0o755);
    expect(await readdir(victim)).toStrictEqual([]);
  });
});

describe('a batch folder', () => {
  test('that is a link is refused; what it leads to stays as it is', async () => {
    requirePosix('files that only their owner can read');
    const fixture = await batchSandbox({ 'in/a.txt': 'One.' });
    const { sandbox } = fixture;
    const victim = path.join(sandbox.home, 'victim');
    await mkdir(victim);
    await chmod(victim, 0o755);
    await mkdir(path.join(sandbox.out, 'done'));
    await symlink(victim, path.join(sandbox.out, 'done', '.foley'));
    const result = await fixture.batch(['in', '--output-dir', 'done', '--json']);
    expect(result.code).toBe(30);
    expect(errorLine(result).message).toContain('it is a symbolic link');
    expect((await stat(victim)).mode & 0o777).toBe(0o755);
    expect(await readdir(victim)).toStrictEqual([]);
    expect(await fixture.charged()).toBe(0);
  });

  test.each(['journal', 'locks', 'tmp'])('with a link as its %s is refused', async (name) => {
    requirePosix('files that only their owner can read');
    const fixture = await batchSandbox({ 'in/a.txt': 'One.' });
    const { sandbox } = fixture;
    const victim = path.join(sandbox.home, 'victim');
    await mkdir(victim);
    await chmod(victim, 0o755);
    await mkdir(path.join(sandbox.out, 'done', '.foley'), { recursive: true });
    await symlink(victim, path.join(sandbox.out, 'done', '.foley', name));
    const result = await fixture.batch(['in', '--output-dir', 'done', '--json']);
    expect(result.code).toBe(30);
    expect((await stat(victim)).mode & 0o777).toBe(0o755);
    expect(await readdir(victim)).toStrictEqual([]);
    expect(await fixture.charged()).toBe(0);
  });

  test.each([
    ['.gitignore', 30],
    ['secret', 32],
    ['journal/20240101T000000Z-1-00000000.jsonl', 32],
  ])('with a link as its %s is refused', async (name, code) => {
    const fixture = await batchSandbox({ 'in/a.txt': 'One.' });
    const { sandbox } = fixture;
    const victim = path.join(sandbox.home, 'victim');
    await writeFile(victim, '');
    await mkdir(path.join(sandbox.out, 'done', '.foley', 'journal'), { recursive: true });
    await symlink(victim, path.join(sandbox.out, 'done', '.foley', name));
    const result = await fixture.batch(['in', '--output-dir', 'done', '--json']);
    expect(result.code).toBe(code);
    expect(errorLine(result).message).toContain('it is a symbolic link');
    expect(await readFile(victim, 'utf8')).toBe('');
    expect((await lstat(path.join(sandbox.out, 'done', '.foley', name))).isSymbolicLink()).toBe(
      true,
    );
    expect(await fixture.charged()).toBe(0);
  });
});
