/**
 * A program compiled for WASI preview 1. Its files are in memory; it has no environment, and its clock always shows 0.
 * Each instance can run the program once. Supports only the system calls that flite needs.
 */
export class WasiCommand {
  readonly #memory: WasiMemory;
  readonly #start: () => unknown;
  #args: readonly Uint8Array[] = [];
  #files = new Map<string, MemoryFile>();
  #onPrint: (text: string) => void = () => {};
  readonly #open = new Map<number, OpenFile>();
  #nextDescriptor = ROOT_DIRECTORY + 1;
  #output = '';

  constructor(module: WebAssembly.Module) {
    const { exports } = new WebAssembly.Instance(module, {
      wasi_snapshot_preview1: {
        ...this.#processCalls(),
        ...this.#directoryCalls(),
        ...this.#descriptorCalls(),
      },
    });
    const { memory, _start: start } = exports;
    if (!(memory instanceof WebAssembly.Memory) || typeof start !== 'function') {
      throw new TypeError('The WebAssembly module is not a WASI command.');
    }
    this.#memory = new WasiMemory(memory);
    this.#start = () => Reflect.apply(start, undefined, []);
  }

  /**
   * Runs the program to completion.
   * @param args name of the program, then its arguments
   * @param files the files that the program can read, by name; the program may change and add files
   * @param onPrint called synchronously with each part of stdout and stderr; a part is at most one line
   * @throws the WebAssembly error that ended the program
   */
  run(
    args: readonly string[],
    files: Map<string, MemoryFile>,
    onPrint: (text: string) => void,
  ): { readonly exitCode: number; readonly output: string } {
    this.#args = args.map((argument) => new TextEncoder().encode(`${argument}\0`));
    this.#files = files;
    this.#onPrint = onPrint;
    let exitCode = 0;
    try {
      this.#start();
    } catch (error) {
      if (!(error instanceof ProgramExit)) throw error;
      exitCode = error.exitCode;
    }
    return { exitCode, output: this.#output };
  }

  #processCalls() {
    return {
      args_sizes_get: (countPointer: number, sizePointer: number): number => {
        this.#memory.setUint32(countPointer, this.#args.length);
        this.#memory.setUint32(
          sizePointer,
          this.#args.reduce((size, argument) => size + argument.length, 0),
        );
        return OK;
      },
      args_get: (pointers: number, bytes: number): number => {
        let at = bytes;
        for (const [index, argument] of this.#args.entries()) {
          this.#memory.setUint32(pointers + index * 4, at);
          this.#memory.bytes(at, argument.length).set(argument);
          at += argument.length;
        }
        return OK;
      },
      // Always 0, so that the same text gives the same samples.
      clock_time_get: (_clock: number, _precision: bigint, pointer: number): number => {
        this.#memory.view.setBigUint64(pointer, 0n, true);
        return OK;
      },
      proc_exit: (exitCode: number): number => {
        throw new ProgramExit(exitCode);
      },
    };
  }

  #descriptorCalls() {
    return {
      fd_fdstat_get: (descriptor: number, pointer: number): number => {
        const type = this.#typeOf(descriptor);
        if (type === undefined) return BAD_DESCRIPTOR;
        this.#memory.bytes(pointer, 24).fill(0);
        this.#memory.view.setUint8(pointer, type);
        this.#memory.bytes(pointer + 8, 16).fill(0xff);
        if (type === CHARACTER_DEVICE) this.#memory.view.setUint8(pointer + 8, TERMINAL_RIGHTS);
        return OK;
      },
      fd_fdstat_set_flags: () => OK,
      fd_close: (descriptor: number) => (this.#open.delete(descriptor) ? OK : BAD_DESCRIPTOR),
      fd_read: (descriptor: number, buffers: number, count: number, pointer: number): number => {
        const opened = this.#open.get(descriptor);
        if (opened === undefined) return BAD_DESCRIPTOR;
        const before = opened.position;
        for (const buffer of this.#memory.buffers(buffers, count)) {
          const bytes = opened.file.contents.subarray(
            opened.position,
            opened.position + buffer.length,
          );
          buffer.set(bytes);
          opened.position += bytes.length;
        }
        this.#memory.setUint32(pointer, opened.position - before);
        return OK;
      },
      fd_write: (descriptor: number, buffers: number, count: number, pointer: number): number => {
        const opened = this.#open.get(descriptor);
        if (opened === undefined && descriptor >= ROOT_DIRECTORY) return BAD_DESCRIPTOR;
        let written = 0;
        for (const buffer of this.#memory.buffers(buffers, count)) {
          written += buffer.length;
          if (opened === undefined) {
            const text = new TextDecoder().decode(buffer);
            this.#onPrint(text);
            if (this.#output.length < OUTPUT_LIMIT) this.#output += text;
          } else {
            opened.file.write(opened.position, buffer);
            opened.position += buffer.length;
          }
        }
        this.#memory.setUint32(pointer, written);
        return OK;
      },
      fd_seek: (descriptor: number, offset: bigint, whence: number, pointer: number): number => {
        const opened = this.#open.get(descriptor);
        if (opened === undefined)
          return descriptor < ROOT_DIRECTORY ? NOT_SEEKABLE : BAD_DESCRIPTOR;
        const base = [0, opened.position, opened.file.contents.length][whence];
        const position = base === undefined ? -1 : base + Number(offset);
        if (position < 0) return INVALID;
        opened.position = position;
        this.#memory.view.setBigUint64(pointer, BigInt(position), true);
        return OK;
      },
    };
  }

  #typeOf(descriptor: number): number | undefined {
    if (descriptor < ROOT_DIRECTORY) return CHARACTER_DEVICE;
    if (descriptor === ROOT_DIRECTORY) return DIRECTORY;
    return this.#open.has(descriptor) ? REGULAR_FILE : undefined;
  }

  #directoryCalls() {
    return {
      fd_prestat_get: (descriptor: number, pointer: number): number => {
        if (descriptor !== ROOT_DIRECTORY) return BAD_DESCRIPTOR;
        this.#memory.setUint32(pointer, 0);
        this.#memory.setUint32(pointer + 4, ROOT_NAME.length);
        return OK;
      },
      fd_prestat_dir_name: (descriptor: number, pointer: number, length: number): number => {
        if (descriptor !== ROOT_DIRECTORY) return BAD_DESCRIPTOR;
        this.#memory.bytes(pointer, length).set(ROOT_NAME.subarray(0, length));
        return OK;
      },
      path_open: (
        _directory: number,
        _lookup: number,
        path: number,
        pathLength: number,
        flags: number,
        _rights: bigint,
        _inheritedRights: bigint,
        _descriptorFlags: number,
        pointer: number,
      ): number => {
        const name = new TextDecoder().decode(this.#memory.bytes(path, pathLength));
        const file =
          this.#files.get(name) ?? ((flags & CREATE) === 0 ? undefined : new MemoryFile());
        if (file === undefined) return NO_SUCH_FILE;
        if ((flags & TRUNCATE) !== 0) file.truncate();
        this.#files.set(name, file);
        this.#open.set(this.#nextDescriptor, { file, position: 0 });
        this.#memory.setUint32(pointer, this.#nextDescriptor);
        this.#nextDescriptor += 1;
        return OK;
      },
    };
  }
}

interface OpenFile {
  readonly file: MemoryFile;
  position: number;
}

class ProgramExit extends Error {
  override readonly name = 'ProgramExit';
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`The program ended with exit code ${exitCode}.`);
    this.exitCode = exitCode;
  }
}

const OK = 0;
const BAD_DESCRIPTOR = 8;
const INVALID = 28;
const NO_SUCH_FILE = 44;
const NOT_SEEKABLE = 70;

const CHARACTER_DEVICE = 2;
const DIRECTORY = 3;
const REGULAR_FILE = 4;

// All rights but `fd_seek` and `fd_tell`: without these two, flite's C library takes its output for a terminal and
// writes line by line.
const TERMINAL_RIGHTS = 0xff & ~0b10_0100;

const CREATE = 1;
const TRUNCATE = 8;

const ROOT_DIRECTORY = 3;
const ROOT_NAME = new TextEncoder().encode('/');

const OUTPUT_LIMIT = 2_000;

class WasiMemory {
  readonly #memory: WebAssembly.Memory;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
  }

  get view(): DataView {
    // The buffer is replaced whenever the memory grows.
    return new DataView(this.#memory.buffer);
  }

  bytes(pointer: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, pointer, length);
  }

  setUint32(pointer: number, value: number): void {
    this.view.setUint32(pointer, value, true);
  }

  *buffers(pointer: number, count: number): Generator<Uint8Array> {
    for (let index = 0; index < count; index += 1) {
      const { view } = this;
      const at = pointer + index * 8;
      yield this.bytes(view.getUint32(at, true), view.getUint32(at + 4, true));
    }
  }
}

const FIRST_CAPACITY = 64 * 1024;

/** A file in memory, which a WASI program can read and write. */
export class MemoryFile {
  #bytes: Uint8Array;
  #length: number;

  constructor(contents: Uint8Array = new Uint8Array(0)) {
    this.#bytes = contents;
    this.#length = contents.length;
  }

  /** The contents, as a view that is valid until the next write. */
  get contents(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Writes at `position`; fills a gap before `position` with zeros. */
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
