import type { Clock } from '../effects/clock.ts';
import type { Random } from '../effects/random.ts';
import type { Billed } from '../errors/failure.ts';
import { Failure } from '../errors/failure.ts';
import { UnreadableFrame, decodeFrame, encodeFrame } from '../realtime/frames.ts';
import { AudioQueue } from './audio-queue.ts';
import { endingFailure, failureEnding, billedSoFar } from './endings.ts';
import type { HeardMessage, RequestFacts } from './server-message.ts';
import { readServerMessage } from './server-message.ts';
import { requestIdOf } from './settle.ts';
import type { LiveSocket, OpenSocket, SocketEvent } from './handshake.ts';
import type { Effect, LiveEvent, LivePlan, LiveState, TimerName } from './state.ts';
import { newConversation } from './state.ts';
import { transition } from './transition.ts';

/** What is asked over HTTP when a line broke; both throw a Failure. */
export interface Questions {
  /** Undefined: the service does not know the request. */
  status(requestId: string, signal: AbortSignal): Promise<RequestFacts | undefined>;
  segment(requestId: string, segmentId: string, signal: AbortSignal): Promise<Uint8Array>;
}

/** What is worth telling on the way. */
export type LiveNotice = Extract<Effect, { type: 'notice' | 'reconnecting' }>;

export interface ConversationDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly openSocket: OpenSocket;
  readonly questions: Questions;
  readonly onNotice: (notice: LiveNotice) => void;
}

type Without<Event> = Event extends unknown ? Omit<Event, 'fraction'> : never;
type Happening = Without<LiveEvent>;

/**
 * A realtime conversation at work (docs/api/realtime.md): the pure machine with a socket, a clock, chance and
 * HTTP. Text goes in as fast as it is taken, audio comes out once and in order; its reader slows the service.
 */
export class Conversation {
  /** Throws a Failure when the conversation does not end well, after all that came. */
  readonly audio: AudioQueue;
  readonly #plan: LivePlan;
  readonly #deps: ConversationDeps;
  readonly #timers: Timers;
  /** The last question; the machine waits for no other. */
  #asked = new AbortController();
  #state: LiveState;
  #socket: LiveSocket | undefined;
  #events: Happening[] = [];
  #isBusy = false;
  /** Resolves when more text is taken. */
  #room: Promise<void> | undefined;
  #makeRoom: () => void = ignore;

  constructor(plan: LivePlan, deps: ConversationDeps) {
    this.#plan = plan;
    this.#deps = deps;
    this.#state = newConversation(plan);
    this.#timers = new Timers(deps.clock, (name) => this.#happen({ type: 'timer', name }));
    this.audio = new AudioQueue({
      full: () => this.#hold(),
      room: () => {
        this.#socket?.resume();
        this.#happen({ type: 'released' });
      },
    });
  }

  /** The id under which the service knows what is spoken now. */
  get requestId(): string {
    return requestIdOf(this.#state);
  }

  /** From 1; a long text goes on in another session. */
  get session(): number {
    return this.#state.session;
  }

  /** Whether anything of it was charged so far, as far as that is known. */
  get billed(): Billed {
    return billedSoFar(this.#state);
  }

  begin(): void {
    this.#happen({ type: 'begin' });
  }

  /** Has a text spoken; resolves when more is taken. */
  async say(text: string): Promise<void> {
    this.#happen({ type: 'text', text });
    await this.#room;
  }

  /** There is no more text. */
  finish(): void {
    this.#happen({ type: 'end' });
  }

  /** Ends it now, whatever is still to come; who reads the audio is told why. */
  stop(error: Error): void {
    this.audio.stop(error);
    this.#happen({ type: 'cancel' });
  }

  #happen(event: Happening): void {
    this.#events.push(event);
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
      const { effects, state } = transition(this.#state, {
        ...next,
        fraction: this.#deps.random.fraction(),
      });
      this.#state = state;
      for (const effect of effects) this.#perform(effect);
    }
    this.#isBusy = false;
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case 'connect':
        return this.#connect(effect.connection);
      case 'send':
        return this.#socket?.send(encodeFrame(effect.message, this.#plan.protocol));
      case 'close':
        return this.#leave((socket) => socket.close(effect.code));
      case 'abort':
        return this.#leave((socket) => socket.abort());
      case 'startTimer':
        return this.#timers.start(effect.name, effect.afterMs);
      case 'stopTimer':
        return this.#timers.stop(effect.name);
      case 'audio':
        return this.audio.push(effect.bytes);
      case 'pauseInput':
      case 'resumeInput':
        return this.#boundText(effect.type === 'pauseInput');
      case 'askStatus':
      case 'fetchSegment':
        return void this.#ask(effect);
      case 'notice':
      case 'reconnecting':
        return this.#deps.onNotice(effect);
      case 'ended':
        return this.#end(effect);
    }
  }

  #connect(connection: number): void {
    this.#socket = this.#deps.openSocket((event) => this.#hear(connection, event));
  }

  #leave(how: (socket: LiveSocket) => void): void {
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket !== undefined) how(socket);
  }

  #hear(connection: number, event: SocketEvent): void {
    switch (event.type) {
      case 'frame':
        return this.#read(connection, event.bytes);
      case 'opened':
        return this.#happen({ type: 'opened', connection });
      case 'refused': {
        const { failure, isRetryable, retryAfterMs } = event;
        const ending = failureEnding(failure);
        return this.#happen({ type: 'refused', connection, isRetryable, ending, retryAfterMs });
      }
      case 'unreadable':
      case 'closed':
        return this.#happen({ ...event, connection });
    }
  }

  #read(connection: number, bytes: Uint8Array): void {
    const message = readFrame(bytes, this.#plan);
    if (message instanceof UnreadableFrame) {
      this.#happen({ type: 'unreadable', connection, problem: message.message });
      return;
    }
    this.#happen({ type: 'message', connection, message: message ?? ALIVE });
    // Until now no audio could come, and the service was not to wait for an answer.
    if (message?.event === 'ready' && this.audio.isFull) this.#hold();
  }

  #hold(): void {
    this.#socket?.pause();
    this.#happen({ type: 'held' });
  }

  #boundText(isFull: boolean): void {
    if (isFull) {
      this.#room ??= new Promise((resolve) => {
        this.#makeRoom = resolve;
      });
      return;
    }
    this.#makeRoom();
    this.#room = undefined;
  }

  async #ask(question: Extract<Effect, { type: 'askStatus' | 'fetchSegment' }>): Promise<void> {
    const { requestId } = question;
    const { questions } = this.#deps;
    this.#asked.abort();
    this.#asked = new AbortController();
    const { signal } = this.#asked;
    const answered = (event: Happening): void => {
      if (!signal.aborted) this.#happen(event);
    };
    try {
      if (question.type === 'askStatus') {
        const facts = await questions.status(requestId, signal);
        answered({ type: 'status', facts });
      } else {
        const { segmentId } = question;
        const audio = await questions.segment(requestId, segmentId, signal);
        answered({ type: 'stored', segmentId, audio });
      }
    } catch (error) {
      if (error instanceof Failure) answered({ type: 'failed', ending: failureEnding(error) });
      else if (!signal.aborted)
        this.stop(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #end({ ending }: Extract<Effect, { type: 'ended' }>): void {
    this.#asked.abort();
    this.#boundText(false);
    this.audio.end(ending.exit === 'ok' ? undefined : endingFailure(ending, this.requestId));
  }
}

/** What a service says that a client does not know shows that it is there, and nothing else. */
const ALIVE = { event: 'pong' } as const;

function readFrame(
  bytes: Uint8Array,
  { protocol }: LivePlan,
): HeardMessage | UnreadableFrame | undefined {
  try {
    return readServerMessage(decodeFrame(bytes, protocol));
  } catch (error) {
    if (error instanceof UnreadableFrame) return error;
    throw error;
  }
}

function ignore(): void {}

interface Timer {
  /** When it runs out, on the monotonic clock. */
  deadline: number;
  readonly stop: () => void;
}

/**
 * The timers of a conversation. One that is started anew is only moved, since the watch over silence is
 * with every message: it looks at its deadline when it would have run out.
 */
export class Timers {
  readonly #clock: Clock;
  readonly #ranOut: (name: TimerName) => void;
  readonly #running = new Map<TimerName, Timer>();

  constructor(clock: Clock, ranOut: (name: TimerName) => void) {
    this.#clock = clock;
    this.#ranOut = ranOut;
  }

  start(name: TimerName, afterMs: number): void {
    const deadline = this.#clock.monotonic() + afterMs;
    const running = this.#running.get(name);
    if (running !== undefined && running.deadline <= deadline) running.deadline = deadline;
    else this.#arm(name, deadline, afterMs);
  }

  stop(name: TimerName): void {
    this.#running.get(name)?.stop();
    this.#running.delete(name);
  }

  #arm(name: TimerName, deadline: number, afterMs: number): void {
    this.stop(name);
    const look = (): void => {
      const leftMs = (this.#running.get(name)?.deadline ?? 0) - this.#clock.monotonic();
      if (leftMs > 0) return this.#arm(name, this.#clock.monotonic() + leftMs, leftMs);
      this.#running.delete(name);
      return this.#ranOut(name);
    };
    const stop = RESTS.has(name) ? this.#rest(afterMs, look) : this.#clock.after(afterMs, look);
    this.#running.set(name, { deadline, stop });
  }

  /** Between two attempts nothing else keeps the process alive. */
  #rest(afterMs: number, call: () => void): () => void {
    const stopped = new AbortController();
    this.#clock.sleep(afterMs, stopped.signal).then(call, () => undefined);
    return () => stopped.abort();
  }
}

const RESTS: ReadonlySet<TimerName> = new Set(['backoff', 'poll']);
