import { subscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { isParserError } from './transport-error.ts';

/**
 * What undici does not tell about the connection under an answer, and cannot do to it.
 *
 * - It takes a reset for the proper end of a body that ends with the connection. Under another code
 *   it sees the error that it is.
 * - Its own way to pause a body ends the process by an assertion when the connection ends while a
 *   body that closes it is paused (7.30). The socket is held instead: nothing is read from it, so the
 *   sender has to wait, and the end is not seen before what came earlier is taken.
 * - It ignores bytes beyond the announced end of a body.
 *
 * All of this is in terms of Node's sockets; `test/api/transport-body.test.ts` holds undici to it.
 */
export interface SocketWatch {
  /** Nothing is read from the connection until it is released. */
  hold(): void;
  release(): void;
  /** Whether the other side sent something after the end of the answer. */
  readonly sentTooMuch: boolean;
  /** A new request begins on the connection. */
  begin(): void;
}

const RESET = 'FOLEY_RESET';

const watches = new WeakMap<Socket, Watch>();

let waiting: ((watch: SocketWatch) => void) | undefined;
let subscribed = false;

/**
 * Gives `use` the watch of the connection that the request goes to, which is about to be written:
 * undici announces connection and request in the same turn.
 */
export function watchNextRequest(use: (watch: SocketWatch) => void): void {
  if (!subscribed) {
    subscribe('undici:client:sendHeaders', attach);
    subscribed = true;
  }
  waiting = use;
}

function attach(message: unknown): void {
  const use = waiting;
  waiting = undefined;
  if (use === undefined || typeof message !== 'object' || message === null) return;
  if (!('socket' in message) || !(message.socket instanceof Socket)) return;
  const known = watches.get(message.socket);
  const watch = known ?? new Watch(message.socket);
  watches.set(message.socket, watch);
  watch.begin();
  use(watch);
}

class Watch implements SocketWatch {
  readonly #socket: Socket;
  #held = false;
  #surplus = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    const read = socket.read.bind(socket);
    const unshift = socket.unshift.bind(socket);
    socket.read = (size?: number): unknown => (this.#held && size !== 0 ? null : read(size));
    // undici gives back what it has not parsed, and with the body never paused that is the surplus.
    socket.unshift = (chunk: Uint8Array, encoding?: BufferEncoding): void => {
      if (chunk.length > 0) this.#surplus = true;
      unshift(chunk, encoding);
    };
    let ended = false;
    socket.prependListener('end', () => {
      ended = true;
    });
    socket.prependListener('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET') error.code = RESET;
      // What is not the beginning of an answer, and what is one that nobody asked for.
      else if (isParserError(error)) this.#surplus = true;
      else if (error.code === 'UND_ERR_SOCKET' && !ended) this.#surplus = true;
    });
  }

  get sentTooMuch(): boolean {
    return this.#surplus;
  }

  begin(): void {
    this.#held = false;
    this.#surplus = false;
  }

  hold(): void {
    this.#held = true;
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#socket.emit('readable');
  }
}
