import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

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
