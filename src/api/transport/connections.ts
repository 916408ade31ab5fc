import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Idle connections are closed after 4 s; most servers close them after 5 s. */
const IDLE_MS = 4_000;

/** An empty name saves Node milliseconds; the connector sets the name for TLS. */
const OPTIONS = { keepAlive: true, timeout: IDLE_MS, servername: '' };

type Done = (error: Error | null, socket: Duplex) => void;

/**
 * The connections to one service, reused between requests. A request gets a socket only when the socket is
 * ready, so an earlier error proves that nothing was sent.
 */
export class Connections extends Agent {
  readonly #connector: Connector;
  /** A connection that was opened before its request. */
  #prepared: Promise<Duplex> | undefined;

  constructor(connector: Connector) {
    super(OPTIONS);
    this.#connector = connector;
  }

  /** Opens a connection before the next request, which reports connection errors; sends nothing. */
  prepare(): void {
    this.#prepared ??= this.#openSilent();
    this.#prepared.catch(() => undefined);
  }

  /** Drops idle sockets that the service has closed; Node would still write to them. */
  forgetEnded(): void {
    // The agent uses the last one first.
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

  /** Returns the same name for every request, because all connections lead to one service. */
  override getName(): string {
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

  /** Returns a copy of the list, because callers remove sockets from it. */
  #idle(): Duplex[] {
    return Object.values(this.freeSockets).flatMap((sockets = []) => sockets);
  }

  async #open(done: Done): Promise<void> {
    let socket: Duplex;
    try {
      socket = (await this.#takePrepared()) ?? (await this.#connector.open());
    } catch (error) {
      // Node calls back with an error alone, despite its types.
      Reflect.apply(done, undefined, [error]);
      return;
    }
    done(null, socket);
  }

  async #openSilent(): Promise<Duplex> {
    const socket = await this.#connector.open();
    expectSilence(socket);
    return socket;
  }

  /** Returns the prepared socket unless it was closed in the meantime. */
  async #takePrepared(): Promise<Duplex | undefined> {
    const prepared = this.#prepared;
    this.#prepared = undefined;
    const socket = await prepared;
    socket?.off('data', hangUp);
    return socket?.writable === true ? socket : undefined;
  }
}

const talkative = new WeakSet<Duplex>();

/** Closes an idle connection when data arrives that belongs to no response. */
export function expectSilence(socket: Duplex): void {
  socket.on('data', hangUp);
}

/** Whether data arrived on an idle connection. */
export function brokeSilence(socket: Duplex): boolean {
  return talkative.has(socket);
}

function hangUp(this: Duplex): void {
  talkative.add(this);
  this.destroy();
}

export interface Connector {
  /** Opens a connection that can carry a request. */
  open(): Promise<Duplex>;
  /** Cancels the connections that are being opened. */
  close(): void;
}

/** Creates a connector without encryption. */
export function plainConnector(url: URL): Connector {
  const opening = new Opening();
  const target = { ...endOf(url), noDelay: true, keepAlive: true };
  return {
    open: () => opening.ready(connect(target), 'connect'),
    close: () => opening.close(),
  };
}

/** Returns host and port of a URL; an IPv6 address without brackets. */
export function endOf({ hostname, port, protocol }: URL): { host: string; port: number } {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const usual = protocol === 'https:' ? 443 : 80;
  return { host, port: port === '' ? usual : Number(port) };
}

/** The sockets that a connector is opening. */
export class Opening {
  readonly #sockets = new Set<Socket>();

  /** Waits for an event of a socket; rejects with the error of the socket. */
  async ready<T extends Socket>(socket: T, event: string): Promise<T> {
    // The request that uses the socket reports its errors; an idle socket has no other listener.
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
    // The error rejects `ready`.
    for (const socket of this.#sockets) socket.destroy(new Error('the connection was cancelled'));
  }
}
