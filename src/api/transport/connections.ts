import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import { Client } from 'undici';
import { MOST_HEADER_BYTES } from './connector.ts';
import type { Connector } from './connector.ts';
import { codeOf, isParserError } from './transport-error.ts';

// Most servers close idle connections after 5 s.
const IDLE_MS = 4_000;

/** The connections to one service. Each carries one request at a time. */
export class Connections {
  readonly #origin: string;
  readonly #connector: Connector;
  readonly #open = new Set<Connection>();
  readonly #idle: Connection[] = [];
  #prepared: Promise<Socket> | undefined;

  constructor(origin: string, connector: Connector) {
    this.#origin = origin;
    this.#connector = connector;
  }

  /** Opens a connection in advance, for the next request. If the connection fails, that request throws the error. */
  prepare(): void {
    this.#prepared ??= this.#openSilent();
    this.#prepared.catch(() => undefined);
  }

  /**
   * Returns a connection for one request.
   * @param fresh whether to close idle connections, so that the connection is a new one
   */
  take(fresh: boolean): Connection {
    for (const connection of this.#idle.splice(0)) {
      if (fresh) connection.destroy();
      else this.giveBack(connection);
    }
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const connection = new Connection(this.#origin, {
      open: async () => (await this.#takePrepared()) ?? this.#connector.open(),
      onClose: () => this.#open.delete(connection),
    });
    this.#open.add(connection);
    return connection;
  }

  /** Keeps a connection for the next request, if the connection is still open. */
  giveBack(connection: Connection): void {
    if (connection.isOpen) this.#idle.push(connection);
    else connection.destroy();
  }

  /** Closes every connection. Requests that are not complete throw the reason. */
  destroy(reason: Error): void {
    this.#connector.close();
    void this.#prepared?.then(
      (socket) => socket.destroy(),
      () => undefined,
    );
    for (const connection of this.#open) connection.destroy(reason);
  }

  async #openSilent(): Promise<Socket> {
    const socket = await this.#connector.open();
    socket.on('data', hangUp);
    return socket;
  }

  async #takePrepared(): Promise<Socket | undefined> {
    const prepared = this.#prepared;
    this.#prepared = undefined;
    const socket = await prepared;
    socket?.off('data', hangUp);
    return socket?.writable === true ? socket : undefined;
  }
}

// A service that speaks first does not speak HTTP.
function hangUp(this: Socket): void {
  this.destroy();
}

interface ConnectionOptions {
  readonly open: () => Promise<Socket>;
  readonly onClose: () => void;
}

/** One connection to a service: an undici client for a socket of foley's. */
export class Connection {
  readonly #client: Client;
  readonly #onClose: () => void;
  #socket: Socket | undefined;
  #hasUnread = false;

  constructor(origin: string, { onClose, open }: ConnectionOptions) {
    this.#onClose = onClose;
    this.#client = new Client(origin, {
      connect: (_options, done) => void this.#connect(open, done),
      pipelining: 1,
      // foley uses its own timeouts.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      maxHeaderSize: MOST_HEADER_BYTES,
    });
  }

  /** Whether the connection can carry another request. */
  get isOpen(): boolean {
    return this.#socket?.writable === true && !this.#socket.readableEnded;
  }

  /** Whether undici closed the connection because of bytes that do not belong to a response. */
  get hasInvalidBytes(): boolean {
    if (this.#hasUnread) return true;
    const error = this.#socket?.errored;
    if (isParserError(error)) return true;
    return codeOf(error) === 'UND_ERR_SOCKET' && this.#socket?.readableEnded === false;
  }

  /** Whether the connection broke, although undici may have taken the response as complete. */
  get isBroken(): boolean {
    const error = this.#socket?.errored ?? undefined;
    return error !== undefined && codeOf(error) !== 'UND_ERR_INFO';
  }

  send(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(request, handler);
  }

  /** Closes the connection. A request that is not complete ends with the error. */
  destroy(error: Error = new Error('the connection was closed')): void {
    this.#onClose();
    void this.#client.destroy(error);
  }

  async #connect(open: () => Promise<Socket>, done: buildConnector.Callback): Promise<void> {
    let socket: Socket;
    try {
      socket = await open();
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)), null);
      return;
    }
    withoutOptimizing(() => done(null, this.#watch(socket)));
  }

  // undici puts bytes back that follow a response with `Connection: close`, without an error.
  #watch(socket: Socket): Socket {
    this.#socket = socket;
    const unshift = socket.unshift.bind(socket);
    socket.unshift = (chunk: Uint8Array) => {
      this.#hasUnread ||= socket.destroyed && chunk.length > 0;
      unshift(chunk);
    };
    return socket;
  }
}

// Node 20 optimizes undici's parser in the background after some responses, and ends only when that is done, 80 ms later.
// undici compiles the parser for the first connection.
function withoutOptimizing(work: () => void): void {
  if (!process.version.startsWith('v20.')) {
    work();
    return;
  }
  // Loaded here, because only Node 20 needs it.
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString('--wasm-tiering-budget=1000000000');
  work();
  setFlagsFromString('--wasm-tiering-budget=1800000');
}
