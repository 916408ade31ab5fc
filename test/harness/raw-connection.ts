import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A bare TCP connection to a server: shows what the server sends as it is. */
export class RawConnection {
  readonly socket: Socket;
  /** How the connection ended: in order, or by a reset. */
  readonly ended: Promise<'fin' | 'reset'>;
  /** The error code of a broken connection, such as `ECONNRESET`. */
  brokenBy: string | undefined;
  readonly #parts: Buffer[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => this.#parts.push(bytes));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.brokenBy = error.code;
    });
    this.ended = new Promise((resolve) => {
      socket.on('close', () => resolve(this.brokenBy === undefined ? 'fin' : 'reset'));
    });
    onTestFinished(() => void socket.destroy());
  }

  /** Everything that arrived so far, as Latin-1. */
  get text(): string {
    return Buffer.concat(this.#parts).toString('latin1');
  }

  /** What arrived after the head of a response. */
  get body(): Buffer {
    const all = Buffer.concat(this.#parts);
    return all.subarray(all.indexOf('\r\n\r\n') + 4);
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Requests a path with GET. */
  get(path = '/'): void {
    this.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  }

  /** Waits until so many bytes, or this text, have arrived; rejects if the server ends first. */
  async waitFor(wanted: number | string): Promise<void> {
    let ending: string | undefined;
    while (typeof wanted === 'number' ? this.text.length < wanted : !this.text.includes(wanted)) {
      if (ending !== undefined) {
        throw new Error(`The server ended with ${ending} after ${this.text.length} bytes.`);
      }
      const more = once(this.socket, 'data').then(() => undefined);
      ending = await Promise.race([more, this.ended]);
    }
  }

  /** Returns everything that arrives until the other side ends or breaks the connection. */
  async untilClosed(): Promise<string> {
    await this.ended;
    return this.text;
  }
}

/**
 * Connects to a server on this machine.
 * @param origin such as `http://127.0.0.1:4747`
 * @param options `allowHalfOpen`: whether the connection stays open when the other side has ended; default no
 */
export async function connectRaw(
  origin: string,
  { allowHalfOpen = false } = {},
): Promise<RawConnection> {
  const { hostname: host, port } = new URL(origin);
  const connection = new RawConnection(connect({ port: Number(port), host, allowHalfOpen }));
  await once(connection.socket, 'connect');
  return connection;
}

/** Sends a GET on a new connection, and returns the connection when the server has ended it. */
export async function getRaw(origin: string, path = '/') {
  const client = await connectRaw(origin);
  client.get(path);
  const ending = await client.ended;
  return { ending, text: client.text, body: client.body };
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
