import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { findOnPath } from './require-tool.ts';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));

/**
 * Installs the packages that a requirements file pins, once for each version of that file. Test files that run at the
 * same time and need the same packages wait for the first.
 * @returns the folder of the programs
 */
export async function installPythonTools(requirements: string): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  const folder = path.join(CACHE, `python-${digest.slice(0, 16)}`);
  const bin = path.join(folder, process.platform === 'win32' ? 'Scripts' : 'bin');
  const whole = path.join(folder, 'is-complete');
  const python = findOnPath('python3') ?? findOnPath('python');
  if (python === undefined) {
    throw new Error('npm run check needs Python 3.10 or newer with venv; python3 is not on PATH.');
  }
  await mkdir(CACHE, { recursive: true });
  const lock = `${folder}.lock`;
  while (!existsSync(whole)) {
    if (!(await takeLock(lock))) {
      await delay(500);
      continue;
    }
    try {
      if (existsSync(whole)) break;
      await rm(folder, { recursive: true, force: true });
      await execa(python, ['-m', 'venv', folder]);
      const pip = ['-m', 'pip', 'install', '--quiet', '-r', requirements];
      await execa(path.join(bin, 'python'), pip);
      await writeFile(whole, '');
    } finally {
      await rm(lock, { force: true });
    }
  }
  return bin;
}

/** Takes the lock if no other process has it, or if that process has ended. */
async function takeLock(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    const owner = Number(await readFile(lock, 'utf8').catch(() => ''));
    if (owner > 0 && !isAlive(owner)) await rm(lock, { force: true });
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
