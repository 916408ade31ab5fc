import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import type { FileSystem } from '../effects/file-system.ts';
import type { Processes } from '../effects/processes.ts';
import { hasErrno } from './errno.ts';
import { randomHex } from './file-deps.ts';
import type { FileDeps } from './file-deps.ts';

/**
 * A new, empty file in `folder` under a name that nothing else has: short, so that a final name of
 * any allowed length fits beside it, random, so that nobody can have put something there, and with its
 * owner in it where that is known.
 */
export async function createTemporary(
  folder: string,
  deps: Pick<FileDeps, 'files' | 'processes' | 'random'>,
  mode = 0o666,
): Promise<{ readonly path: string; readonly file: FileHandle }> {
  const owner = deps.processes === undefined ? '' : `${ownerMark(deps.processes)}-`;
  for (let turn = 1; ; turn += 1) {
    const name = path.join(folder, `.foley-${owner}${randomHex(deps, 12)}.part`);
    try {
      return { path: name, file: await deps.files.open(name, 'wx', mode) };
    } catch (error) {
      if (turn === 3 || !hasErrno(error, 'EEXIST')) throw error;
    }
  }
}

/** Whether a file name is one that {@link createTemporary} makes. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY_NAME.test(name);
}

/**
 * The temporary files in a folder whose owner is certainly dead; those of another machine or container are
 * not. Never throws.
 */
export async function orphanedTemporaries(
  folder: string,
  { files, processes }: { readonly files: FileSystem; readonly processes: Processes },
): Promise<readonly string[]> {
  const names = await files.readdir(folder).catch((): string[] => []);
  return names.filter((name) => isOrphaned(name, processes)).map((name) => path.join(folder, name));
}

const TEMPORARY_NAME = /^\.foley-(?:([0-9a-f]{8})-(\d+)-(\d+)-)?[0-9a-f]{24}\.part$/;

/** The machine since its last start, the process, and when that began. */
function ownerMark({ self }: Processes): string {
  return `${machineMark(self)}-${self.pid}-${self.processStart ?? 0}`;
}

function machineMark({ bootId = '', host, pidNamespace = '' }: Processes['self']): string {
  return crc32(`${host}\n${bootId}\n${pidNamespace}`).toString(16).padStart(8, '0');
}

function isOrphaned(name: string, processes: Processes): boolean {
  const { self } = processes;
  const [, machine, pid, start] = TEMPORARY_NAME.exec(name) ?? [];
  if (machine !== machineMark(self) || pid === undefined) return false;
  const processStart = start === '0' ? undefined : start;
  return processes.liveness({ ...self, pid: Number(pid), processStart }) === 'dead';
}
