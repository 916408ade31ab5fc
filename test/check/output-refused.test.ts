import { chmod, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorLine } from '../harness/error-line.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { RunOptions } from '../harness/run-options.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { difference, snapshot } from '../harness/snapshot.ts';
import { startHostedService } from '../binary/support/hosted-service.ts';

const UNCHANGED = { added: [], removed: [], changed: [] };

/** Runs a command that must end before the service is asked for anything; nothing may change. */
async function refused(args: readonly string[], options: RunOptions = {}) {
  const { server, env } = await startHostedService();
  const sandbox = options.sandbox ?? (await createSandbox());
  const before = await snapshot(sandbox.out);
  const result = await runFoley(['tts', 'Hi', ...args], { ...options, sandbox, env });
  expect(server.connections, result.stderr).toBe(0);
  expect(result.stdout).toHaveLength(0);
  expect(difference(before, await snapshot(sandbox.out))).toEqual(UNCHANGED);
  return result;
}

describe('flags that contradict each other are exit 2', () => {
  test.each([
    [['-o', 'x.mp3', '--format', 'wav'], /--format is wav.*mp3/],
    [['-o', 'x.wav', '--output-format', 'ogg'], /--format is ogg.*wav/],
    [
      ['--format', 'mp3', '--output-format', 'wav'],
      /--output-format.*cannot be used with.*--format/,
    ],
    [['-o', 'x.mp4', '--format', 'mp3'], /mp4/],
    [['--format', 'aac'], /--format is "aac"; it takes mp3, wav, ogg, opus, flac, m4a, m4b/],
    [['-o', 'x.aac'], /--output has the extension of aac.*mp3, wav, ogg/],
    [['-o', ''], /--output is empty/],
  ])('%j', async (args, reason) => {
    const result = await refused(args);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(reason);
  });

  test('audio and JSON on stdout', async () => {
    const result = await refused(['--json', '-o', '-']);
    expect(errorLine(result)).toMatchObject({ code: 'usage', exitCode: 2, billed: 'no' });
  });
});

describe('an extension that no speech file has is exit 2', () => {
  test.each([
    'wma',
    'AIFF',
    'aif',
    'caf',
    'amr',
    'm4r',
    'mka',
    'weba',
    'mp2',
    'txt',
    'json',
    'srt',
  ])('%s', async (extension) => {
    const result = await refused(['-o', `x.${extension}`]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(`--output is x.${extension};`);
    expect(result.stderr).toMatch(/\.mp3, \.wav, \.ogg/);
  });

  test.each([
    ['jobs', 'create', 'Hi', '-o', 'x.wma'],
    ['jobs', 'wait', 'job-1', '-o', 'x.wma'],
    ['jobs', 'download', 'job-1', '-o', 'x.wma'],
    ['live', 'Hi', '-o', 'x.wma'],
    ['live', 'segment', 'a', 'b', '-o', 'x.wma'],
    ['script', '../home/a.txt', '-o', 'x.wma'],
    ['batch', '../home/a.txt', '--output-dir', 'b', '--name', '{name}.wma'],
  ])('%s %s %s', async (...args) => {
    const { server, env } = await startHostedService();
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.home, 'a.txt'), 'Hi');
    const result = await runFoley(args, { sandbox, env });
    expect(result.code, result.stderr).toBe(2);
    expect(result.stderr).toMatch(/x?\.wma.*\.mp3/);
    expect(server.requests).toEqual([]);
    expect(await readdir(sandbox.out)).toEqual([]);
  });
});

describe('an output that cannot be is found before anything is asked', () => {
  test('a folder that is not there is exit 30 and named', async () => {
    const result = await refused(['-o', 'missing/folder/hi.mp3']);
    expect(result.code).toBe(30);
    expect(result.stderr).toMatch(
      /^foley: cannot write missing\/folder\/hi\.mp3: .*missing\/folder/,
    );
  });

  test('a folder that may not be written in is exit 30', async () => {
    const sandbox = await createSandbox({ unprivileged: true });
    const folder = path.join(sandbox.out, 'locked');
    await mkdir(folder);
    await chmod(folder, 0o555);
    const result = await refused(['-o', 'locked/hi.mp3'], { sandbox });
    expect(result.code).toBe(30);
    expect(result.stderr).toMatch(/locked/);
  });

  test('a file that is write-protected is exit 30', async () => {
    const sandbox = await createSandbox({ unprivileged: true });
    await writeFile(path.join(sandbox.out, 'hi.mp3'), 'precious', { mode: 0o444 });
    const result = await refused(['-o', 'hi.mp3'], { sandbox });
    expect(result.code).toBe(30);
    expect(result.stderr).toMatch(/write-protected/);
  });

  test('a folder instead of a file is exit 2 and says which file it could be', async () => {
    const sandbox = await createSandbox();
    await mkdir(path.join(sandbox.out, 'audio'));
    const result = await refused(['-o', 'audio'], { sandbox });
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/audio is a folder[\s\S]*audio\/speech\.mp3/);
  });

  test('an existing file with --no-clobber is exit 31 and stays', async () => {
    const sandbox = await createSandbox();
    const file = path.join(sandbox.out, 'hi.mp3');
    await writeFile(file, 'precious');
    const result = await refused(['-o', 'hi.mp3', '--no-clobber'], { sandbox });
    expect(result.code).toBe(31);
    expect(result.stderr).toMatch(/^foley: hi\.mp3 already exists/);
    expect(await readFile(file, 'utf8')).toBe('precious');
  });

  test('the same with --json is an error line with its code', async () => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'hi.mp3'), 'precious');
    const result = await refused(['-o', 'hi.mp3', '--no-clobber', '--json'], { sandbox });
    expect(errorLine(result)).toMatchObject({ code: 'exists', exitCode: 31, billed: 'no' });
  });
});

test('--no-clobber lets a new file be made', async () => {
  const result = await runFoley(['tts', 'Hi', '-o', 'hi.mp3', '--no-clobber', '--local']);
  expect(result.code, result.stderr).toBe(0);
});
