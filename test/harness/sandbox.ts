import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { skipWithout } from './require-tool.ts';
import { requirePosix } from './posix.ts';

/** The folders of one test. Nothing of the person who runs the tests is seen from inside. */
export interface Sandbox {
  readonly root: string;
  readonly home: string;
  /** `XDG_CONFIG_HOME`; foley's own folder is `foley` inside of it, and so for state and cache. */
  readonly config: string;
  readonly state: string;
  readonly cache: string;
  /** Where commands run unless a test says otherwise, and where they put what they make. */
  readonly out: string;
  /** `TMPDIR`. */
  readonly temporary: string;
  /** The harness's own corner: shims on PATH, notes of the shell. Snapshots leave it out. */
  readonly harness: string;
  /** Set when commands run as an unprivileged user, because the tests run as root. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

export interface SandboxOptions {
  /** Commands meet permissions as a person does, even where the tests run as root. */
  readonly unprivileged?: boolean;
}

const NOBODY = { uid: 65_534, gid: 65_534 };

/** Makes the folders of a test; they are removed when the test ends. */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  if (options.unprivileged === true) requirePosix('files that only their owner can read');
  const user = options.unprivileged === true ? unprivilegedUser() : undefined;
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'foley test ')));
  onTestFinished(async () => removeTree(root));
  const folders = {
    home: path.join(root, 'home'),
    config: path.join(root, 'config'),
    state: path.join(root, 'state'),
    cache: path.join(root, 'cache'),
    out: path.join(root, 'out'),
    temporary: path.join(root, 'temporary'),
    harness: path.join(root, '.harness'),
  };
  for (const folder of Object.values(folders)) await mkdir(folder);
  if (user !== undefined) {
    await giveTo(root, user);
  }
  return { root, ...folders, user };
}

/** The user "nobody" if the tests run as root; another user is unprivileged already. */
function unprivilegedUser(): typeof NOBODY | undefined {
  if (process.getuid?.() !== 0) {
    return undefined;
  }
  const script = 'require("node:fs").accessSync(process.argv[1])';
  const { status } = spawnSync(process.execPath, ['-e', script, import.meta.filename], NOBODY);
  return status === 0 ? NOBODY : skipWithout('access for an unprivileged user');
}

async function giveTo(folder: string, user: { uid: number; gid: number }): Promise<void> {
  await chown(folder, user.uid, user.gid);
  for (const name of await readdir(folder)) {
    await chown(path.join(folder, name), user.uid, user.gid);
  }
}

/** Removes what a test left, folders that it made read-only included. */
async function removeTree(root: string): Promise<void> {
  try {
    await rm(root, { recursive: true, force: true });
  } catch {
    await makeWritable(root);
    await rm(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) {
      await makeWritable(path.join(folder, entry.name));
    }
  }
}
