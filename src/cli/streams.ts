import type { Readable, Writable } from 'node:stream';

/** A stream that may be a terminal, as Node's own standard streams are. */
export type Input = Readable & { readonly isTTY?: boolean; readonly fd?: number };
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

export function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

/**
 * Writes one chunk and waits until the stream has taken it, so that a slow reader slows the writer.
 * @throws ReaderGone when the other end was closed; else the stream's own error
 */
export function write(stream: Writable, chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => {
      if (error === null || error === undefined) resolve();
      else reject(isBrokenPipe(error) ? new ReaderGone('the reader of stdout went away') : error);
    });
  });
}
