import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

// Most servers close idle connections after 5 s.
const IDLE_MS = 4_000;

// The empty `servername` saves Node a few milliseconds; the connector sets the name for TLS.
const OPTIONS = { keepAlive: true, timeout: IDLE_MS, servername: '' };

type Done = (error: Error | null, socket: Duplex) => void;

/**
 * A pool of connections to one service. A request gets only sockets that are already connected, so an error while
 * connecting proves that nothing was sent.
 */
export class Connections extends Agent {
  readonly #connector: Connector;
  #prepared: Promise<Duplex> | undefined;

  constructor(connector: Connector) {
    super(OPTIONS);
    this.#connector = connector;
  }

  /** Opens a connection in advance, for the next request. If the connection fails, that request throws the error. */
  prepare(): void {
    this.#prepared ??= this.#openSilent();
    this.#prepared.catch(() => undefined);
  }

  /** Removes idle sockets that the service has closed. Otherwise, Node would send requests on them. */
  forgetEnded(): void {
    // The agent uses the last socket of the list first.
    for (const socket of this.#idle().reverse()) {
      if (socket.writable) return;
      socket.emit('agentRemove');
    }
  }

  /** Closes idle sockets, so that the next request gets a new connection. */
  forgetIdle(): void {
    for (const socket of this.#idle()) {
      socket.destroy();
      socket.emit('agentRemove');
    }
  }

  override getName(): string {
    // One pool for every request: all connections lead to one service.
    return '';
  }

  override createConnection(_options: object, done?: Done): undefined {
    if (done === undefined) throw new TypeError('createConnection needs a callback');
    void this.#open(done);
  }

  override reuseSocket(socket: Duplex, request: ClientRequest): void {
    socket.off('data', hangUp);
    super.reuseSocket(socket, request);
  }

  override destroy(): void {
    this.#connector.close();
    void this.#prepared?.then(
      (socket) => socket.destroy(),
      () => undefined,
    );
    super.destroy();
  }

  // Returns a copy, because callers remove sockets from the list.
  #idle(): Duplex[] {
    return [...(this.freeSockets[this.getName()] ?? [])];
  }

  async #open(done: Done): Promise<void> {
    let socket: Duplex;
    try {
      socket = (await this.#takePrepared()) ?? (await this.#connector.open());
    } catch (error) {
      // Node accepts a call with only an error, although its types require both arguments.
      Reflect.apply(done, undefined, [error]);
      return;
    }
    done(null, socket);
  }

  async #openSilent(): Promise<Duplex> {
    const socket = await this.#connector.open();
    closeOnUnexpectedData(socket);
    return socket;
  }

  async #takePrepared(): Promise<Duplex | undefined> {
    const prepared = this.#prepared;
    this.#prepared = undefined;
    const socket = await prepared;
    socket?.off('data', hangUp);
    return socket?.writable === true ? socket : undefined;
  }
}

const talkative = new WeakSet<Duplex>();

/** Makes a connection close if data arrives while no request uses the connection. */
export function closeOnUnexpectedData(socket: Duplex): void {
  socket.on('data', hangUp);
}

/** Returns whether data arrived on a connection while no request used the connection. */
export function hasReceivedUnexpectedData(socket: Duplex): boolean {
  return talkative.has(socket);
}

function hangUp(this: Duplex): void {
  talkative.add(this);
  this.destroy();
}

export interface Connector {
  /** Opens a connection, and resolves when the connection is ready for a request. */
  open(): Promise<Duplex>;
  /** Cancels all connections that are still being opened. */
  close(): void;
}

/** Creates a connector for unencrypted connections. */
export function plainConnector(url: URL): Connector {
  const opening = new PendingSockets();
  const target = { ...hostAndPort(url), noDelay: true, keepAlive: true };
  return {
    open: () => opening.ready(connect(target), 'connect'),
    close: () => opening.close(),
  };
}

/** Returns the host and port of a URL. An IPv6 address is returned without brackets. */
export function hostAndPort({ hostname, port, protocol }: URL): { host: string; port: number } {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const usual = protocol === 'https:' ? 443 : 80;
  return { host, port: port === '' ? usual : Number(port) };
}

/** Tracks the sockets that a connector is currently opening. */
export class PendingSockets {
  readonly #sockets = new Set<Socket>();

  /** Waits for an event of a socket, such as `connect`. Rejects if the socket fails. */
  async ready<T extends Socket>(socket: T, event: string): Promise<T> {
    // Without a listener, an error of an idle socket would end the process. Requests have their own listeners.
    socket.on('error', () => {});
    this.#sockets.add(socket);
    try {
      await once(socket, event);
      return socket;
    } finally {
      this.#sockets.delete(socket);
    }
  }

  close(): void {
    // The error also rejects the promise of `ready`.
    for (const socket of this.#sockets) socket.destroy(new Error('the connection was cancelled'));
  }
}
