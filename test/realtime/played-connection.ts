import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { encode } from '@msgpack/msgpack';
import type { WebSocket } from 'ws';
import type { Gate } from '../fault-server/gate.ts';
import { describeArrived, endingOf, readArrived } from './arrival.ts';
import type { Arrived, Ending } from './arrival.ts';
import { Arrivals } from './arrivals.ts';
import { checkMessage } from './check-message.ts';
import { Conversation, readyFields } from './conversation.ts';
import type { Caller } from './conversation.ts';
import type { Mode } from './messages.ts';
import type { RequestBook } from './request-book.ts';
import { isFields, toWire } from './wire-names.ts';
import type { Fields, Message } from './wire-names.ts';

export interface ConnectionContext {
  readonly caller: Caller;
  readonly book: RequestBook;
  readonly gate: Gate;
  readonly timeoutMs: number;
  /** Records violations of the script or the tables. */
  readonly problem: (what: string) => void;
}

/** A scripted connection, with all its messages. */
export class PlayedConnection {
  readonly handshake: IncomingMessage;
  readonly socket: WebSocket;
  readonly raw: Duplex;
  readonly context: ConnectionContext;
  /** The messages of the client, in order. */
  readonly received: Arrived[];
  /** Sent messages, with v3 field names. */
  readonly sent: Message[] = [];
  readonly gone: Promise<void>;
  readonly conversation: Conversation;
  ending: Ending | undefined;
  readonly #arrivals: Arrivals<Arrived>;
  #mode: Mode | undefined;
  /** The started request, for the ids of scripted messages. */
  #started: Fields = {};

  constructor(
    handshake: IncomingMessage,
    socket: WebSocket,
    raw: Duplex,
    context: ConnectionContext,
  ) {
    this.handshake = handshake;
    this.socket = socket;
    this.raw = raw;
    this.context = context;
    this.#arrivals = new Arrivals(context.timeoutMs, describeArrived);
    this.received = this.#arrivals.all;
    this.conversation = new Conversation(context.caller, context.book);
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('error', () => undefined);
    this.gone = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        this.ending = endingOf(code, reason);
        this.#arrivals.end(`the connection has ended: ${JSON.stringify(this.ending)}`);
        resolve();
      });
      raw.on('close', () => resolve());
    });
  }

  /** Whether the connection is open for sending. */
  get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN && this.raw.writable;
  }

  /** The messages of the client, with v3 field names. */
  get messages(): Message[] {
    return this.received.flatMap((entry) => (entry.kind === 'message' ? [entry.message] : []));
  }

  /** Takes the next arrival; undefined after a disconnect. */
  async take(wanted: string): Promise<Arrived | undefined> {
    return this.#arrivals.take(wanted);
  }

  /** Waits until the client has sent this many messages of an event on this connection. */
  async receivedMessage(event: string, count = 1): Promise<Message> {
    const found = (): Message | undefined =>
      this.messages.filter((message) => message.event === event)[count - 1];
    await this.#arrivals.until(() => found() !== undefined, `${event} number ${count}`);
    return found() ?? { event };
  }

  /** Sends a valid message of a script, with its common fields filled in. */
  sendScripted(message: Message): void {
    const { sessionId, version } = this.context.caller;
    const { requestId } = this.#started;
    const isOfRequest = !['authenticated', 'pong', 'warning'].includes(message.event);
    const common = isOfRequest ? { requestId: requestId ?? 'made', sessionId } : { sessionId };
    const particular = this.#particular(message.event);
    const whole = this.send({ ...common, ...particular, ...message });
    const place = { version, sender: 'server', mode: this.#mode } as const;
    for (const what of checkMessage(place, toWire(version, whole))) {
      this.context.problem(`in the script: ${what}`);
    }
  }

  /** Sends a message with the fields of every event. */
  send(message: Message): Message {
    const number = this.sent.length + 1;
    const { caller } = this.context;
    const envelope = {
      eventId: `${caller.sessionId}-event-${number}`,
      traceId: `${caller.sessionId}-trace`,
      timestamp: FIRST_TIMESTAMP + number,
    };
    const whole = { ...envelope, ...message };
    this.sent.push(whole);
    this.socket.send(this.encoded(whole));
    return whole;
  }

  /** Waits until a slow client has read most of the sent data. */
  async drained(): Promise<void> {
    while (this.isOpen && this.raw.writableLength > MOST_UNSENT) {
      await Promise.race([once(this.raw, 'drain').catch(() => undefined), this.gone]);
    }
  }

  encoded(message: Message): Uint8Array {
    return encode(toWire(this.context.caller.version, message));
  }

  #particular(event: string): Fields {
    const { quota, version } = this.context.caller;
    if (event === 'authenticated') {
      return { site: 'scripted', protocolVersion: version, quota: quota() };
    }
    const request = isFields(this.#started['request']) ? this.#started['request'] : {};
    return event === 'ready' ? readyFields(version, this.#mode, request) : {};
  }

  #receive(data: unknown, isBinary: boolean): void {
    const { version } = this.context.caller;
    const arrived = readArrived({ version, sender: 'client', mode: this.#mode }, data, isBinary);
    if (arrived.kind === 'message' && arrived.message.event === 'start') {
      this.#started = arrived.message;
      this.#mode = arrived.message['mode'] === 'reliable' ? 'reliable' : 'simple';
    }
    const faults =
      arrived.kind === 'message' ? arrived.faults : [`no message: ${describeArrived(arrived)}`];
    faults.forEach((what) => this.context.problem(`from the client: ${what}`));
    this.#arrivals.add(arrived);
  }
}

/** The server waits above this many unread bytes. */
const MOST_UNSENT = 4_000_000;
const FIRST_TIMESTAMP = 1_700_000_000_000;
