import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A bare TCP connection to a server: what it sends is seen as it is. */
export interface RawConnection {
  readonly socket: Socket;
  send(text: string): void;
  /** What came so far, as Latin-1. */
  received(): string;
  /** How the connection broke, such as `ECONNRESET`; `undefined` when it was ended properly. */
  brokenBy(): string | undefined;
  /** Everything that comes until the other side ends or breaks the connection. */
  untilClosed(): Promise<string>;
}

/** @param allowHalfOpen whether it stays open when the other side has ended; default no */
export async function connectRaw(
  baseUrl: string,
  { allowHalfOpen = false } = {},
): Promise<RawConnection> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen });
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.on('data', (bytes: Buffer) => {
    received += bytes.toString('latin1');
  });
  let broken: string | undefined;
  socket.on('error', (error: NodeJS.ErrnoException) => {
    broken = error.code;
  });
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => resolve());
  });
  await new Promise<void>((resolve) => {
    socket.on('connect', () => resolve());
  });
  return {
    socket,
    send: (text) => void socket.write(text, 'latin1'),
    received: () => received,
    brokenBy: () => broken,
    async untilClosed() {
      await closed;
      return received;
    },
  };
}

/** An HTTP/1.1 POST of JSON as it is written on the wire. */
export function rawPost(path: string, body: unknown, headers: Record<string, string>): string {
  const json = JSON.stringify(body);
  const lines = Object.entries({
    Host: '127.0.0.1',
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(json)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${json}`;
}
