import type { Clock } from '../../effects/clock.ts';
import type { LiveSocket } from './live-socket.ts';

/** How often the other side is asked for a sign of life. */
const PING_MS = 20_000;
/** How often it may give none; counted, so that a machine that slept finds its lines alive. */
const MOST_UNANSWERED = 3;

/** Notices a line that is dead without having said so. */
export class Heartbeat {
  readonly #socket: LiveSocket;
  readonly #clock: Clock;
  #unanswered = 0;
  #stop: () => void;

  constructor(socket: LiveSocket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    this.#stop = clock.after(PING_MS, () => this.#beat());
  }

  /** Something came. */
  heard(): void {
    this.#unanswered = 0;
  }

  close(): void {
    this.#stop();
  }

  #beat(): void {
    if (this.#unanswered >= MOST_UNANSWERED) return this.#socket.terminate();
    this.#unanswered += 1;
    this.#socket.ping();
    this.#stop = this.#clock.after(PING_MS, () => this.#beat());
  }
}
