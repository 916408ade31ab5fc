import { parseRetryAfter, LONGEST_RETRY_AFTER_MS } from '../../api/retry.ts';
import type { Transport } from '../../api/transport/http.ts';
import type { Clock } from '../../effects/clock.ts';

/**
 * The one gate through which all requests of a batch go. It is open until the service says that there are
 * too many; then it closes for as long as the service asks, and lets half as many through in a second as
 * went before. Every second without a complaint lets one more through, until the gate is open again.
 */
export interface RateGate {
  /** Resolves when the next request may go; rejects with the signal's reason. */
  pass(signal?: AbortSignal): Promise<void>;
  /** The service said 429. @param retryAfterMs how long it wants to be left alone, where it says so */
  refused(retryAfterMs: number | undefined): void;
  /** Requests a second that may go; infinite while the gate is open. */
  readonly rate: number;
}

/** A service that says 429 without a time is left alone for so long. */
const USUAL_PAUSE_MS = 1_000;
/** Complaints of requests that were under way together count once. */
const SAME_COMPLAINT_MS = 1_000;
const LEAST_RATE = 0.2;
/** So many times the rate at which the service complained: then the gate is open again. */
const OPEN_AGAIN = 8;

export function createRateGate(clock: Clock): RateGate {
  return new Gate(clock);
}

class Gate implements RateGate {
  rate = Number.POSITIVE_INFINITY;
  readonly #clock: Clock;
  /** When the latest requests went, of the last second. */
  #recent: number[] = [];
  /** The next one goes no sooner than this. */
  #nextAt = 0;
  #complainedAt = Number.NEGATIVE_INFINITY;
  #raisedAt = 0;
  #complainedRate = 0;
  /** How many requests were turned away since. */
  #pauses = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async pass(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const now = this.#clock.monotonic();
    this.#raise(now);
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + (this.rate === Number.POSITIVE_INFINITY ? 0 : 1_000 / this.rate);
    const pauses = this.#pauses;
    if (at > now) await this.#clock.sleep(at - now, signal);
    // Whoever waited while the gate was closed once more goes to the end of the queue.
    if (this.#pauses !== pauses && this.#clock.monotonic() < this.#nextAt) return this.pass(signal);
    this.#remember(this.#clock.monotonic());
  }

  refused(retryAfterMs: number | undefined): void {
    const now = this.#clock.monotonic();
    const pauseMs = retryAfterMs ?? USUAL_PAUSE_MS;
    if (now - this.#complainedAt >= SAME_COMPLAINT_MS) {
      const before = Math.min(this.rate, Math.max(1, this.#countSince(now - 1_000)));
      this.#complainedRate = before;
      this.rate = Math.max(LEAST_RATE, before / 2);
      this.#complainedAt = now;
      this.#pauses += 1;
    }
    this.#nextAt = Math.max(this.#nextAt, now + pauseMs);
    this.#raisedAt = Math.max(this.#raisedAt, now + pauseMs);
  }

  /** One more a second for every second that went well. */
  #raise(now: number): void {
    if (this.rate === Number.POSITIVE_INFINITY || now <= this.#raisedAt) return;
    this.rate += (now - this.#raisedAt) / 1_000;
    this.#raisedAt = now;
    if (this.rate > this.#complainedRate * OPEN_AGAIN) this.rate = Number.POSITIVE_INFINITY;
  }

  #remember(now: number): void {
    this.#recent.push(now);
    if (this.#recent.length > 4_096) this.#recent = this.#recent.filter((at) => at > now - 1_000);
  }

  #countSince(time: number): number {
    return this.#recent.filter((at) => at > time).length;
  }
}

/** A transport whose requests all go through one gate, and tell it when the service had too many. */
export function gatedTransport(inner: Transport, gate: RateGate, clock: Clock): Transport {
  return {
    async request(request) {
      await gate.pass(request.signal);
      const answer = await inner.request(request);
      if (answer.status === 429) {
        const { headers } = answer;
        const asked = parseRetryAfter(headers.get('retry-after'), headers.get('date'), clock.now());
        // What is longer is not waited for by anybody: it ends the batch.
        const isWaited = asked === undefined || asked <= LONGEST_RETRY_AFTER_MS;
        if (isWaited) gate.refused(asked);
      }
      return answer;
    },
    close: () => inner.close(),
  };
}
