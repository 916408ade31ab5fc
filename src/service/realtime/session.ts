import type { Clock } from '../../effects/clock.ts';
import {
  UnreadableFrame,
  decodeFields,
  encodeFrame,
  isFrameMessage,
} from '../../realtime/frames.ts';
import type { FrameMessage } from '../../realtime/frames.ts';
import type { BodyCut } from '../http/faults.ts';
import { amountsIn } from '../ledger/ledger.ts';
import { StoreError } from '../store/open-store.ts';
import type { Admission } from './admission.ts';
import { beginRequest } from './begin-request.ts';
import type { SessionContext } from './begin-request.ts';
import type { StartMessage } from './client-message.ts';
import { NO_EVENT } from './client-message.ts';
import type {
  Outgoing,
  SessionEffect,
  SessionEvent,
  SessionTimer,
  SessionState,
} from './machine/state.ts';
import { newSession } from './machine/state.ts';
import { transition } from './machine/transition.ts';
import type { RequestSpeaker } from './request-speaker.ts';

/** Ids of a connection that are compared. */
const MOST_IDS = 10_000;

/**
 * One realtime connection: carries events to the machine and does what that says. Effects are done in
 * order, and what comes of one is an event behind those that wait.
 */
export class Session implements SocketListener {
  readonly #context: SessionContext;
  readonly #admission: Admission;
  readonly #socket: LiveSocket;
  readonly #outlet: Outlet;
  readonly #heartbeat: Heartbeat;
  readonly #onClose: () => void;
  readonly #ids = new RecentIds(MOST_IDS);
  readonly #timers = new Map<SessionTimer, () => void>();
  readonly #waiting: SessionEvent[] = [];
  #state: SessionState;
  #account: string | undefined;
  #speaker: RequestSpeaker | undefined;
  #isWorking = false;
  #sent = 0;

  constructor(
    context: SessionContext,
    {
      admission,
      socket,
      onClose,
    }: { admission: Admission; socket: LiveSocket; onClose: () => void },
  ) {
    const { clock, random } = context;
    this.#context = context;
    this.#admission = admission;
    this.#socket = socket;
    this.#onClose = onClose;
    this.#account = admission.account;
    const onStall = (): void => this.#tell({ type: 'stalled' });
    this.#outlet = new Outlet({ socket, clock, cut: admission.cut, onStall });
    this.#heartbeat = new Heartbeat(socket, clock);
    this.#state = newSession(admission.protocol, random.uuid());
  }

  /** The connection is open. */
  open(): void {
    const account = this.#account;
    this.#attempt(() => {
      const quota = account === undefined ? undefined : this.#quotaOf(account);
      this.#tell({ type: 'opened', quota });
    });
  }

  /** Finishes what was accepted, or not even that, and ends. */
  drain(isForced: boolean): void {
    this.#tell({ type: 'drain', isForced });
  }

  /** Whether nobody knows yet who it is. */
  get isUnknown(): boolean {
    return this.#state.phase === 'authenticating';
  }

  /** Whether it has something to finish. */
  get isBusy(): boolean {
    return (this.#state.request?.queue.length ?? 0) > 0;
  }

  message(bytes: Uint8Array, isText: boolean): void {
    this.#heartbeat.heard();
    this.#attempt(() => this.#receive(bytes, isText));
  }

  pong(): void {
    this.#heartbeat.heard();
  }

  closed(): void {
    this.#tell({ type: 'closed' });
    this.#heartbeat.close();
    this.#outlet.close();
    this.#onClose();
  }

  #receive(bytes: Uint8Array, isText: boolean): void {
    if (isText) return this.#tell({ type: 'unreadable', isText, problem: 'it is text' });
    const message = this.#read(bytes);
    if (message === undefined) return;
    const { eventId } = message;
    const isRepeated = typeof eventId === 'string' && this.#ids.note(eventId);
    this.#tell({ type: 'frame', message, isRepeated });
  }

  #read(bytes: Uint8Array): FrameMessage | undefined {
    try {
      const fields = decodeFields(bytes, this.#admission.protocol);
      return isFrameMessage(fields) ? fields : { ...fields, event: NO_EVENT };
    } catch (error) {
      if (!(error instanceof UnreadableFrame)) throw error;
      this.#tell({ type: 'unreadable', isText: false, problem: error.message });
      return undefined;
    }
  }

  #tell(event: SessionEvent): void {
    this.#waiting.push(event);
    if (this.#isWorking) return;
    this.#isWorking = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#attempt(() => this.#step(next));
    }
    this.#isWorking = false;
  }

  #step(event: SessionEvent): void {
    const { state, effects } = transition(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#attempt(() => this.#do(effect));
  }

  /** What fails here is our failure, and ends the connection in order. */
  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#context.report({ type: 'failure', requestId: this.#admission.traceId, error });
      const isStore = error instanceof StoreError;
      const code = isStore ? 'billing_failed' : 'internal_error';
      this.#tell({ type: 'failed', problem: { code, message: 'The service failed' } });
    }
  }

  #do(effect: SessionEffect): void {
    switch (effect.type) {
      case 'send':
        return this.#send(effect.message);
      case 'redeem':
        return this.#redeem(effect.token);
      case 'start':
        return this.#begin(effect.start);
      case 'reserve':
        return this.#with((speaker) => this.#tell(speaker.reserve(effect.segment)));
      case 'speak':
        return this.#with((speaker) => this.#speak(speaker, effect.segmentId));
      case 'complete':
        return this.#with((speaker) => this.#tell(speaker.complete()));
      case 'abandon':
        return this.#with((speaker) => speaker.abandon(effect.isFinal));
      case 'startTimer':
        return this.#startTimer(effect.name, effect.afterMs);
      case 'stopTimer':
        return this.#timers.get(effect.name)?.();
      case 'close':
        this.#outlet.close();
        return this.#socket.close(effect.code);
    }
  }

  #with(work: (speaker: RequestSpeaker) => void): void {
    if (this.#speaker !== undefined) work(this.#speaker);
  }

  #speak(speaker: RequestSpeaker, segmentId: string): void {
    speaker.speak(segmentId).catch((error: unknown) => {
      this.#attempt(() => {
        throw error;
      });
    });
  }

  #send(message: Outgoing): void {
    const { protocol, traceId } = this.#admission;
    this.#sent += 1;
    const eventId = `${traceId}-${this.#sent}`;
    const timestamp = this.#context.clock.now();
    const whole = { ...message, eventId, traceId, timestamp };
    this.#outlet.send(encodeFrame(whole, protocol));
  }

  #redeem(token: string): void {
    const { place } = this.#admission;
    const account = place && this.#context.tickets.redeem(token, place);
    if (account === undefined) return this.#tell({ type: 'ticketRefused' });
    this.#account = account;
    this.#tell({ type: 'redeemed', quota: this.#quotaOf(account) });
  }

  #begin(start: StartMessage): void {
    const { protocol, traceId } = this.#admission;
    const account = this.#account;
    if (account === undefined) throw new TypeError('nobody has begun');
    const begun = beginRequest(start, {
      context: this.#context,
      protocol,
      account,
      traceId,
      tell: (event) => this.#tell(event),
      room: () => this.#outlet.room(),
    });
    this.#speaker = begun.speaker;
    this.#tell(begun.event);
  }

  #startTimer(name: SessionTimer, afterMs: number): void {
    this.#timers.get(name)?.();
    const ring = (): void => this.#tell({ type: 'timer', name });
    this.#timers.set(name, this.#context.clock.after(afterMs, ring));
  }

  #quotaOf(account: string): number {
    return this.#context.store.read((db) => amountsIn(db, account, 'available')).quota;
  }
}

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

/** Event ids that a connection has used: the latest ones, so that no connection takes ever more memory. */
export class RecentIds {
  readonly #ids = new Set<string>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Notes an id; gives whether it was used before. */
  note(id: string): boolean {
    if (this.#ids.has(id)) return true;
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > this.#most && oldest !== undefined) this.#ids.delete(oldest);
    return false;
  }
}

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
  /** Nobody reads what is sent (docs/api/realtime.md#errors, `client_backpressure`). */
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

/** The WebSocket of a connection, as a session uses it. */
export interface LiveSocket {
  /** Bytes that wait to be sent. */
  readonly bufferedAmount: number;
  /** Sends a binary message; `sent` is called when it has left this program, or never will. */
  send(bytes: Uint8Array, sent: () => void): void;
  ping(): void;
  /** Says goodbye, and is gone soon after, answered or not. */
  close(code: number): void;
  /** Is gone at once. */
  terminate(): void;
  /** Breaks off without a goodbye, when everything sent has left: a fault rule wants that. */
  breakOff(kind: 'reset' | 'truncate'): void;
}

/** What a session wants to know of its WebSocket. */
export interface SocketListener {
  message(bytes: Uint8Array, isText: boolean): void;
  /** The other side answered a ping. */
  pong(): void;
  closed(): void;
}
