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
import type { ModelConnection, Said } from './model-service.ts';
import { ModelService } from './model-service.ts';

type Without<Union> = Union extends unknown ? Omit<Union, 'fraction'> : never;
export type Event = Without<LiveEvent>;

export interface Line {
  /** The connection drops instead of carrying this message; counted over both directions, from 0. */
  readonly breaksAt?: number;
  readonly closeCode?: number;
  /** Changes the messages of the service in transit. */
  readonly tamper?: (said: readonly Said[]) => readonly Said[];
}

/** Runs the state machine with a model service, without sockets and time. */
export class Simulation {
  state: LiveState;
  readonly service: ModelService;
  readonly effects: Effect[] = [];
  readonly sent: ClientMessage[] = [];
  readonly timers = new Set<TimerName>();
  /** Messages that the connections carried. */
  carried = 0;
  readonly #line: Line;
  #connection: ModelConnection | undefined;
  #number = 0;
  #events: (Event | { readonly type: 'said'; readonly said: Said; readonly number: number })[] = [];

  constructor(plan: LivePlan, service: ModelService, line: Line = {}) {
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
        this.#connection = this.service.connect();
        this.#events.push({ type: 'opened', connection: this.#number });
        this.#say([{ event: 'authenticated' }]);
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
        this.#connection?.lose();
        this.#connection = undefined;
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
    this.#say(this.#connection.receive(message));
  }

  #say(said: readonly Said[]): void {
    const number = this.#number;
    const tampered = this.#line.tamper?.(said) ?? said;
    this.#events.push(...tampered.map((one) => ({ type: 'said', said: one, number }) as const));
  }

  #carry(said: Said, number: number): void {
    if (number !== this.#number || this.#connection === undefined || this.#breaks()) return;
    this.#connection.delivered(said);
    const { protocol } = this.state.plan;
    const message = readServerMessage(decodeFrame(encodeFrame(said, protocol), protocol));
    if (message) this.#apply({ type: 'message', connection: number, message });
  }

  /** Whether the connection drops here. */
  #breaks(): boolean {
    const isHere = this.carried === this.#line.breaksAt;
    this.carried += 1;
    if (isHere) {
      this.#connection?.lose();
      this.#connection = undefined;
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

export function newService(choices: Partial<ConstructorParameters<typeof ModelService>[0]> = {}) {
  return new ModelService({
    numbering: 'request',
    interrupted: 'failed',
    busyAnswers: 0,
    frameBytes: 3,
    ...choices,
  });
}
