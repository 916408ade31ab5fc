import type { Clock } from '../../effects/clock.ts';
import type { BodyCut } from '../faults/fault-rule.ts';
import type { LiveSocket } from './live-socket.ts';

/** Bytes that may wait to be sent before speech waits too: some seconds of it. */
const HIGH_WATER_BYTES = 1024 * 1024;
/** More than this waits only for a client that asks and does not read. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024;
/** How long nobody may read while speech waits. */
export const STALL_MS = 120_000;

export interface OutletOptions {
  readonly socket: LiveSocket;
  readonly clock: Clock;
  /** Where a fault rule wants the connection to break. */
  readonly cut: BodyCut | undefined;
  /** Nobody reads what is sent (spec section 7.4, `client_backpressure`). */
  readonly onStall: () => void;
}

/** The way out of a connection: what is sent waits in bounded memory for its reader. */
export class Outlet {
  readonly #options: OutletOptions;
  #sentBytes = 0;
  /** A fault rule broke the line: nothing more leaves, and nothing counts as sent. */
  #isBroken = false;
  #isClosed = false;
  #waiting: (() => void)[] = [];
  #stopStall: (() => void) | undefined;

  constructor(options: OutletOptions) {
    this.#options = options;
  }

  send(frame: Uint8Array): void {
    const { socket, cut, onStall } = this.#options;
    if (this.#isBroken || this.#isClosed) return;
    if (cut !== undefined && this.#sentBytes + frame.length > cut.afterBytes) {
      this.#isBroken = true;
      return socket.breakOff(cut.kind);
    }
    this.#sentBytes += frame.length;
    socket.send(frame, () => this.#moved());
    if (socket.bufferedAmount > MOST_WAITING_BYTES) onStall();
  }

  /** Resolves when there is room for more speech, or the connection has ended. */
  async room(): Promise<void> {
    const isFull = this.#options.socket.bufferedAmount > HIGH_WATER_BYTES;
    if (this.#isClosed || !(isFull || this.#isBroken)) return;
    this.#watch();
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Nothing more leaves. */
  close(): void {
    this.#isClosed = true;
    this.#letIn();
  }

  #moved(): void {
    if (this.#isBroken) return;
    if (this.#options.socket.bufferedAmount <= HIGH_WATER_BYTES) this.#letIn();
    else if (this.#stopStall !== undefined) this.#watch();
  }

  /** Whatever leaves shows that somebody reads. */
  #watch(): void {
    const { clock, onStall } = this.#options;
    this.#stopStall?.();
    this.#stopStall = clock.after(STALL_MS, onStall);
  }

  #letIn(): void {
    this.#stopStall?.();
    this.#stopStall = undefined;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
