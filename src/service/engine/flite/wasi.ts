/** A program that can be run once, as it keeps state in its memory. */
export interface WasiCommand {
  /**
   * Runs the program to its end.
   * @param args the first is the name of the program
   * @param files its file system, which it may change
   * @param onPrint called with a line or a part of one while the program waits
   * @throws a trap of the program
   */
  run(
    args: readonly string[],
    files: Map<string, MemoryFile>,
    onPrint: (text: string) => void,
  ): { readonly exitCode: number; readonly output: string };
}

/**
 * Prepares a command compiled for WASI preview 1, which has in-memory files, no environment and no clock. Implements
 * only the calls that flite makes; a module that imports others is refused.
 */
export function prepareWasiCommand(module: WebAssembly.Module): WasiCommand {
  const state: WasiState = {
    args: [],
    files: new Map(),
    open: new Map(),
    nextDescriptor: ROOT_DIRECTORY + 1,
    output: '',
    onPrint: () => {},
  };
  const memory = new WasiMemory();
  const instance = new WebAssembly.Instance(module, {
    wasi_snapshot_preview1: {
      ...processCalls(memory, state),
      ...directoryCalls(memory, state),
      ...descriptorCalls(memory, state),
    },
  });
  const { memory: exported, _start: start } = instance.exports;
  if (!(exported instanceof WebAssembly.Memory) || typeof start !== 'function') {
    throw new TypeError('The WebAssembly module is not a WASI command.');
  }
  memory.attach(exported);
  return {
    run(args, files, onPrint) {
      state.args = args.map((argument) => new TextEncoder().encode(`${argument}\0`));
      state.files = files;
      state.onPrint = onPrint;
      let exitCode = 0;
      try {
        Reflect.apply(start, undefined, []);
      } catch (error) {
        if (!(error instanceof ProgramExit)) throw error;
        exitCode = error.exitCode;
      }
      return { exitCode, output: state.output };
    },
  };
}

/** The state of a running program. */
interface WasiState {
  /** Zero-terminated. */
  args: readonly Uint8Array[];
  files: Map<string, MemoryFile>;
  readonly open: Map<number, OpenFile>;
  nextDescriptor: number;
  /** The beginning of what it printed to stdout and stderr. */
  output: string;
  onPrint: (text: string) => void;
}

interface OpenFile {
  readonly file: MemoryFile;
  position: number;
}

/** Thrown by `proc_exit`, which must not return. */
class ProgramExit extends Error {
  override readonly name = 'ProgramExit';
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`The program ended with exit code ${exitCode}.`);
    this.exitCode = exitCode;
  }
}

/** Error numbers. */
const OK = 0;
const BAD_DESCRIPTOR = 8;
const INVALID = 28;
const NO_SUCH_FILE = 44;
const NOT_SEEKABLE = 70;

/** File types. */
const CHARACTER_DEVICE = 2;
const DIRECTORY = 3;
const REGULAR_FILE = 4;

/** All rights but `fd_seek` and `fd_tell`: a descriptor that has those is buffered in blocks. */
const TERMINAL_RIGHTS = 0xff & ~0b10_0100;

/** Flags of `path_open`. */
const CREATE = 1;
const TRUNCATE = 8;

/** The standard streams are 0, 1 and 2; the only directory comes after them. */
const ROOT_DIRECTORY = 3;
const ROOT_NAME = new TextEncoder().encode('/');

const OUTPUT_LIMIT = 2_000;

function processCalls(memory: WasiMemory, state: WasiState) {
  return {
    args_sizes_get(countPointer: number, sizePointer: number): number {
      memory.setUint32(countPointer, state.args.length);
      memory.setUint32(
        sizePointer,
        state.args.reduce((size, argument) => size + argument.length, 0),
      );
      return OK;
    },
    args_get(pointers: number, bytes: number): number {
      let at = bytes;
      for (const [index, argument] of state.args.entries()) {
        memory.setUint32(pointers + index * 4, at);
        memory.bytes(at, argument.length).set(argument);
        at += argument.length;
      }
      return OK;
    },
    /** Always 0, so that the same text gives the same samples. */
    clock_time_get(_clock: number, _precision: bigint, pointer: number): number {
      memory.setUint64(pointer, 0n);
      return OK;
    },
    proc_exit(exitCode: number): number {
      throw new ProgramExit(exitCode);
    },
  };
}

function descriptorCalls(memory: WasiMemory, state: WasiState) {
  return {
    fd_fdstat_get(descriptor: number, pointer: number): number {
      const type = typeOf(descriptor, state);
      if (type === undefined) return BAD_DESCRIPTOR;
      memory.bytes(pointer, 24).fill(0);
      memory.setByte(pointer, type);
      memory.bytes(pointer + 8, 16).fill(0xff);
      if (type === CHARACTER_DEVICE) memory.setByte(pointer + 8, TERMINAL_RIGHTS);
      return OK;
    },
    fd_fdstat_set_flags: () => OK,
    fd_close: (descriptor: number) => (state.open.delete(descriptor) ? OK : BAD_DESCRIPTOR),
    fd_read(descriptor: number, buffers: number, count: number, pointer: number): number {
      const opened = state.open.get(descriptor);
      if (opened === undefined) return BAD_DESCRIPTOR;
      const before = opened.position;
      for (const buffer of memory.buffers(buffers, count)) {
        const bytes = opened.file.contents.subarray(
          opened.position,
          opened.position + buffer.length,
        );
        buffer.set(bytes);
        opened.position += bytes.length;
      }
      memory.setUint32(pointer, opened.position - before);
      return OK;
    },
    fd_write(descriptor: number, buffers: number, count: number, pointer: number): number {
      const opened = state.open.get(descriptor);
      if (opened === undefined && descriptor >= ROOT_DIRECTORY) return BAD_DESCRIPTOR;
      let written = 0;
      for (const buffer of memory.buffers(buffers, count)) {
        written += buffer.length;
        if (opened === undefined) {
          const text = new TextDecoder().decode(buffer);
          state.onPrint(text);
          if (state.output.length < OUTPUT_LIMIT) state.output += text;
        } else {
          opened.file.write(opened.position, buffer);
          opened.position += buffer.length;
        }
      }
      memory.setUint32(pointer, written);
      return OK;
    },
    fd_seek(descriptor: number, offset: bigint, whence: number, pointer: number): number {
      const opened = state.open.get(descriptor);
      if (opened === undefined) return descriptor < ROOT_DIRECTORY ? NOT_SEEKABLE : BAD_DESCRIPTOR;
      const base = [0, opened.position, opened.file.length][whence];
      const position = base === undefined ? -1 : base + Number(offset);
      if (position < 0) return INVALID;
      opened.position = position;
      memory.setUint64(pointer, BigInt(position));
      return OK;
    },
  };
}

function typeOf(descriptor: number, state: WasiState): number | undefined {
  if (descriptor < ROOT_DIRECTORY) return CHARACTER_DEVICE;
  if (descriptor === ROOT_DIRECTORY) return DIRECTORY;
  return state.open.has(descriptor) ? REGULAR_FILE : undefined;
}

function directoryCalls(memory: WasiMemory, state: WasiState) {
  return {
    fd_prestat_get(descriptor: number, pointer: number): number {
      if (descriptor !== ROOT_DIRECTORY) return BAD_DESCRIPTOR;
      memory.setUint32(pointer, 0);
      memory.setUint32(pointer + 4, ROOT_NAME.length);
      return OK;
    },
    fd_prestat_dir_name(descriptor: number, pointer: number, length: number): number {
      if (descriptor !== ROOT_DIRECTORY) return BAD_DESCRIPTOR;
      memory.bytes(pointer, length).set(ROOT_NAME.subarray(0, length));
      return OK;
    },
    path_open(
      _directory: number,
      _lookup: number,
      path: number,
      pathLength: number,
      flags: number,
      _rights: bigint,
      _inheritedRights: bigint,
      _descriptorFlags: number,
      pointer: number,
    ): number {
      const name = memory.text(path, pathLength);
      const file = state.files.get(name) ?? ((flags & CREATE) === 0 ? undefined : new MemoryFile());
      if (file === undefined) return NO_SUCH_FILE;
      if ((flags & TRUNCATE) !== 0) file.truncate();
      state.files.set(name, file);
      state.open.set(state.nextDescriptor, { file, position: 0 });
      memory.setUint32(pointer, state.nextDescriptor);
      state.nextDescriptor += 1;
      return OK;
    },
  };
}

/** The linear memory of a WASI program, with the types of its system calls. */
class WasiMemory {
  #memory: WebAssembly.Memory | undefined;

  /** Sets the memory, which belongs to the instance and so exists only after its imports. */
  attach(memory: WebAssembly.Memory): void {
    this.#memory = memory;
  }

  /** Returns a fresh view, as the buffer is replaced whenever the memory grows. */
  bytes(pointer: number, length: number): Uint8Array {
    return new Uint8Array(this.#buffer(), pointer, length);
  }

  setByte(pointer: number, value: number): void {
    this.#view().setUint8(pointer, value);
  }

  setUint32(pointer: number, value: number): void {
    this.#view().setUint32(pointer, value, true);
  }

  setUint64(pointer: number, value: bigint): void {
    this.#view().setBigUint64(pointer, value, true);
  }

  text(pointer: number, length: number): string {
    return new TextDecoder().decode(this.bytes(pointer, length));
  }

  /** Yields the buffers of an array of `count` (pointer, length) pairs. */
  *buffers(pointer: number, count: number): Generator<Uint8Array> {
    for (let index = 0; index < count; index += 1) {
      const view = this.#view();
      const at = pointer + index * 8;
      yield this.bytes(view.getUint32(at, true), view.getUint32(at + 4, true));
    }
  }

  #view(): DataView {
    return new DataView(this.#buffer());
  }

  #buffer(): ArrayBuffer {
    if (this.#memory === undefined) throw new TypeError('The program has no memory yet.');
    return this.#memory.buffer;
  }
}

const FIRST_CAPACITY = 64 * 1024;

/** A file in memory. */
export class MemoryFile {
  #bytes: Uint8Array;
  #length: number;

  constructor(contents: Uint8Array = new Uint8Array(0)) {
    this.#bytes = contents;
    this.#length = contents.length;
  }

  get length(): number {
    return this.#length;
  }

  /** A view that is valid until the next write. */
  get contents(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Writes at `position`, and fills a gap before it with zeros. */
  write(position: number, bytes: Uint8Array): void {
    const end = position + bytes.length;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end, 2 * this.#bytes.length, FIRST_CAPACITY));
      grown.set(this.contents);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, position);
    this.#length = Math.max(this.#length, end);
  }

  truncate(): void {
    this.#length = 0;
  }
}
