import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** How the other side ended: in order, or by breaking the connection. */
export type Ending = 'fin' | 'reset';

/** A client that sees what is on the wire and nothing else. */
export class RawClient {
  readonly ended: Promise<Ending>;
  readonly #socket: Socket;
  #ending: Ending | undefined;
  readonly #parts: Buffer[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => this.#parts.push(bytes));
    this.ended = new Promise((resolve) => {
      const end = (ending: Ending): void => {
        this.#ending ??= ending;
        resolve(ending);
      };
      socket.on('end', () => end('fin'));
      socket.on('error', () => end('reset'));
    });
    onTestFinished(() => void socket.destroy());
  }

  /** Everything that came so far. */
  get text(): string {
    return Buffer.concat(this.#parts).toString('latin1');
  }

  /** What came after the head of an answer. */
  get body(): Buffer {
    const all = Buffer.concat(this.#parts);
    return all.subarray(all.indexOf('\r\n\r\n') + 4);
  }

  send(text: string): void {
    this.#socket.write(text);
  }

  /** Asks for a path with GET. */
  get(path = '/'): void {
    this.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  }

  /** Waits until so many bytes, or this text, have come; rejects when the server ends first. */
  async waitFor(wanted: number | string): Promise<void> {
    while (typeof wanted === 'number' ? this.text.length < wanted : !this.text.includes(wanted)) {
      if (this.#ending !== undefined) {
        throw new Error(`The server ended with ${this.#ending} after ${this.text.length} bytes.`);
      }
      await Promise.race([once(this.#socket, 'data'), this.ended]);
    }
  }

  /** Stops reading, so that the peer can no longer write. */
  hold(): void {
    this.#socket.pause();
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** Connects to a port of this machine. */
export async function connectRaw(port: number): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return new RawClient(socket);
}

/** Sends a GET on a fresh connection and gives what came when the server has ended it. */
export async function getRaw(
  port: number,
  path = '/',
): Promise<{ ending: Ending; text: string; body: Buffer }> {
  const client = await connectRaw(port);
  client.get(path);
  const ending = await client.ended;
  return { ending, text: client.text, body: client.body };
}
