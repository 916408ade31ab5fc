import type { Clock } from '../../effects/clock.ts';
import type { LiveSocket } from './live-socket.ts';

/** How often the other side is asked for a sign of life. */
const PING_MS = 20_000;
/** How long it may give none. */
const SILENCE_MS = 60_000;

/** Notices a line that is dead without having said so. */
export class Heartbeat {
  readonly #socket: LiveSocket;
  readonly #clock: Clock;
  #heardAt: number;
  #stop: () => void;

  constructor(socket: LiveSocket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    this.#heardAt = clock.monotonic();
    this.#stop = clock.after(PING_MS, () => this.#beat());
  }

  /** Something came. */
  heard(): void {
    this.#heardAt = this.#clock.monotonic();
  }

  close(): void {
    this.#stop();
  }

  #beat(): void {
    if (this.#clock.monotonic() - this.#heardAt >= SILENCE_MS) return this.#socket.terminate();
    this.#socket.ping();
    this.#stop = this.#clock.after(PING_MS, () => this.#beat());
  }
}
