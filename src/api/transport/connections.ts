import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A connection that nobody used for so long is closed; most servers do the same a second later. */
const IDLE_MS = 4_000;

/** The name for TLS is the connector's affair: to find one, Node would take milliseconds. */
const OPTIONS = { keepAlive: true, timeout: IDLE_MS, servername: '' };

type Done = (error: Error | null, socket: Duplex) => void;

/**
 * The connections of one service, kept between requests. A request gets its socket when that is
 * ready, so that whatever fails before it is known not to have been sent.
 */
export class Connections extends Agent {
  readonly #connector: Connector;
  /** Opened before there was a request for it. */
  #prepared: Promise<Duplex> | undefined;

  constructor(connector: Connector) {
    super(OPTIONS);
    this.#connector = connector;
  }

  /** Begins to connect, for the next request, which is told what goes wrong with it. Nothing is sent. */
  prepare(): void {
    this.#prepared ??= this.#openSilent();
    this.#prepared.catch(() => undefined);
  }

  /** Drops what ended since it was last used: until that is closed to the end, Node would still write to it. */
  forgetEnded(): void {
    // The last one is taken first.
    for (const socket of this.#idle().reverse()) {
      if (socket.writable) return;
      socket.emit('agentRemove');
    }
  }

  /** Closes what is idle, so that the next request gets a connection that no other was on. */
  forgetIdle(): void {
    for (const socket of this.#idle()) {
      socket.destroy();
      socket.emit('agentRemove');
    }
  }

  /** All of them lead to one service. */
  override getName(): string {
    return '';
  }

  override createConnection(_options: object, done?: Done): undefined {
    if (done === undefined) throw new TypeError('nobody waits for the connection');
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

  /** Copied, since who is dropped leaves the list. */
  #idle(): Duplex[] {
    return Object.values(this.freeSockets).flatMap((sockets = []) => sockets);
  }

  async #open(done: Done): Promise<void> {
    let socket: Duplex;
    try {
      socket = (await this.#takePrepared()) ?? (await this.#connector.open());
    } catch (error) {
      // Node takes an error alone, whatever its types say.
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

  /** Unless it was closed while it waited. */
  async #takePrepared(): Promise<Duplex | undefined> {
    const prepared = this.#prepared;
    this.#prepared = undefined;
    const socket = await prepared;
    socket?.off('data', hangUp);
    return socket?.writable === true ? socket : undefined;
  }
}

const talkative = new WeakSet<Duplex>();

/**
 * Until the next request is sent nothing may come: what does is no part of any answer, and the
 * connection is closed. Node would drop it without a word.
 */
export function expectSilence(socket: Duplex): void {
  socket.on('data', hangUp);
}

/** Whether something came all the same. */
export function brokeSilence(socket: Duplex): boolean {
  return talkative.has(socket);
}

function hangUp(this: Duplex): void {
  talkative.add(this);
  this.destroy();
}

/** Opens connections to one service. */
export interface Connector {
  /** One that can carry a request now. Rejects with what stood in its way. */
  open(): Promise<Duplex>;
  /** Gives up what is being opened. */
  close(): void;
}

/** Connections to a host and port, without encryption. */
export function plainConnector(url: URL): Connector {
  const opening = new Opening();
  const target = { ...endOf(url), noDelay: true, keepAlive: true };
  return {
    open: () => opening.ready(connect(target), 'connect'),
    close: () => opening.close(),
  };
}

/** The host and port of a URL, as sockets want them: an IPv6 address without brackets. */
export function endOf({ hostname, port, protocol }: URL): { host: string; port: number } {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const usual = protocol === 'https:' ? 443 : 80;
  return { host, port: port === '' ? usual : Number(port) };
}

/** Sockets that are on their way to be ready. */
export class Opening {
  readonly #sockets = new Set<Socket>();

  /** The socket once it has told `event`; rejects with its error. */
  async ready<T extends Socket>(socket: T, event: string): Promise<T> {
    // From here on its errors are told by the request that uses it; while none does, they are nobody's.
    socket.on('error', ignore);
    this.#sockets.add(socket);
    try {
      await once(socket, event);
      return socket;
    } finally {
      this.#sockets.delete(socket);
    }
  }

  close(): void {
    // With an error: who waits for one of them is told.
    for (const socket of this.#sockets) socket.destroy(new Error('the connection was given up'));
  }
}

function ignore(): void {}
