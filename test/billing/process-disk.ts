import path from 'node:path';
import type { FileSystem } from '../../src/system/file-system.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { interceptFiles, Killed, writeHalf } from '../harness/failing-files.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** The disk as one process meets it. */
export interface ProcessDisk {
  readonly files: FileSystem;
  /** Operations that are under way. */
  readonly busy: () => number;
  /** Files that it holds open. */
  readonly open: () => readonly string[];
}

export interface ProcessDiskOptions {
  readonly process: SimulatedProcess;
  /** Folders whose disk is full now: what is written or made there fails. */
  readonly full: ReadonlySet<string>;
  /** The process dies at its effect of this number, from 1. */
  readonly dieAt?: number | undefined;
}

/** A dead process touches nothing, not even to tidy up; full folders take half a write, then none. */
export function processDisk({ process, full, dieAt }: ProcessDiskOptions): ProcessDisk {
  let effects = 0;
  let busy = 0;
  const cutShort = new Set<string>();
  const isFull = (file: string): boolean => [...full].some((folder) => isWithin(file, folder));
  const { files, open } = interceptFiles(
    systemFiles,
    async ({ file, given, handle, name, perform }) => {
      if (name === 'close') return perform();
      effects += 1;
      if (effects === dieAt) process.die();
      if (!process.isAlive()) throw new Killed(name);
      busy += 1;
      try {
        if (name === 'create' && isFull(file)) throw noSpace(name);
        if (name !== 'write' || handle === undefined || !isFull(file)) return await perform();
        // Half of it the first time, as Linux does when a disk fills up, then nothing.
        if (cutShort.has(file)) throw noSpace(name);
        cutShort.add(file);
        return await writeHalf(handle, given);
      } finally {
        busy -= 1;
      }
    },
  );
  return { files, open, busy: () => busy };
}

function isWithin(file: string, folder: string): boolean {
  return !path.relative(folder, file).startsWith('..');
}

function noSpace(name: string): Error {
  return Object.assign(new Error(`ENOSPC: no space left on device, ${name}`), { code: 'ENOSPC' });
}
