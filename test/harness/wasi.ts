/**
 * Runs a program compiled for WASI preview 1 to its end. It has no environment, its clock always shows 0, and only the
 * system calls that flite needs. (The `node:wasi` of Node 20 sometimes crashes with a segmentation fault.)
 * @param files the files in memory, by name; the program may change and add files
 * @returns the exit code, and what the program printed
 */
export function runWasi(
  module: WebAssembly.Module,
  args: readonly string[],
  files: Map<string, Buffer>,
): { readonly exitCode: number; readonly printed: string } {
  let printed = '';
  const open = new Map<number, { readonly name: string; position: number }>();
  const argv = args.map((argument) => Buffer.from(`${argument}\0`));
  // The buffer of the memory is replaced whenever the memory grows.
  const bytes = (at: number, length: number) => {
    if (!(memory instanceof WebAssembly.Memory)) throw new TypeError('The program has no memory.');
    return Buffer.from(memory.buffer, at, length);
  };
  const read = (at: number) => bytes(at, 4).readUInt32LE();
  const write = (at: number, value: number): number => {
    bytes(at, 4).writeUInt32LE(value);
    return OK;
  };
  const buffersOf = (at: number, count: number) =>
    Array.from({ length: count }, (_, index) => at + index * 8).map((buffer) =>
      bytes(read(buffer), read(buffer + 4)),
    );
  const calls = {
    args_sizes_get: (count: number, size: number) =>
      write(count, argv.length) || write(size, Buffer.concat(argv).length),
    args_get(pointers: number, at: number) {
      Buffer.concat(argv).copy(bytes(at, Buffer.concat(argv).length));
      let end = at;
      for (const [index, { length }] of argv.entries()) {
        write(pointers + index * 4, end);
        end += length;
      }
      return OK;
    },
    clock_time_get: (_clock: number, _precision: bigint, at: number) =>
      write(at, 0) || write(at + 4, 0),
    proc_exit(exitCode: number) {
      throw new ProgramExit(exitCode);
    },
    fd_fdstat_get(descriptor: number, at: number) {
      if (descriptor > ROOT && !open.has(descriptor)) return BAD_DESCRIPTOR;
      bytes(at, 24).fill(0xff).fill(0, 0, 8);
      bytes(at, 1)[0] = descriptor < ROOT ? TERMINAL : descriptor === ROOT ? FOLDER : FILE;
      return OK;
    },
    fd_fdstat_set_flags: () => OK,
    fd_close: (descriptor: number) => (open.delete(descriptor) ? OK : BAD_DESCRIPTOR),
    fd_read(descriptor: number, buffers: number, count: number, at: number) {
      const opened = open.get(descriptor);
      if (opened === undefined) return BAD_DESCRIPTOR;
      const before = opened.position;
      for (const buffer of buffersOf(buffers, count)) {
        opened.position += files.get(opened.name)?.copy(buffer, 0, opened.position) ?? 0;
      }
      return write(at, opened.position - before);
    },
    fd_write(descriptor: number, buffers: number, count: number, at: number) {
      const data = Buffer.concat(buffersOf(buffers, count));
      const opened = open.get(descriptor);
      if (opened === undefined) printed += data.toString();
      else {
        const file = files.get(opened.name) ?? NOTHING;
        const end = opened.position + data.length;
        const parts = [file.subarray(0, opened.position), data, file.subarray(end)];
        files.set(opened.name, Buffer.concat(parts));
        opened.position = end;
      }
      return write(at, data.length);
    },
    fd_seek(descriptor: number, offset: bigint, whence: number, at: number) {
      const opened = open.get(descriptor);
      if (opened === undefined) return NOT_SEEKABLE;
      const length = files.get(opened.name)?.length ?? 0;
      opened.position = ([0, opened.position, length][whence] ?? 0) + Number(offset);
      return write(at, opened.position) || write(at + 4, 0);
    },
    fd_prestat_get: (descriptor: number, at: number) =>
      descriptor === ROOT ? write(at, 0) || write(at + 4, 1) : BAD_DESCRIPTOR,
    fd_prestat_dir_name: (_descriptor: number, at: number) => bytes(at, 1).write('/') - 1,
    path_open(...[, , path, length, flags, , , , at]: readonly number[]) {
      const name = bytes(path ?? 0, length ?? 0).toString();
      if ((flags ?? 0) !== 0) files.set(name, NOTHING);
      if (!files.has(name)) return NO_SUCH_FILE;
      const descriptor = ROOT + 1 + open.size;
      open.set(descriptor, { name, position: 0 });
      return write(at ?? 0, descriptor);
    },
  };
  const { exports } = new WebAssembly.Instance(module, { wasi_snapshot_preview1: calls });
  const { memory, _start: start } = exports;
  if (typeof start !== 'function') throw new TypeError('The module is not a WASI command.');
  try {
    Reflect.apply(start, undefined, []);
  } catch (error) {
    if (!(error instanceof ProgramExit)) throw error;
    return { exitCode: error.exitCode, printed };
  }
  return { exitCode: 0, printed };
}

class ProgramExit extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`The program ended with exit code ${exitCode}.`);
    this.exitCode = exitCode;
  }
}

const NOTHING = Buffer.alloc(0);
const [OK, BAD_DESCRIPTOR, NO_SUCH_FILE, NOT_SEEKABLE] = [0, 8, 44, 70];
const [TERMINAL, FOLDER, FILE] = [2, 3, 4];
/** The descriptor of the folder of the files. */
const ROOT = 3;
