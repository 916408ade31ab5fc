import type { Random } from '../../effects/random.ts';
import { UnreadableFrame } from '../../frames/check-frame.ts';
import type { FrameMessage } from '../../frames/codec.ts';
import { decodeFields, encodeFrame, isFrameMessage } from '../../frames/codec.ts';
import { amountsIn } from '../billing/ledger.ts';
import { StoreError } from '../store/store-error.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Admission } from './admission.ts';
import { beginRequest } from './begin-request.ts';
import { Heartbeat } from './heartbeat.ts';
import type { LiveSocket, SocketListener } from './live-socket.ts';
import type { Outgoing, SessionEffect, SessionEvent, SessionTimer } from './machine/events.ts';
import type { SessionState } from './machine/state.ts';
import { newSession } from './machine/state.ts';
import { transition } from './machine/transition.ts';
import { Outlet } from './outlet.ts';
import { RecentIds } from './recent-ids.ts';
import type { RequestSpeaker, SpeakerContext } from './request-speaker.ts';
import type { StartMessage } from './client-message.ts';
import { NO_EVENT } from './client-message.ts';
import type { Tickets } from './tickets.ts';

export interface SessionContext extends SpeakerContext {
  readonly random: Random;
  readonly catalogue: Catalogue;
  readonly tickets: Tickets;
}

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
  drain(isHurried: boolean): void {
    this.#tell({ type: 'drain', isHurried });
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
      case 'begin':
        return this.#begin(effect.start);
      case 'reserve':
        return this.#with((speaker) => this.#tell(speaker.reserve(effect.segment)));
      case 'speak':
        return this.#with((speaker) => this.#speak(speaker, effect.segmentId));
      case 'complete':
        return this.#with((speaker) => this.#tell(speaker.complete()));
      case 'abandon':
        return this.#with((speaker) => speaker.abandon(effect.isForGood));
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
