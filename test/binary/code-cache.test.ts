import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { TESTED_NODE } from '../harness/tested-node.ts';
import { execFileSync } from 'node:child_process';

/** Every file below the cache of compiled code, by its path there. */
function kept({ cache }: Sandbox): string[] {
  const root = path.join(cache, 'foley', 'code');
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(path.join(root, name)).isFile())
    .map((name) => path.join(root, name));
}

async function settings(sandbox: Sandbox, env: Record<string, string> = {}): Promise<string> {
  const result = await runFoley(['config', 'path'], { sandbox, env, ownCode: true });
  expect(result).toMatchObject({ code: 0, stderr: '' });
  return result.stdout.toString();
}

/** Node 22 keeps compiled code itself, in files of its own. */
const isOurs = testedNodeMajor() < 22;

describe.skipIf(!isOurs)('compiled code', () => {
  test('is kept by the second run of a command, and used by the third', async () => {
    const sandbox = await createSandbox();
    const first = await settings(sandbox);
    expect(kept(sandbox)).toEqual([]);
    await settings(sandbox);
    const files = kept(sandbox);
    expect(files.map((file) => path.basename(file))).toEqual(['config']);
    const before = files.map((file) => statSync(file, { bigint: true }));
    expect(await settings(sandbox)).toBe(first);
    // Had a chunk not been taken from there, it would have been compiled and kept again.
    expect(kept(sandbox).map((file) => statSync(file, { bigint: true }))).toMatchObject(
      before.map(({ ino, mtimeNs }) => ({ ino, mtimeNs })),
    );
  });

  test('that was damaged is compiled and kept anew', async () => {
    const sandbox = await createSandbox();
    const first = await settings(sandbox);
    await settings(sandbox);
    const [file = ''] = kept(sandbox);
    const whole = readFileSync(file);
    writeFileSync(file, whole.fill(0, whole.length >> 1));
    expect(await settings(sandbox)).toBe(first);
    expect(
      readFileSync(file)
        .subarray(-64)
        .every((byte) => byte === 0),
    ).toBe(false);
  });

  test('is not saved by a failed command, nor with NODE_DISABLE_COMPILE_CACHE', async () => {
    const sandbox = await createSandbox();
    const off = { NODE_DISABLE_COMPILE_CACHE: '1' };
    await settings(sandbox, off);
    expect(readdirSync(sandbox.cache)).toEqual([]);
    for (let run = 0; run < 3; run += 1) {
      expect(await runFoley(['confog'], { sandbox, ownCode: true })).toMatchObject({ code: 2 });
    }
    expect(kept(sandbox)).toEqual([]);
  });
});

/** Its major version, such as 22. */
function testedNodeMajor(): number {
  const print = ['-p', 'process.versions.node'];
  return Number.parseInt(execFileSync(TESTED_NODE, print, { encoding: 'utf8' }), 10);
}
