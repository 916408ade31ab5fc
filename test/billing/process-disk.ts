import path from 'node:path';
import type { FileHandle, FileSystem } from '../../src/system/file-system.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { Killed, makesFile } from '../harness/failing-files.ts';
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

const WRITES = new Set(['write', 'writev', 'appendFile', 'writeFile']);
const HANDLE_EFFECTS = new Set([...WRITES, 'read', 'sync', 'datasync', 'chmod', 'chown', 'stat']);

/** A dead process touches nothing, not even to tidy up; full folders take half a write, then none. */
export function processDisk({ process, full, dieAt }: ProcessDiskOptions): ProcessDisk {
  let effects = 0;
  let busy = 0;
  const cutShort = new Set<string>();
  const opened: { readonly handle: FileHandle; readonly file: string }[] = [];
  const isFull = (file: string): boolean => [...full].some((folder) => isWithin(file, folder));

  async function perform<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    effects += 1;
    if (effects === dieAt) process.die();
    if (!process.isAlive()) throw new Killed(name);
    busy += 1;
    try {
      return await work();
    } finally {
      busy -= 1;
    }
  }

  /** Half of it the first time, as Linux does when a disk fills up, then nothing. */
  async function writeToFull(
    handle: FileHandle,
    file: string,
    [given, , , position]: readonly unknown[],
  ): Promise<unknown> {
    const chunks: readonly unknown[] = Array.isArray(given) ? given : [given];
    const bytes = Buffer.concat(chunks.filter((chunk) => chunk instanceof Uint8Array));
    if (cutShort.has(file) || bytes.length < 2) throw noSpace('write');
    cutShort.add(file);
    const at = typeof position === 'number' ? position : undefined;
    return handle.write(bytes, 0, Math.floor(bytes.length / 2), at);
  }

  const handleOf = (handle: FileHandle, file: string): FileHandle =>
    new Proxy(handle, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property, target);
        if (typeof value !== 'function') return value;
        const name = String(property);
        if (name === 'close') return () => target.close();
        if (!HANDLE_EFFECTS.has(name)) return value.bind(target);
        return (...given: readonly unknown[]) =>
          perform<unknown>(name, async () => {
            const isLost = WRITES.has(name) && isFull(file);
            return isLost ? writeToFull(target, file, given) : Reflect.apply(value, target, given);
          });
      },
    });

  const files = new Proxy(systemFiles, {
    get(target, property: keyof FileSystem) {
      const operation = target[property];
      if (typeof operation !== 'function') return operation;
      return (...given: readonly unknown[]) =>
        perform<unknown>(property, async () => {
          const [file, flags] = given;
          const makes = property === 'open' && makesFile(flags);
          if (makes && isFull(String(file))) throw noSpace('open');
          const result: unknown = await Reflect.apply(operation, target, given);
          if (!isHandle(result)) return result;
          opened.push({ handle: result, file: String(file) });
          return handleOf(result, String(file));
        });
    },
  });
  return {
    files,
    busy: () => busy,
    open: () => opened.filter(({ handle }) => handle.fd !== -1).map(({ file }) => file),
  };
}

function isWithin(file: string, folder: string): boolean {
  return !path.relative(folder, file).startsWith('..');
}

function noSpace(name: string): Error {
  return Object.assign(new Error(`ENOSPC: no space left on device, ${name}`), { code: 'ENOSPC' });
}

function isHandle(value: unknown): value is FileHandle {
  return typeof value === 'object' && value !== null && 'fd' in value && 'sync' in value;
}
