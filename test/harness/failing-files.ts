import { constants } from 'node:fs';
import type { FileHandle, FileSystem } from '../../src/system/file-system.ts';
import { systemFiles } from '../../src/system/file-system.ts';

/** What happens at the k-th effect. */
export type Fault =
  /** It fails with this error, and the next ones work again. */
  | { readonly kind: 'error'; readonly code: string }
  /**
   * The disk fills up: a write is cut short and returns how much was written, as on Linux; from then on
   * every write and every new file fails with ENOSPC. Anything else fails once with ENOSPC.
   */
  | { readonly kind: 'full' }
  /** The process dies: neither this effect nor any later one happens. */
  | { readonly kind: 'kill' };

export interface FailingFiles {
  readonly files: FileSystem;
  /** Effects so far, in order, such as `open`, `write`, `rename`; those after a `kill` are not there. */
  readonly effects: readonly string[];
  /** The effect at which the fault struck, undefined when there were fewer. */
  readonly struck: string | undefined;
  /** Files that are open now. */
  readonly open: () => readonly string[];
  /** Counts an effect that is none of files, such as a request, which goes wrong in its turn. */
  effect(name: string): void;
}

/** A dead process's effects end in this; it has no `code`, as no system would say it. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/**
 * A file system whose `at`-th effect (from 1) goes wrong; operations on open files count too. Run a
 * scenario with 1, 2, 3, … until {@link FailingFiles.struck} stays undefined, and look at what is on
 * the disk every time: see {@link forEachEffect}.
 */
export function failingFiles(
  at: number,
  fault: Fault,
  base: FileSystem = systemFiles,
): FailingFiles {
  const effects: string[] = [];
  let struck: string | undefined;
  let isFull = false;

  /** Counts an effect; throws when it is not to happen. True when it is the write to be cut short. */
  function isShort(name: string): boolean {
    if (fault.kind === 'kill' && struck !== undefined) throw new Killed(name);
    effects.push(name);
    const writes = name === 'write' || name === 'create';
    if (isFull && writes) throw systemError('ENOSPC', name);
    if (effects.length !== at) return false;
    struck = name;
    if (fault.kind === 'kill') throw new Killed(name);
    if (fault.kind === 'error') throw systemError(fault.code, name);
    isFull = true;
    if (name === 'write') return true;
    throw systemError('ENOSPC', name);
  }

  const { files, open } = interceptFiles(base, async ({ given, handle, name, perform }) => {
    // A file that fails to close is closed nevertheless, and so is that of a dead process.
    const closed = name === 'close' ? await perform() : undefined;
    const mustBeShort = isShort(name);
    if (name === 'close') return closed;
    return mustBeShort && handle !== undefined ? writeHalf(handle, given) : perform();
  });
  return {
    files,
    effects,
    get struck() {
      return struck;
    },
    open,
    effect: (name) => void isShort(name),
  };
}

/** Something that a program does to a file. */
export interface FileEffect {
  /** Such as `open`, `create` for an `open` that makes a file, `rename`, and `write` for every write. */
  readonly name: string;
  readonly file: string;
  /** The open file, for an effect on one. */
  readonly handle: FileHandle | undefined;
  readonly given: readonly unknown[];
  readonly perform: () => Promise<unknown>;
}

/** Passes each effect on files through `around`. `open` lists the files that are open. */
export function interceptFiles(
  base: FileSystem,
  around: (effect: FileEffect) => Promise<unknown>,
): { readonly files: FileSystem; readonly open: () => readonly string[] } {
  const opened: { readonly handle: FileHandle; readonly file: string }[] = [];
  const files = new Proxy(base, {
    get(target, property: keyof FileSystem) {
      const operation = target[property];
      if (typeof operation !== 'function') return operation;
      return async (...given: readonly unknown[]) => {
        const file = String(given[0]);
        const name = property === 'open' && makesFile(given[1]) ? 'create' : property;
        const perform = async (): Promise<unknown> => Reflect.apply(operation, target, given);
        const result = await around({ name, file, handle: undefined, given, perform });
        if (!isHandle(result)) return result;
        opened.push({ handle: result, file });
        return interceptHandle(result, file, around);
      };
    },
  });
  const open = (): readonly string[] =>
    opened.filter(({ handle }) => handle.fd !== -1).map((one) => one.file);
  return { files, open };
}

/** Whether flags of `open` make a file that is not there. */
function makesFile(flags: unknown): boolean {
  return typeof flags === 'number'
    ? (flags & constants.O_CREAT) !== 0
    : typeof flags === 'string' && /[wax]/.test(flags);
}

/**
 * Runs a scenario once for each of its effects, that effect going wrong, and once with nothing going
 * wrong; a scenario that fails is no failure of the run. `check` looks at what is left each time.
 */
export async function forEachEffect<Simulation>(options: {
  readonly fault: Fault;
  readonly prepare: () => Promise<Simulation>;
  readonly scenario: (simulation: Simulation, files: FileSystem) => Promise<void>;
  readonly check: (simulation: Simulation, outcome: EffectOutcome) => Promise<void>;
}): Promise<readonly string[]> {
  for (let at = 1; ; at += 1) {
    const simulation = await options.prepare();
    const failing = failingFiles(at, options.fault);
    const error = await options.scenario(simulation, failing.files).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    await options.check(simulation, { at, struck: failing.struck, error, open: failing.open() });
    if (failing.struck === undefined) return failing.effects;
  }
}

export interface EffectOutcome {
  /** Which effect went wrong, and what it was; undefined in the last run, when none did. */
  readonly at: number;
  readonly struck: string | undefined;
  /** What the scenario threw. */
  readonly error: unknown;
  /** Files that the scenario left open. */
  readonly open: readonly string[];
}

const HANDLE_EFFECTS: Readonly<Record<string, string>> = {
  write: 'write',
  writev: 'write',
  appendFile: 'write',
  writeFile: 'write',
  read: 'read',
  sync: 'sync',
  datasync: 'sync',
  truncate: 'truncate',
  chmod: 'chmod',
  chown: 'chown',
  stat: 'stat',
  close: 'close',
};

function interceptHandle(
  handle: FileHandle,
  file: string,
  around: (effect: FileEffect) => Promise<unknown>,
): FileHandle {
  return new Proxy(handle, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      const name = HANDLE_EFFECTS[String(property)];
      if (name === undefined) return value.bind(target);
      return async (...given: readonly unknown[]) => {
        const perform = async (): Promise<unknown> => Reflect.apply(value, target, given);
        return around({ name, file, handle: target, given, perform });
      };
    },
  });
}

/** Writes the first half of what is given to `write`, as Linux does when a disk fills up. */
export async function writeHalf(
  handle: FileHandle,
  [given, , , position]: readonly unknown[],
): Promise<{ bytesWritten: number }> {
  const chunks: readonly unknown[] = Array.isArray(given) ? given : [given];
  const bytes = Buffer.concat(chunks.filter((chunk) => chunk instanceof Uint8Array));
  const at = typeof position === 'number' ? position : undefined;
  return handle.write(bytes, 0, Math.floor(bytes.length / 2), at);
}

function isHandle(value: unknown): value is FileHandle {
  return typeof value === 'object' && value !== null && 'fd' in value && 'sync' in value;
}

function systemError(code: string, effect: string): Error {
  return Object.assign(new Error(`${code}: injected, ${effect}`), { code, syscall: effect });
}
