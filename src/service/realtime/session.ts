import type { Clock } from '../../system/clock.ts';
import {
  UnreadableFrame,
  decodeFields,
  encodeFrame,
  isFrameMessage,
} from '../../realtime/frames.ts';
import type { BodyCut } from '../http/faults.ts';
import { amountsIn } from '../ledger/ledger.ts';
import { StoreError } from '../store/open-store.ts';
import type { Admission } from './admission.ts';
import { NO_EVENT } from './client-message.ts';
import type { StartMessage } from './client-message.ts';
import type {
  Outgoing,
  SessionEffect,
  SessionEvent,
  SessionTimer,
  SessionState,
} from './machine/state.ts';
import { newSession } from './machine/state.ts';
import { transition } from './machine/transition.ts';
import { startRequest, storageProblem } from './request-speaker.ts';
import type { RequestSpeaker, SessionContext } from './request-speaker.ts';

const MAX_EVENT_IDS = 10_000;

/** Runs a realtime connection: passes events to the state machine and performs the resulting effects in order. */
export class Session implements SocketListener {
  readonly #context: SessionContext;
  readonly #admission: Admission;
  readonly #socket: SessionSocket;
  readonly #writer: Writer;
  readonly #heartbeat: Heartbeat;
  readonly #onClose: () => void;
  readonly #ids = new RecentIds(MAX_EVENT_IDS);
  readonly #timers = new Map<SessionTimer, () => void>();
  readonly #queue: SessionEvent[] = [];
  #state: SessionState;
  #account: string | undefined;
  #speaker: RequestSpeaker | undefined;
  #isBusy = false;
  #sent = 0;

  constructor(
    context: SessionContext,
    admission: Admission,
    socket: SessionSocket,
    onClose: () => void,
  ) {
    const { clock } = context.speech;
    this.#context = context;
    this.#admission = admission;
    this.#socket = socket;
    this.#onClose = onClose;
    this.#account = admission.account;
    const onStall = (): void => this.#dispatch({ type: 'stalled' });
    this.#writer = new Writer(socket, clock, admission.cut, onStall);
    this.#heartbeat = new Heartbeat(socket, clock);
    this.#state = newSession(admission.protocol, context.random.uuid());
  }

  open(): void {
    const account = this.#account;
    this.#attempt(() => {
      const quota = account === undefined ? undefined : this.#quotaOf(account);
      this.#dispatch({ type: 'opened', quota });
    });
  }

  /** Closes the connection. Unless `isForced`, finishes the accepted segments first. */
  drain(isForced: boolean): void {
    this.#dispatch({ type: 'drain', isForced });
  }

  /** True until the client has authenticated. */
  get isUnauthenticated(): boolean {
    return this.#state.phase === 'authenticating';
  }

  /** True while an accepted segment is not completely spoken. */
  get isBusy(): boolean {
    return (this.#state.request?.queue.length ?? 0) > 0;
  }

  message(bytes: Uint8Array, isText: boolean): void {
    this.#heartbeat.reset();
    this.#attempt(() => this.#receive(bytes, isText));
  }

  pong(): void {
    this.#heartbeat.reset();
  }

  closed(): void {
    this.#dispatch({ type: 'closed' });
    this.#heartbeat.close();
    this.#writer.close();
    this.#onClose();
  }

  #receive(bytes: Uint8Array, isText: boolean): void {
    if (isText)
      return this.#dispatch({ type: 'unreadable', isText, problem: 'the message is text' });
    try {
      const fields = decodeFields(bytes, this.#admission.protocol);
      const message = isFrameMessage(fields) ? fields : { ...fields, event: NO_EVENT };
      const { eventId } = message;
      const isRepeated = typeof eventId === 'string' && this.#ids.add(eventId);
      this.#dispatch({ type: 'frame', message, isRepeated });
    } catch (error) {
      if (!(error instanceof UnreadableFrame)) throw error;
      this.#dispatch({ type: 'unreadable', isText: false, problem: error.message });
    }
  }

  #dispatch(event: SessionEvent): void {
    this.#queue.push(event);
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      this.#attempt(() => {
        const { state, effects } = transition(this.#state, next);
        this.#state = state;
        for (const effect of effects) this.#attempt(() => this.#perform(effect));
      });
    }
    this.#isBusy = false;
  }

  // An error ends the connection.
  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#context.speech.report({ type: 'failure', requestId: this.#admission.traceId, error });
      const code = error instanceof StoreError ? 'billing_failed' : 'internal_error';
      const problem = storageProblem(error) ?? { code, message: 'The service failed' };
      this.#dispatch({ type: 'failed', problem });
    }
  }

  #perform(effect: SessionEffect): void {
    const speaker = this.#speaker;
    switch (effect.type) {
      case 'send':
        return this.#send(effect.message);
      case 'redeem':
        return this.#redeem(effect.token);
      case 'start':
        return this.#start(effect.start);
      case 'reserve':
        return speaker && this.#dispatch(speaker.reserve(effect.segment));
      case 'speak':
        void speaker?.speak(effect.segmentId).catch((error: unknown) => {
          this.#attempt(() => {
            throw error;
          });
        });
        return;
      case 'complete':
        return speaker && this.#dispatch(speaker.complete());
      case 'abandon':
        return speaker?.abandon(effect.isFinal);
      case 'startTimer':
        return this.#startTimer(effect.name, effect.afterMs);
      case 'stopTimer':
        return this.#timers.get(effect.name)?.();
      case 'close':
        this.#writer.close();
        return this.#socket.close(effect.code);
    }
  }

  #send(message: Outgoing): void {
    const { protocol, traceId } = this.#admission;
    this.#sent += 1;
    const eventId = `${traceId}-${this.#sent}`;
    const timestamp = this.#context.speech.clock.now();
    const stamped = { ...message, eventId, traceId, timestamp };
    this.#writer.send(encodeFrame(stamped, protocol));
  }

  #redeem(token: string): void {
    const { place } = this.#admission;
    const account = place && this.#context.tickets.redeem(token, place);
    if (account === undefined) return this.#dispatch({ type: 'ticketRefused' });
    this.#account = account;
    this.#dispatch({ type: 'redeemed', quota: this.#quotaOf(account) });
  }

  #start(start: StartMessage): void {
    const { protocol, traceId } = this.#admission;
    const account = this.#account;
    if (account === undefined) throw new TypeError('start without an account');
    const { event, speaker } = startRequest(start, {
      context: this.#context,
      protocol,
      account,
      traceId,
      dispatch: (result) => this.#dispatch(result),
      drain: () => this.#writer.drain(),
    });
    this.#speaker = speaker;
    this.#dispatch(event);
  }

  #startTimer(name: SessionTimer, afterMs: number): void {
    this.#timers.get(name)?.();
    const onTimeout = (): void => this.#dispatch({ type: 'timer', name });
    this.#timers.set(name, this.#context.speech.clock.after(afterMs, onTimeout));
  }

  #quotaOf(account: string): number {
    return this.#context.speech.store.read((db) => amountsIn(db, account, 'available').quota);
  }
}

const PING_MS = 20_000;
// A count, because a time limit would end all connections when the machine wakes from sleep.
const MAX_UNANSWERED_PINGS = 3;

/** Pings the client, and terminates the connection if too many pings are unanswered. */
export class Heartbeat {
  readonly #socket: SessionSocket;
  readonly #clock: Clock;
  #unanswered = 0;
  #stop: () => void;

  constructor(socket: SessionSocket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    this.#stop = clock.after(PING_MS, () => this.#beat());
  }

  /** Resets the count of unanswered pings; call it whenever the client has sent something. */
  reset(): void {
    this.#unanswered = 0;
  }

  close(): void {
    this.#stop();
  }

  #beat(): void {
    if (this.#unanswered >= MAX_UNANSWERED_PINGS) return this.#socket.terminate();
    this.#unanswered += 1;
    this.#socket.ping();
    this.#stop = this.#clock.after(PING_MS, () => this.#beat());
  }
}

/** Stores the latest event ids of a connection, up to a maximum number. */
export class RecentIds {
  readonly #ids = new Set<string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Adds an event id. Returns true if the id was already stored. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return true;
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > this.#max && oldest !== undefined) this.#ids.delete(oldest);
    return false;
  }
}

// Above this number of unsent bytes, speech is paused: some seconds of audio.
const HIGH_WATER_BYTES = 1024 * 1024;
// Only clients that send but never read reach this number of unsent bytes.
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
/** Maximum time in milliseconds to wait until a slow client can receive the next frame. */
export const STALL_MS = 120_000;

/** Writes frames to a socket and waits while the client reads slowly. */
export class Writer {
  readonly #socket: SessionSocket;
  readonly #clock: Clock;
  // A fault rule that breaks the connection.
  readonly #cut: BodyCut | undefined;
  // Called when the client has stopped reading (docs/api/realtime.md#errors, `client_backpressure`).
  readonly #onStall: () => void;
  #sentBytes = 0;
  // True after a fault rule has broken the connection: frames are dropped.
  #isBroken = false;
  #isClosed = false;
  #waiting: (() => void)[] = [];
  #stopStall: (() => void) | undefined;

  constructor(socket: SessionSocket, clock: Clock, cut: BodyCut | undefined, onStall: () => void) {
    this.#socket = socket;
    this.#clock = clock;
    this.#cut = cut;
    this.#onStall = onStall;
  }

  send(frame: Uint8Array): void {
    if (this.#isBroken || this.#isClosed) return;
    if (this.#cut !== undefined && this.#sentBytes + frame.length > this.#cut.afterBytes) {
      this.#isBroken = true;
      return this.#socket.disconnect(this.#cut.kind);
    }
    this.#sentBytes += frame.length;
    this.#socket.send(frame, () => this.#onSent());
    if (this.#socket.bufferedAmount > MAX_UNSENT_BYTES) this.#onStall();
  }

  /** Resolves when the socket accepts more audio or the connection has ended. */
  async drain(): Promise<void> {
    const isFull = this.#socket.bufferedAmount > HIGH_WATER_BYTES;
    if (this.#isClosed || !(isFull || this.#isBroken)) return;
    this.#startStall();
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Closes the writer: it drops frames that are passed to it later. */
  close(): void {
    this.#isClosed = true;
    this.#release();
  }

  #onSent(): void {
    if (this.#isBroken) return;
    if (this.#socket.bufferedAmount <= HIGH_WATER_BYTES) this.#release();
    else if (this.#stopStall !== undefined) this.#startStall();
  }

  // Restarts the timer after each sent frame, which shows that the client is reading.
  #startStall(): void {
    this.#stopStall?.();
    this.#stopStall = this.#clock.after(STALL_MS, this.#onStall);
  }

  #release(): void {
    this.#stopStall?.();
    this.#stopStall = undefined;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

export interface SessionSocket {
  readonly bufferedAmount: number;
  /** Sends a binary message. Calls `onSent` when the message was sent or dropped. */
  send(bytes: Uint8Array, onSent: () => void): void;
  ping(): void;
  /** Sends a close frame. Terminates the connection if the client does not reply. */
  close(code: number): void;
  terminate(): void;
  /** Breaks the connection after all data was sent. Fault rules use this method. */
  disconnect(kind: 'reset' | 'truncate'): void;
}

/** Receives the events of a WebSocket. */
export interface SocketListener {
  message(bytes: Uint8Array, isText: boolean): void;
  pong(): void;
  closed(): void;
}
