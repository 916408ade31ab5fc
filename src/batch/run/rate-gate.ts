import { parseRetryAfter, LONGEST_RETRY_AFTER_MS } from '../../api/retry.ts';
import type { Transport } from '../../api/transport/http.ts';
import type { Clock } from '../../system/clock.ts';

const DEFAULT_PAUSE_MS = 1_000;
// 429 responses within this time count once, because their requests were sent together.
const SAME_REFUSAL_MS = 1_000;
const MIN_RATE = 0.2;
// The limit is lifted when the rate is this many times the rate at the last 429.
const RECOVERY_FACTOR = 8;

/**
 * Limits the request rate of a batch after a 429 response. Requests pause as long as the service asks, then continue at
 * half the previous rate. The rate then increases every second.
 */
export class RateGate {
  rate = Number.POSITIVE_INFINITY;
  readonly #clock: Clock;
  #recent: number[] = [];
  #nextAt = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #raisedAt = 0;
  #refusedRate = 0;
  #pauses = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the next request may be sent. Rejects with the abort reason if `signal` is aborted. */
  async pass(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const now = this.#clock.monotonic();
    this.#raise(now);
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + (this.rate === Number.POSITIVE_INFINITY ? 0 : 1_000 / this.rate);
    const pauses = this.#pauses;
    if (at > now) await this.#clock.sleep(at - now, signal);
    // A request that waited while another pause began goes to the end of the queue.
    if (this.#pauses !== pauses && this.#clock.monotonic() < this.#nextAt) return this.pass(signal);
    const sentAt = this.#clock.monotonic();
    this.#recent.push(sentAt);
    if (this.#recent.length > 4_096) this.#recent = this.#since(sentAt - 1_000);
  }

  /**
   * Pauses the requests and lowers their rate after a 429 response. Several 429 responses within a second lower the
   * rate once.
   * @param retryAfterMs the pause that the service requests; the default is one second
   */
  refused(retryAfterMs: number | undefined): void {
    const now = this.#clock.monotonic();
    const pauseMs = retryAfterMs ?? DEFAULT_PAUSE_MS;
    if (now - this.#refusedAt >= SAME_REFUSAL_MS) {
      const before = Math.min(this.rate, Math.max(1, this.#since(now - 1_000).length));
      this.#refusedRate = before;
      this.rate = Math.max(MIN_RATE, before / 2);
      this.#refusedAt = now;
      this.#pauses += 1;
    }
    this.#nextAt = Math.max(this.#nextAt, now + pauseMs);
    this.#raisedAt = Math.max(this.#raisedAt, now + pauseMs);
  }

  #raise(now: number): void {
    if (this.rate === Number.POSITIVE_INFINITY || now <= this.#raisedAt) return;
    this.rate += (now - this.#raisedAt) / 1_000;
    this.#raisedAt = now;
    if (this.rate > this.#refusedRate * RECOVERY_FACTOR) this.rate = Number.POSITIVE_INFINITY;
  }

  #since(time: number): number[] {
    return this.#recent.filter((at) => at > time);
  }
}

/**
 * Returns a transport whose requests wait for the gate. It reports each 429 response to the gate, unless the requested
 * pause is so long that the batch ends.
 */
export function gatedTransport(inner: Transport, gate: RateGate, clock: Clock): Transport {
  return {
    async request(request) {
      await gate.pass(request.signal);
      const response = await inner.request(request);
      if (response.status === 429) {
        const { headers } = response;
        const asked = parseRetryAfter(headers.get('retry-after'), headers.get('date'), clock.now());
        // A longer pause ends the batch.
        if (asked === undefined || asked <= LONGEST_RETRY_AFTER_MS) gate.refused(asked);
      }
      return response;
    },
    close: () => inner.close(),
  };
}
