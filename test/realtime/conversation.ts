import type { Arrived } from './arrival.ts';
import { messageRow } from './messages.ts';
import type { Version } from './messages.ts';
import { ReliableSpeaker, fault, pcmFields, reply, speakSimple } from './speakers.ts';
import type { Speaker } from './speakers.ts';
import { statusOf } from './request-book.ts';
import type { RequestBook, SpokenRequest } from './request-book.ts';
import { isFields } from './wire-names.ts';
import type { Fields, Message } from './wire-names.ts';

export interface Caller {
  readonly version: Version;
  readonly sessionId: string;
  /** Whether the handshake had the key. */
  readonly isAuthenticated: boolean;
  /** Uses the ticket of an `auth` event; false if it is invalid or was used. */
  readonly redeem: (ticket: string) => boolean;
  readonly quota: () => number;
}

/**
 * One connection of the service as the spec defines it: takes client events and returns server events, with v3 field
 * names. A message counts as delivered after {@link noteSent}.
 */
export class Conversation {
  /** The close code; undefined while the connection stays open. */
  closeCode: number | undefined;
  request: SpokenRequest | undefined;
  readonly #caller: Caller;
  readonly #book: RequestBook;
  #isAuthenticated: boolean;
  #speaker: Speaker | undefined;

  constructor(caller: Caller, book: RequestBook) {
    this.#caller = caller;
    this.#book = book;
    this.#isAuthenticated = caller.isAuthenticated;
  }

  /** Returns the first messages of the service. */
  greet(): Message[] {
    return this.#isAuthenticated ? [this.#authenticated()] : [];
  }

  receive(arrived: Arrived): Message[] {
    if (arrived.kind === 'message') {
      return this.#receive(arrived.message, arrived.faults);
    }
    if (arrived.kind === 'unreadable') {
      return [fault('invalid_messagepack', { terminal: true })];
    }
    return arrived.kind === 'text' ? [fault('invalid_message', { terminal: true })] : [];
  }

  /** Called when a message was sent to the client: only then charges, completions and ends count. */
  noteSent(message: Message): void {
    const segment = this.request?.segments.find((one) => one.segmentId === message['segmentId']);
    if (message.event === 'audio' && this.request !== undefined && segment !== undefined) {
      this.#book.charge(this.request, segment);
    }
    if (message.event === 'segment_completed' && segment !== undefined) {
      segment.state = 'completed';
    }
    if (message.event === 'finish') {
      this.#finished(message['reason'] === 'completed');
    }
    if (message.event === 'request_status') {
      this.request = undefined;
      this.closeCode = 1000;
    }
    if (message.event === 'error' && message['terminal'] === true) {
      this.closeCode = 1008;
    }
  }

  /** Called when the connection has ended. */
  lost(): void {
    if (this.request?.state === 'running') {
      this.#book.interrupt(this.request);
    }
  }

  #finished(isCompleted: boolean): void {
    if (this.request !== undefined) {
      this.request.state = isCompleted ? 'completed' : 'failed_retryable';
      for (const segment of this.request.segments) {
        segment.state = segment.isCharged && isCompleted ? 'completed' : segment.state;
      }
    }
    this.closeCode = 1000;
  }

  #receive(message: Message, faults: readonly string[]): Message[] {
    const inReplyTo = message['eventId'];
    if (!this.#isAuthenticated && message.event !== 'auth') {
      return [fault('authentication_required', { inReplyTo, terminal: true })];
    }
    const row = messageRow('client', message.event);
    const { mode } = this.request ?? {};
    if (row !== undefined && mode !== undefined && !row.modes.includes(mode)) {
      return [fault('invalid_state', { inReplyTo })];
    }
    if (faults.length > 0) {
      return [fault('invalid_message', { inReplyTo, message: faults.join('; ') })];
    }
    return this.#dispatch(message);
  }

  #dispatch(message: Message): Message[] {
    const { event } = message;
    const inReplyTo = message['eventId'];
    if (event === 'auth') {
      return this.#authenticate(message);
    }
    if (event === 'ping') {
      const { sessionId } = this.#caller;
      return [reply('pong', { inReplyTo, sessionId, requestId: this.request?.requestId })];
    }
    if (event === 'start') {
      return this.#speaker === undefined
        ? this.#start(message)
        : [fault('invalid_state', { inReplyTo })];
    }
    return this.#speaker?.receive(message) ?? [fault('invalid_state', { inReplyTo })];
  }

  #authenticate({ token, eventId: inReplyTo }: Message): Message[] {
    if (this.#isAuthenticated) {
      return [fault('already_authenticated', { inReplyTo })];
    }
    if (!this.#caller.redeem(String(token))) {
      return [fault('authentication_failed', { inReplyTo, terminal: true })];
    }
    this.#isAuthenticated = true;
    return [{ ...this.#authenticated(), inReplyTo }];
  }

  #authenticated(): Message {
    const { sessionId, version, quota } = this.#caller;
    return reply('authenticated', {
      sessionId,
      site: 'scripted',
      protocolVersion: version,
      quota: quota(),
    });
  }

  #start(start: Message): Message[] {
    const { requestId, mode, eventId: inReplyTo } = start;
    const id = typeof requestId === 'string' ? requestId : `made-${this.#caller.sessionId}`;
    const known = this.#book.requests.get(id);
    const request = isFields(start['request']) ? start['request'] : {};
    if (known === undefined) {
      const begun = this.#book.begin(id, mode === 'reliable' ? mode : 'simple', request);
      return this.#speak(begun, inReplyTo);
    }
    if (!isSame(known, mode ?? 'simple', request)) {
      return [fault('idempotency_conflict', { inReplyTo, terminal: true, requestId: id })];
    }
    if (start['retryFailed'] === true && known.state === 'failed_retryable') {
      known.state = 'running';
      return this.#speak(known, inReplyTo);
    }
    return [reply('request_status', { inReplyTo, ...statusOf(known) })];
  }

  #speak(request: SpokenRequest, inReplyTo: unknown): Message[] {
    const { sessionId, quota } = this.#caller;
    this.request = request;
    const speaking = { request, sessionId, quota, book: this.#book };
    this.#speaker =
      request.mode === 'reliable' ? new ReliableSpeaker(speaking) : speakSimple(speaking);
    return [this.#ready(request, inReplyTo)];
  }

  #ready({ format, mode, request, requestId }: SpokenRequest, inReplyTo: unknown): Message {
    const { sessionId, version } = this.#caller;
    const particular = readyFields(version, mode, request);
    return reply('ready', { inReplyTo, requestId, sessionId, ...particular, ...pcmFields(format) });
  }
}

/** Returns the fields of `ready` that follow from a `start`. */
export function readyFields(version: Version, mode: unknown, request: Fields): Fields {
  const { modelId, voiceId, format = 'mp3' } = request;
  const ofVersion =
    version === 'v3' ? { protocolVersion: version, warnings: [] } : { provider: 'scripted' };
  return { mode, modelId, voiceId, format, effectiveRequest: { ...request, format }, ...ofVersion };
}

function isSame(known: SpokenRequest, mode: unknown, request: SpokenRequest['request']): boolean {
  return known.mode === mode && normalized(known.request) === normalized(request);
}

function normalized(fields: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(fields).toSorted();
  return JSON.stringify(names.map((name) => [name, fields[name]]));
}
