import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { system } from '../../src/system/system.ts';
import { readKeyFile } from '../../src/cli/read-input.ts';

const noStdin = (): Readable => {
  throw new Error('stdin was opened');
};

function from(stdin = noStdin): Parameters<typeof readKeyFile>[1] {
  return { system, io: { stdin }, signal: new AbortController().signal };
}

async function keyFile(content: string | Buffer): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'foley-key-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const file = path.join(folder, 'key');
  await writeFile(file, content);
  await chmod(file, 0o600);
  return file;
}

test.each([
  ['as it is', 'sk-1', 'sk-1'],
  ['without its line end', 'sk-1\n', 'sk-1'],
  ['without a Windows line end', 'sk-1\r\n', 'sk-1'],
])('a key is read %s', async (_name, content, expected) => {
  const file = await keyFile(content);
  expect(await readKeyFile(file, from())).toBe(expected);
});

test('a key is read from stdin', async () => {
  const piped = Readable.from([Buffer.from('sk-'), Buffer.from('1\n')]);
  expect(
    await readKeyFile(
      '-',
      from(() => piped),
    ),
  ).toBe('sk-1');
});

test.each([
  ['is empty', '', 4],
  ['is an empty line', '\n', 4],
  ['has two lines', 'sk-secret\n\n', 4],
  ['has a space', 'sk secret', 4],
  ['is something else', Buffer.from([0xff, 0xd8, 0xff]), 4],
  ['is huge', Buffer.alloc(100_000, 0x61), 2],
])('a file that %s is no key, and its content is not shown', async (_name, content, exitCode) => {
  const file = await keyFile(content);
  const error: unknown = await readKeyFile(file, from()).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ exitCode, message: expect.stringContaining(file) });
  expect(JSON.stringify(error) + String(error)).not.toContain('secret');
});

test.each(['/nowhere/key', tmpdir()])('%s cannot be read and is named', async (file) => {
  await expect(readKeyFile(file, from())).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining(file),
  });
});
