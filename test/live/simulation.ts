import { Check } from 'typebox/schema';
import type { ClientMessage } from '../../src/contract/realtime/client-messages.ts';
import { CLIENT_MESSAGES } from '../../src/contract/realtime/client-messages.ts';
import { decodeFrame, encodeFrame } from '../../src/realtime/frames.ts';
import type {
  Effect,
  LiveEnding,
  LiveEvent,
  TimerName,
  LivePlan,
  LiveState,
} from '../../src/live/state.ts';
import { liveTimeouts, newConversation } from '../../src/live/state.ts';
import { readRequestStatus, readServerMessage } from '../../src/live/server-message.ts';
import { transition } from '../../src/live/transition.ts';
import { Conversation } from '../realtime/conversation.ts';
import type { Version } from '../realtime/messages.ts';
import { RequestBook, segmentAudio, statusOf } from '../realtime/request-book.ts';
import { reply } from '../realtime/speakers.ts';
import type { Message } from '../realtime/wire-names.ts';

type Without<Union> = Union extends unknown ? Omit<Union, 'fraction'> : never;
export type Event = Without<LiveEvent>;

export interface Line {
  /** The connection drops instead of carrying this message; counted over both directions, from 0. */
  readonly breaksAt?: number;
  readonly closeCode?: number;
  /** Changes the messages of the service in transit. */
  readonly tamper?: (said: readonly Message[]) => readonly Message[];
}

/** Runs the state machine with a model service, without sockets and time. */
export class Simulation {
  state: LiveState;
  readonly service: Service;
  readonly effects: Effect[] = [];
  readonly sent: ClientMessage[] = [];
  readonly timers = new Set<TimerName>();
  /** Messages that the connections carried. */
  carried = 0;
  readonly #line: Line;
  #connection: Conversation | undefined;
  #number = 0;
  #events: (Event | { readonly type: 'said'; readonly said: Message; readonly number: number })[] =
    [];

  constructor(plan: LivePlan, service: Service, line: Line = {}) {
    this.state = newConversation(plan);
    this.service = service;
    this.#line = line;
  }

  get heard(): string {
    const parts = this.effects.flatMap((one) => (one.type === 'audio' ? [one.bytes] : []));
    return Buffer.concat(parts).toString();
  }

  get ending(): LiveEnding | undefined {
    return this.state.ending;
  }

  /** Speaks texts until the conversation ends; time advances when nothing else happens. */
  speak(texts: readonly string[]): this {
    this.happen({ type: 'begin' });
    for (const text of texts) this.happen({ type: 'text', text });
    this.happen({ type: 'end' });
    for (let turn = 0; turn < 1_000 && this.state.phase !== 'ended'; turn += 1) {
      const timer = [...this.timers].find((name) => name === 'backoff' || name === 'poll');
      const other = [...this.timers].find((name) => name !== 'ping');
      if (timer === undefined && other === undefined) break;
      this.happen({ type: 'timer', name: timer ?? other ?? 'reply' });
    }
    return this;
  }

  happen(...events: readonly Event[]): this {
    this.#events.push(...events);
    for (let event = this.#events.shift(); event; event = this.#events.shift()) {
      if (event.type === 'said') this.#carry(event.said, event.number);
      else this.#apply(event);
    }
    return this;
  }

  #apply(event: Event): void {
    if (event.type === 'timer') this.timers.delete(event.name);
    const step = transition(this.state, { ...event, fraction: 0.5 });
    this.state = step.state;
    this.effects.push(...step.effects);
    for (const effect of step.effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case 'connect':
        this.#number = effect.connection;
        this.#connection = this.service.connect(this.state.plan.protocol);
        this.#events.push({ type: 'opened', connection: this.#number });
        this.#say(this.#connection.greet());
        break;
      case 'send':
        this.#send(effect.message);
        break;
      case 'startTimer':
        this.timers.add(effect.name);
        break;
      case 'stopTimer':
        this.timers.delete(effect.name);
        break;
      case 'abort':
      case 'close':
        this.#lose();
        break;
      case 'getStatus': {
        const status = this.service.status(effect.requestId);
        this.#events.push({ type: 'status', status: status && readRequestStatus(status) });
        break;
      }
      case 'fetchSegment': {
        const { requestId, segmentId } = effect;
        const audio = this.service.stored(requestId, segmentId) ?? new Uint8Array();
        this.#events.push({ type: 'stored', segmentId, audio });
        break;
      }
      case 'audio':
      case 'ended':
      case 'notice':
      case 'pauseInput':
      case 'reconnecting':
      case 'resumeInput':
        break;
    }
  }

  #send(message: ClientMessage): void {
    const { protocol } = this.state.plan;
    const wire: unknown = decodeFrame(encodeFrame(message, protocol), protocol);
    if (!Check(CLIENT_MESSAGES[protocol][message.event], wire)) {
      throw new Error(`not a message of ${protocol}: ${JSON.stringify(wire)}`);
    }
    this.sent.push(message);
    if (this.#connection === undefined || this.#breaks()) return;
    const arrived = { kind: 'message', message: { ...message }, wire: {}, faults: [] } as const;
    this.#say(this.#connection.receive(arrived));
  }

  #say(said: readonly Message[]): void {
    const number = this.#number;
    const tampered = this.#line.tamper?.(said) ?? said;
    this.#events.push(...tampered.map((one) => ({ type: 'said', said: one, number }) as const));
  }

  #carry(said: Message, number: number): void {
    if (number !== this.#number || this.#connection === undefined || this.#breaks()) return;
    this.#connection.noteSent(said);
    const { protocol } = this.state.plan;
    const message = readServerMessage(decodeFrame(encodeFrame(said, protocol), protocol));
    if (message) this.#apply({ type: 'message', connection: number, message });
  }

  #lose(): void {
    if (this.#connection !== undefined) this.service.lose(this.#connection);
    this.#connection = undefined;
  }

  /** Whether the connection drops here. */
  #breaks(): boolean {
    const isHere = this.carried === this.#line.breaksAt;
    this.carried += 1;
    if (isHere) {
      this.#lose();
      const { closeCode: code = 1006 } = this.#line;
      this.#events.unshift({ type: 'closed', connection: this.#number, code });
    }
    return isHere;
  }
}

export const RELIABLE: LivePlan = {
  protocol: 'v3',
  mode: 'reliable',
  requestId: 'request',
  request: { voiceId: 'voice', modelId: 'model' },
  maxRetries: 4,
  timeouts: liveTimeouts({}),
};
export const SIMPLE: LivePlan = {
  protocol: 'v3',
  mode: 'simple',
  requestId: 'simple',
  request: { voiceId: 'voice', modelId: 'model' },
  maxRetries: 4,
  timeouts: liveTimeouts({}),
};

type Service = ReturnType<typeof newService>;

/** A service without sockets, whose audio is the text. `busyAnswers` status requests after a drop get `running`. */
export function newService({
  busyAnswers = 0,
  frameBytes = 3,
  interrupted = 'failed',
  numbering = 'request',
}: {
  readonly busyAnswers?: number;
  readonly frameBytes?: number;
  readonly interrupted?: 'stored' | 'failed';
  readonly numbering?: 'request' | 'segment';
} = {}) {
  const framesOf = ({ text }: { readonly text: string }): Buffer[] => {
    const bytes = Buffer.from(text);
    return Array.from({ length: Math.ceil(bytes.length / frameBytes) }, (_none, index) =>
      bytes.subarray(index * frameBytes, (index + 1) * frameBytes),
    );
  };
  const book = new RequestBook({
    framesOf,
    numbering,
    interrupted,
    afterDrop: 'failed_retryable',
  });
  const { requests } = book;
  let busy = 0;
  let sessions = 0;
  return {
    requests,
    /** How often each segment was charged. */
    get charges(): readonly number[] {
      const segments = [...requests.values()].flatMap((request) => request.segments);
      return segments.map(({ isCharged }) => Number(isCharged));
    },
    status(requestId: string): Message | undefined {
      const request = requests.get(requestId);
      if (request === undefined) return undefined;
      const status = reply('request_status', statusOf(request));
      if (busy === 0) return status;
      busy -= 1;
      return { ...status, state: 'running', retryable: false };
    },
    stored(requestId: string, segmentId: string): Uint8Array | undefined {
      const segments = requests.get(requestId)?.segments ?? [];
      const found = segments.find((one) => one.segmentId === segmentId);
      return found?.state === 'completed' ? segmentAudio(found) : undefined;
    },
    connect(version: Version): Conversation {
      sessions += 1;
      const caller = { version, sessionId: `session-${sessions}`, isAuthenticated: true };
      return new Conversation({ ...caller, redeem: () => false, quota: () => 1_000 }, book);
    },
    lose(connection: Conversation): void {
      if (connection.request?.state === 'running') busy = busyAnswers;
      connection.lost();
    },
  };
}
