import type { Readable, Writable } from 'node:stream';
import { Failure } from '../errors/failure.ts';
import { reasonOf } from '../files/errno-reasons.ts';

/** A stream that may be a terminal, as Node's own standard streams are. */
export type Input = Readable & {
  readonly isTTY?: boolean;
  /** Of a terminal: without echo, and every key at once. */
  readonly setRawMode?: (on: boolean) => unknown;
};
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export interface Streams {
  /** A function, since the mere touch of `process.stdin` opens it. */
  readonly stdin: () => Input;
  readonly stdout: Output;
  readonly stderr: Output;
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
