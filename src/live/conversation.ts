import type { Clock } from '../system/clock.ts';
import type { Random } from '../system/random.ts';
import type { Billed } from '../errors/failure.ts';
import { Failure } from '../errors/failure.ts';
import { UnreadableFrame, decodeFrame, encodeFrame } from '../realtime/frames.ts';
import { requestIdOf } from './audio-order.ts';
import { AudioQueue } from './audio-queue.ts';
import { endingFailure, failureEnding, billedSoFar } from './endings.ts';
import type { RequestStatus } from './server-message.ts';
import { readServerMessage } from './server-message.ts';
import type { Effect, LiveEvent, LivePlan, LiveState, TimerName } from './state.ts';
import { newConversation } from './state.ts';
import type { TextReceiver } from './feed-text.ts';
import { transition } from './transition.ts';
import type { LiveSocket, OpenSocket, SocketEvent } from './websocket.ts';

export type LiveNotice = Extract<Effect, { type: 'notice' | 'reconnecting' }>;

/** The HTTP requests with which a conversation resumes. */
export interface ResumeRequests {
  /** Returns the status of a request; undefined if the service has no such request. @throws Failure */
  readonly getStatus: (
    requestId: string,
    signal: AbortSignal,
  ) => Promise<RequestStatus | undefined>;
  /** Downloads the stored audio of a segment. @throws Failure */
  readonly fetchSegment: (
    requestId: string,
    segmentId: string,
    signal: AbortSignal,
  ) => Promise<Uint8Array>;
}

export interface ConversationDeps extends ResumeRequests {
  readonly clock: Clock;
  readonly random: Random;
  readonly openSocket: OpenSocket;
  readonly onNotice: (notice: LiveNotice) => void;
}

type WithoutFraction<Union> = Union extends unknown ? Omit<Union, 'fraction'> : never;
type Event = WithoutFraction<LiveEvent>;

/**
 * Runs a realtime conversation (docs/api/realtime.md) over a WebSocket, with timers and HTTP requests. Delivers each
 * byte of audio once and in order. Applies back-pressure to the text input and to the received audio.
 */
export class Conversation implements TextReceiver {
  /** The received audio. If the conversation fails, the queue throws a Failure after its last chunk. */
  readonly audio: AudioQueue;
  readonly #plan: LivePlan;
  readonly #deps: ConversationDeps;
  readonly #timers: Timers;
  #request = new AbortController();
  #state: LiveState;
  #socket: LiveSocket | undefined;
  #events: Event[] = [];
  #isBusy = false;
  // Resolves when the state machine accepts more text; undefined if it accepts text now.
  #inputReady: Promise<void> | undefined;
  #resumeInput: () => void = () => undefined;

  constructor(plan: LivePlan, deps: ConversationDeps) {
    this.#plan = plan;
    this.#deps = deps;
    this.#state = newConversation(plan);
    this.#timers = new Timers(deps.clock, (name) => this.#dispatch({ type: 'timer', name }));
    this.audio = new AudioQueue(
      () => this.#pause(),
      () => {
        this.#socket?.resume();
        this.#dispatch({ type: 'resumed' });
      },
    );
  }

  /** The request id of the current session. */
  get requestId(): string {
    return requestIdOf(this.#state);
  }

  /** The number of the current session, from 1. A long text needs several sessions. */
  get session(): number {
    return this.#state.session;
  }

  get billed(): Billed {
    return billedSoFar(this.#state);
  }

  begin(): void {
    this.#dispatch({ type: 'begin' });
  }

  /** Sends text to the service. The promise resolves when the conversation accepts more text. */
  async say(text: string): Promise<void> {
    this.#dispatch({ type: 'text', text });
    await this.#inputReady;
  }

  finish(): void {
    this.#dispatch({ type: 'end' });
  }

  /** Aborts the conversation. Reading `audio` then throws `error`. */
  stop(error: Error): void {
    this.audio.stop(error);
    this.#dispatch({ type: 'cancel' });
  }

  #dispatch(event: Event): void {
    this.#events.push(event);
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
      const fraction = this.#deps.random.fraction();
      const { effects, state } = transition(this.#state, { ...next, fraction });
      this.#state = state;
      for (const effect of effects) this.#perform(effect);
    }
    this.#isBusy = false;
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case 'connect':
        this.#socket = this.#deps.openSocket((event) => this.#receive(effect.connection, event));
        return;
      case 'send':
        return this.#socket?.send(encodeFrame(effect.message, this.#plan.protocol));
      case 'close':
      case 'abort': {
        const socket = this.#socket;
        this.#socket = undefined;
        return effect.type === 'close' ? socket?.close(effect.code) : socket?.abort();
      }
      case 'startTimer':
        return this.#timers.start(effect.name, effect.afterMs);
      case 'stopTimer':
        return this.#timers.stop(effect.name);
      case 'audio':
        return this.audio.push(effect.bytes);
      case 'pauseInput':
        this.#inputReady ??= new Promise((resolve) => {
          this.#resumeInput = resolve;
        });
        return;
      case 'resumeInput':
        return this.#endPause();
      case 'getStatus':
      case 'fetchSegment':
        return void this.#query(effect);
      case 'notice':
      case 'reconnecting':
        return this.#deps.onNotice(effect);
      case 'ended': {
        const { ending } = effect;
        this.#request.abort();
        this.#endPause();
        this.audio.end(ending.exit === 'ok' ? undefined : endingFailure(ending, this.requestId));
      }
    }
  }

  #endPause(): void {
    this.#resumeInput();
    this.#inputReady = undefined;
  }

  #receive(connection: number, event: SocketEvent): void {
    switch (event.type) {
      case 'frame':
        return this.#read(connection, event.bytes);
      case 'refused': {
        const { failure, isRetryable, retryAfterMs, type } = event;
        const ending = failureEnding(failure);
        return this.#dispatch({ type, connection, ending, isRetryable, retryAfterMs });
      }
      case 'opened':
      case 'unreadable':
      case 'closed':
        return this.#dispatch({ ...event, connection });
    }
  }

  #read(connection: number, bytes: Uint8Array): void {
    try {
      // An unknown event is treated like a `pong`: it only shows that the connection works.
      const message = readServerMessage(decodeFrame(bytes, this.#plan.protocol)) ?? PONG;
      this.#dispatch({ type: 'message', connection, message });
      // No audio can arrive before `ready`, so until then the socket is read even if the queue is full.
      if (message.event === 'ready' && this.audio.isFull) this.#pause();
    } catch (error) {
      if (!(error instanceof UnreadableFrame)) throw error;
      this.#dispatch({ type: 'unreadable', connection, problem: error.message });
    }
  }

  #pause(): void {
    this.#socket?.pause();
    this.#dispatch({ type: 'paused' });
  }

  async #query(effect: Extract<Effect, { type: 'getStatus' | 'fetchSegment' }>): Promise<void> {
    const { requestId } = effect;
    this.#request.abort();
    this.#request = new AbortController();
    const { signal } = this.#request;
    const dispatch = (event: Event): void => {
      if (!signal.aborted) this.#dispatch(event);
    };
    try {
      if (effect.type === 'getStatus') {
        const status = await this.#deps.getStatus(requestId, signal);
        dispatch({ type: 'status', status });
      } else {
        const { segmentId } = effect;
        const audio = await this.#deps.fetchSegment(requestId, segmentId, signal);
        dispatch({ type: 'stored', segmentId, audio });
      }
    } catch (error) {
      if (error instanceof Failure) dispatch({ type: 'failed', ending: failureEnding(error) });
      else if (!signal.aborted)
        this.stop(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

const PONG = { event: 'pong' } as const;

/** The timers of a conversation. */
export class Timers {
  readonly #clock: Clock;
  readonly #onTimeout: (name: TimerName) => void;
  // Deadlines are in milliseconds of the monotonic clock.
  readonly #running = new Map<TimerName, { deadline: number; readonly stop: () => void }>();

  constructor(clock: Clock, onTimeout: (name: TimerName) => void) {
    this.#clock = clock;
    this.#onTimeout = onTimeout;
  }

  start(name: TimerName, afterMs: number): void {
    const deadline = this.#clock.monotonic() + afterMs;
    const running = this.#running.get(name);
    // A restart only moves the deadline, which is checked when the timer fires.
    if (running !== undefined && running.deadline <= deadline) running.deadline = deadline;
    else this.#arm(name, deadline, afterMs);
  }

  stop(name: TimerName): void {
    this.#running.get(name)?.stop();
    this.#running.delete(name);
  }

  #arm(name: TimerName, deadline: number, afterMs: number): void {
    this.stop(name);
    const check = (): void => {
      const remainingMs = (this.#running.get(name)?.deadline ?? 0) - this.#clock.monotonic();
      if (remainingMs > 0) {
        return this.#arm(name, this.#clock.monotonic() + remainingMs, remainingMs);
      }
      this.#running.delete(name);
      return this.#onTimeout(name);
    };
    // Between two connection attempts, only these timers keep the process alive.
    const isPause = name === 'backoff' || name === 'poll';
    const stop = isPause ? this.#sleep(afterMs, check) : this.#clock.after(afterMs, check);
    this.#running.set(name, { deadline, stop });
  }

  #sleep(afterMs: number, check: () => void): () => void {
    const stopped = new AbortController();
    this.#clock.sleep(afterMs, stopped.signal).then(check, () => undefined);
    return () => stopped.abort();
  }
}
