import type { Clock } from '../../effects/clock.ts';
import { countCodePoints } from '../../text/code-points.ts';
import {
  type EngineRequest,
  type SpeechChunk,
  type SpeechEngine,
  SpeechLimit,
} from '../engine/speech-engine.ts';
import { ServiceError } from '../service-error.ts';
import { closeQuietly } from '../../effects/concurrency.ts';

interface SpeechQueueOptions {
  readonly clock: Clock;
  /** How many requests may wait for the engines at the same time, of all accounts; default 64. */
  readonly maxWaiting?: number | undefined;
}

/** Speech of one request. */
interface QueuedSpeech {
  readonly account: string;
  readonly speaker: Pick<SpeechEngine, 'synthesize'>;
  readonly request: EngineRequest;
  readonly signal: AbortSignal;
  /** Whether it is never refused, such as a segment of a connection that was admitted. */
  readonly isAdmitted?: boolean;
}

const DEFAULT_MAX_WAITING = 64;
/** About what English speech has; only the ratio of two estimates depends on it. */
const CHARACTERS_A_SECOND = 15;
/** Until something was measured. */
const FIRST_MS_A_CHARACTER = 1;
/** Weight of the newest measurement. */
const NEWEST = 0.2;

/**
 * The requests that wait for an engine, at most `maxWaiting`. An account that has at least two fewer
 * waiting than another displaces the newest request of the account with the most, as long as that has no
 * audio yet. A request whose reader is slower than the engine does not wait, and does not count.
 */
export class SpeechQueue {
  readonly #clock: Clock;
  readonly #maxWaiting: number;
  /** The newest last. */
  readonly #waiting = new Set<Place>();
  #msPerCharacter = FIRST_MS_A_CHARACTER;
  /** When the engines last gave something, or began to work after a pause. */
  #lastChunkAt = 0;
  /** When there is room for the request that was refused last. */
  #roomAt = 0;

  constructor({ clock, maxWaiting = DEFAULT_MAX_WAITING }: SpeechQueueOptions) {
    this.#clock = clock;
    this.#maxWaiting = maxWaiting;
  }

  /** @throws ServiceError 429 with `Retry-After` when a request of the account is refused now */
  requireRoom(account: string): void {
    if (this.#waiting.size < this.#maxWaiting) return;
    if (this.#countOf(account) + 1 < this.#countOf(this.#largest())) return;
    throw this.#full();
  }

  /**
   * Speaks in turn with the other accounts, the first stretch before the later ones of other requests.
   * @throws ServiceError as `requireRoom` does, at the first chunk; what the engine throws
   */
  async *synthesize(speech: QueuedSpeech): AsyncGenerator<SpeechChunk> {
    const { account, isAdmitted = false, request, signal, speaker } = speech;
    if (!isAdmitted) this.#makeRoom(account);
    const shed = new AbortController();
    const place: Place = { account, request, shed, saidSeconds: 0, isFixed: isAdmitted };
    const until = AbortSignal.any([signal, shed.signal]);
    const inTurn = { ...request, client: account, isInteractive: true };
    const chunks = speaker.synthesize(inTurn, until)[Symbol.asyncIterator]();
    const limit = new SpeechLimit();
    try {
      for (;;) {
        const next = await this.#wait(place, chunks);
        if (next.done === true) return;
        limit.add(next.value);
        yield next.value;
      }
    } finally {
      void closeQuietly(chunks);
    }
  }

  async #wait(
    place: Place,
    chunks: AsyncIterator<SpeechChunk>,
  ): Promise<IteratorResult<SpeechChunk>> {
    if (this.#waiting.size === 0) this.#lastChunkAt = this.#clock.monotonic();
    this.#waiting.add(place);
    try {
      const next = await chunks.next();
      if (next.done !== true) this.#measure(place, next.value);
      return next;
    } finally {
      this.#waiting.delete(place);
    }
  }

  #measure(place: Place, { samples, sampleRate }: SpeechChunk): void {
    if (samples.length === 0) return;
    const now = this.#clock.monotonic();
    const seconds = samples.length / sampleRate;
    const spokenCharacters = seconds * place.request.speed * CHARACTERS_A_SECOND;
    const measured = (now - this.#lastChunkAt) / spokenCharacters;
    this.#msPerCharacter += NEWEST * (measured - this.#msPerCharacter);
    this.#lastChunkAt = now;
    place.saidSeconds += seconds;
    // Its charge stands.
    place.isFixed = true;
  }

  /** @throws ServiceError 429 */
  #makeRoom(account: string): void {
    this.requireRoom(account);
    if (this.#waiting.size < this.#maxWaiting) return;
    const largest = this.#largest();
    const newest = [...this.#waiting].findLast(
      (place) => place.account === largest && !place.isFixed,
    );
    newest?.shed.abort(this.#full());
    if (newest !== undefined) this.#waiting.delete(newest);
  }

  #countOf(account: string | undefined): number {
    let count = 0;
    for (const place of this.#waiting) if (place.account === account) count += 1;
    return count;
  }

  /** The account that has the most requests waiting. */
  #largest(): string | undefined {
    const accounts = [...new Set([...this.#waiting].map(({ account }) => account))];
    return accounts.toSorted((a, b) => this.#countOf(b) - this.#countOf(a))[0];
  }

  #full(): ServiceError {
    const seconds = this.#secondsToRoom();
    const waiting = this.#waiting.size;
    return new ServiceError(
      'ERR_RATE_LIMITED',
      `The service is busy: ${waiting} requests wait for it; retry in ${seconds} s`,
      {
        headers: { 'Retry-After': String(seconds) },
        details: { waiting, maxWaiting: this.#maxWaiting },
      },
    );
  }

  /** Requests that are refused one after the other find room one after the other. */
  #secondsToRoom(): number {
    const now = this.#clock.monotonic();
    let characters = 0;
    for (const place of this.#waiting) characters += charactersLeft(place);
    const allMs = characters * this.#msPerCharacter;
    const nextMs = allMs / Math.max(1, this.#waiting.size);
    this.#roomAt = Math.min(Math.max(this.#roomAt, now) + nextMs, now + allMs);
    return Math.max(1, Math.ceil((this.#roomAt - now) / 1_000));
  }
}

/** A request that waits. */
interface Place {
  readonly account: string;
  readonly request: EngineRequest;
  readonly shed: AbortController;
  saidSeconds: number;
  /** Whether it cannot be displaced any more. */
  isFixed: boolean;
}

/** An estimate; at least a word, as long as it waits. */
function charactersLeft({ request: { speed, text }, saidSeconds }: Place): number {
  return Math.max(5, countCodePoints(text) - saidSeconds * speed * CHARACTERS_A_SECOND);
}
