import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ShellResult } from './in-shell.ts';
import { inShell } from './in-shell.ts';
import { skipWithout } from './require-tool.ts';
import type { RunOptions } from './run-options.ts';
import type { Sandbox } from './sandbox.ts';

/** Runs a bash script beside `small`, a disk of the given KiB. Where no disk can be mounted the test is skipped. */
export async function onSmallDisk(
  sandbox: Sandbox,
  kib: number,
  script: string,
  options: RunOptions = {},
): Promise<ShellResult> {
  requireSmallDisk();
  const file = path.join(sandbox.harness, 'small.sh');
  await mkdir(path.join(sandbox.out, 'small'));
  await writeFile(file, `mount -t tmpfs -o size=${kib}k none small || exit 99\n${script}`);
  return inShell(`unshare --user --map-root-user --mount bash "${file}"`, { ...options, sandbox });
}

/** Skips the test where a user may not create a mount namespace, which a small disk needs. */
export function requireSmallDisk(): void {
  try {
    const inside = ['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt'];
    execFileSync('unshare', inside, { stdio: 'ignore' });
  } catch {
    skipWithout('unshare with mounts');
  }
}
