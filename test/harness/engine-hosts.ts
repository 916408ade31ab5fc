import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Sandbox } from './sandbox.ts';

/** The folder with the sockets and locks of the engine hosts that the commands of a sandbox started. */
export function hostFolder({ state }: Sandbox): string {
  return path.join(state, 'foley/run');
}

/** Returns the process ids of these engine hosts. */
export async function hostPids(sandbox: Sandbox): Promise<number[]> {
  const names = await readdir(hostFolder(sandbox)).catch((): string[] => []);
  const locks = names.filter((name) => name.endsWith('.lock'));
  const owners = locks.map(async (name) => {
    const { owner } = JSON.parse(await readFile(path.join(hostFolder(sandbox), name), 'utf8'));
    return Number(owner.pid);
  });
  return Promise.all(owners);
}
