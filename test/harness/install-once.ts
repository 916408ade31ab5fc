import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));

/**
 * Installs a tool into a folder of its own, once. Test files that run at the same time and need the same tool wait for
 * the first.
 * @param name name of the folder, which changes with the version of the tool
 * @param install fills the folder, which is empty
 * @returns the folder
 */
export async function installOnce(
  name: string,
  install: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = path.join(CACHE, name);
  const whole = path.join(folder, 'is-complete');
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
      await mkdir(folder);
      await install(folder);
      await writeFile(whole, '');
    } finally {
      await rm(lock, { force: true });
    }
  }
  return folder;
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
