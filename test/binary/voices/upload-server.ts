import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { canaryKey } from '../../harness/canary.ts';
import { listen } from '../../harness/listen.ts';
import { Watch } from '../../harness/watch.ts';

/** One request whose body is read only as far as the test wants. */
export interface Upload {
  /** From 1. */
  readonly attempt: number;
  readonly socket: Socket;
  readonly head: string;
  /** Bytes of the body that were read. */
  readonly received: number;
  /** Reads the rest; resolves when all of the body is there. */
  readRest(): Promise<void>;
  /** Writes an answer with a body of JSON. */
  answer(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void;
}

export interface UploadServer {
  readonly env: Readonly<Record<string, string>>;
  /** Every request so far. */
  readonly uploads: readonly Upload[];
  /** Resolves with the nth request (from 1) when so much of its body was read as was to be. */
  reached(attempt?: number): Promise<Upload>;
}

/**
 * A server that reads `bytes` of the body of each request that has one and then lets `behave` go on, until the test
 * ends; nothing more is read before that asks for it.
 */
export async function startUploadServer(
  bytes: number,
  behave: (upload: Upload) => unknown = () => undefined,
): Promise<UploadServer> {
  const uploads: Upload[] = [];
  const watch = new Watch();
  let attempts = 0;
  const server = createServer((socket) => {
    attempts += 1;
    const attempt = attempts;
    void (async () => {
      const upload = await readUpload(socket, bytes, attempt);
      uploads.push(upload);
      watch.changed();
      behave(upload);
    })();
  });
  return {
    env: { FOLEY_BASE_URL: await listen(server), FOLEY_API_KEY: canaryKey() },
    uploads,
    reached: (attempt = 1) => watch.until(() => uploads[attempt - 1]),
  };
}

/** Resolves when the head and so many bytes of the body are there; then nothing more is read. */
async function readUpload(socket: Socket, bytes: number, attempt: number): Promise<Upload> {
  let data = Buffer.alloc(0);
  let headEnd = -1;
  await new Promise<void>((resolve) => {
    const take = (chunk: Buffer): void => {
      data = Buffer.concat([data, chunk]);
      headEnd = data.indexOf('\r\n\r\n');
      const wanted = data.toString('latin1', 0, 4) === 'GET ' ? 0 : bytes;
      if (headEnd === -1 || data.length < headEnd + 4 + wanted) return;
      socket.off('data', take);
      socket.pause();
      resolve();
    };
    socket.on('data', take);
  });
  const head = data.subarray(0, headEnd).toString();
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
  let received = data.length - headEnd - 4;
  return {
    attempt,
    socket,
    head,
    get received() {
      return received;
    },
    async readRest() {
      await new Promise<void>((resolve) => {
        const count = (chunk: Buffer): void => {
          received += chunk.length;
          if (received >= length) resolve();
        };
        socket.on('data', count).resume();
        if (received >= length) resolve();
      });
    },
    answer(status, body, headers = {}) {
      const text = JSON.stringify(body);
      const lines = Object.entries({
        'Content-Type': 'application/json',
        'Content-Length': `${Buffer.byteLength(text)}`,
        ...headers,
      }).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n${text}`);
    },
  };
}
