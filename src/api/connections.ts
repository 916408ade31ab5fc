import type { ClientRequest } from 'node:http';
import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Connector } from './connector.ts';

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

  constructor(connector: Connector) {
    super(OPTIONS);
    this.#connector = connector;
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
    super.destroy();
  }

  async #open(done: Done): Promise<void> {
    let socket: Duplex;
    try {
      socket = await this.#connector.open();
    } catch (error) {
      // Node takes an error alone, whatever its types say.
      Reflect.apply(done, undefined, [error]);
      return;
    }
    done(null, socket);
  }
}

const talkative = new WeakSet<Duplex>();

/**
 * After an answer nothing may come until the next request is sent: what does is no part of any answer,
 * and the connection is closed. Node would drop it without a word.
 */
export function expectSilence(socket: Socket): void {
  socket.on('data', hangUp);
}

/** Whether something came all the same. */
export function brokeSilence(socket: Socket): boolean {
  return talkative.has(socket);
}

function hangUp(this: Duplex): void {
  talkative.add(this);
  this.destroy();
}
