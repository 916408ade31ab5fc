import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readLock } from '../durable/lock.ts';
import { systemFiles } from '../effects/file-system.ts';
import type { Processes } from '../effects/processes.ts';
import { systemProcesses } from '../effects/processes.ts';

const PREFIX = 'foley-ephemeral-';
const OWNER_FILE = 'owner.lock';

/**
 * Creates a private temporary folder for the data of a service. Removes the folders of processes that ended without
 * closing their services.
 */
export async function createTemporaryFolder(): Promise<string> {
  const processes = systemProcesses();
  await removeOrphans(processes);
  const folder = await mkdtemp(path.join(tmpdir(), PREFIX));
  const owner = JSON.stringify({ owner: processes.self });
  await writeFile(path.join(folder, OWNER_FILE), owner, { mode: 0o600 });
  return folder;
}

/** Removes a temporary folder. */
export function removeTemporaryFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

async function removeOrphans(processes: Processes): Promise<void> {
  const names = await readdir(tmpdir()).catch((): string[] => []);
  for (const name of names.filter((one) => one.startsWith(PREFIX))) {
    const folder = path.join(tmpdir(), name);
    // Folders of other users cannot be read.
    const held = await readLock(path.join(folder, OWNER_FILE), { files: systemFiles }).catch(
      () => undefined,
    );
    const isOrphan = held?.owner !== undefined && processes.liveness(held.owner) === 'dead';
    if (isOrphan) await removeTemporaryFolder(folder).catch(() => undefined);
  }
}
