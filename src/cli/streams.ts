import { fstatSync, readSync, statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { Failure } from '../errors/failure.ts';
import { reasonOf } from '../files/errno-reasons.ts';

/** A stream that may be a terminal, as Node's own standard streams are. */
export type Input = Readable & {
  readonly isTTY?: boolean;
  /** Of a terminal: without echo, and every key at once. */
  readonly setRawMode?: (on: boolean) => unknown;
};
export type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

export interface Streams {
  /** A function, since the mere touch of `process.stdin` opens it. */
  readonly stdin: () => Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Whether stdout was closed when the program began, so that what is written to it is gone. */
  readonly stdoutIsClosed: () => boolean;
}

/** The width of a terminal that does not know its own, as one of `script` or of a serial line: it says 0. */
const DEFAULT_COLUMNS = 80;

/**
 * Prepares the output streams for use: one without an error listener ends the process with a stack, and a
 * terminal that says it has no columns makes libraries count its lines for ever. Writes to stdout report
 * their errors through their callbacks; a stderr that nobody reads must not end the work.
 */
export function prepareOutputs({ stderr, stdout }: Pick<Streams, 'stderr' | 'stdout'>): void {
  for (const stream of [stdout, stderr]) {
    stream.on('error', () => {});
    if (stream.isTTY === true) mendWidth(stream);
  }
}

/** The only place that decides how wide a terminal is. Node assigns the width anew at each resize. */
function mendWidth(stream: Output): void {
  let columns = stream.columns ?? 0;
  Object.defineProperty(stream, 'columns', {
    configurable: true,
    enumerable: true,
    get: () => (columns > 0 ? columns : DEFAULT_COLUMNS),
    set: (latest: number) => {
      columns = latest;
    },
  });
}

/** The reader of stdout went away (`| head`): the run ends quietly with 0 (contract, section 3). */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone';
}

/**
 * Writes one chunk to stdout and waits until it was taken, so that a slow reader slows the writer.
 * @throws ReaderGone when the other end was closed; Failure (output) when it cannot be written
 */
export function write(stdout: Writable, chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(chunk, (error) => {
      if (error === null || error === undefined) resolve();
      else reject(isBrokenPipe(error) ? new ReaderGone('nobody reads stdout') : unwritable(error));
    });
  });
}

/**
 * Whether a standard stream was closed by whoever started the program. Node puts the null device in its
 * place, open for reading too; `> /dev/null` opens it for writing alone.
 */
export function wasClosed(fd: number): boolean {
  try {
    if (fstatSync(fd).rdev !== statSync('/dev/null').rdev) return false;
    readSync(fd, Buffer.alloc(1));
    return true;
  } catch {
    return false;
  }
}

/** What is paid for cannot go to a closed stdout. */
export function closedStdout(): Failure {
  return new Failure('stdout is closed: what is written there is gone', {
    code: 'output',
    exit: 'output',
    hint: 'Name a file with -o, or write `> /dev/null` to throw it away. Nothing was sent.',
  });
}

function isBrokenPipe(error: Error): boolean {
  return 'code' in error && error.code === 'EPIPE';
}

function unwritable(error: Error): Failure {
  return new Failure(`cannot write to stdout: ${reasonOf(error, '.')}`, {
    code: 'output',
    exit: 'output',
    hint: 'Send it elsewhere, or mend what stdout leads to.',
    cause: error,
  });
}
