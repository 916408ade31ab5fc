import { WebSocket } from 'ws';
import type { Duplex } from 'node:stream';
import { encode } from '@msgpack/msgpack';
import { onTestFinished } from 'vitest';
import { audioIn, describeArrived, describeMessage, endingOf, readArrived } from './arrival.ts';
import type { IncomingRequest, Arrived, Ending } from './arrival.ts';
import { Arrivals } from './arrivals.ts';
import { emptyFragments, fragmented, writeGiantFrame, written } from './frames.ts';
import type { Mode, Version } from './messages.ts';
import { toWire } from './wire-names.ts';
import type { Fields, Message } from './wire-names.ts';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { SUBPROTOCOLS } from './messages.ts';

export interface ClientOptions extends HandshakeOptions {
  /** The timeout of every wait. */
  readonly timeoutMs?: number;
}

/**
 * Opens a realtime connection until the test ends. Rejects with {@link HandshakeRefused} for any HTTP response but 101.
 */
export async function connectRealtime(options: ClientOptions): Promise<RawRealtimeClient> {
  const { socket, opened } = startHandshake(options);
  onTestFinished(() => socket.terminate());
  const client = new RawRealtimeClient(socket, options);
  client.raw = await opened;
  return client;
}

/** Returns the HTTP response to a refused handshake; rejects if the connection opened. */
export async function refusedHandshake(options: HandshakeOptions): Promise<Refusal> {
  try {
    await connectRealtime(options);
  } catch (error) {
    if (error instanceof HandshakeRefused) {
      return error.refusal;
    }
    throw error;
  }
  throw new Error('The handshake was not refused.');
}

/**
 * A client of sections 4.10 and 6.2 that sends any messages, valid or not, and records everything. Tests use v3 field
 * names for both versions.
 */
export class RawRealtimeClient {
  readonly version: Version;
  /** Sent messages with their wire names, and their position among the arrivals. */
  readonly sent: { readonly number: number; readonly wire: unknown }[] = [];
  /** The connection under the WebSocket. */
  raw: Duplex | undefined;
  readonly socket: WebSocket;
  readonly #arrivals: Arrivals<IncomingRequest>;
  #ending: Ending | undefined;
  #mode: Mode | undefined;
  #events = 0;
  #number = 0;

  constructor(socket: WebSocket, { version, timeoutMs = 20_000 }: ClientOptions) {
    this.socket = socket;
    this.version = version;
    this.#arrivals = new Arrivals<IncomingRequest>(timeoutMs, describeArrived);
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('ping', () => this.#add({ kind: 'ping' }));
    socket.on('pong', () => this.#add({ kind: 'pong' }));
    socket.on('close', (code, reason) => this.#ended(endingOf(code, reason)));
  }

  /** Everything that arrived, in order. */
  get journal(): readonly IncomingRequest[] {
    return this.#arrivals.all;
  }

  /** Every received message. */
  get messages(): Message[] {
    return this.journal.flatMap((entry) => (entry.kind === 'message' ? [entry.message] : []));
  }

  /** The received audio, in order. */
  get audio(): Buffer {
    return audioIn(this.messages);
  }

  /** Sends a message with v3 names and, by default, a new `eventId`; returns the sent message. */
  send(message: Message): Message & { readonly eventId: unknown } {
    this.#events += 1;
    const whole = { eventId: `event-${this.#events}`, ...message };
    if (message.event === 'start') {
      this.#mode = message['mode'] === 'reliable' ? 'reliable' : 'simple';
    }
    this.sendExactly(toWire(this.version, whole));
    return whole;
  }

  /** Sends any value unchanged. */
  sendExactly(value: unknown): void {
    this.#number += 1;
    this.sent.push({ number: this.#number, wire: value });
    this.socket.send(encode(value));
  }

  /** Sends a message in fragments of `size` bytes. */
  async sendFragmented(message: Message, size: number): Promise<boolean> {
    return this.sendRaw(fragmented(encode(toWire(this.version, message)), size, true));
  }

  /** Sends empty fragments of a message that never ends. */
  async sendEmptyFragments(count: number): Promise<boolean> {
    return this.sendRaw(emptyFragments(count, true));
  }

  /** Sends a frame of zeros; returns false if the service disconnected before its end. */
  async sendGiant(length: number): Promise<boolean> {
    return writeGiantFrame(this.#wire(), length, true);
  }

  /** Sends bytes on the TCP connection. */
  async sendRaw(bytes: Uint8Array): Promise<boolean> {
    return written(this.#wire(), bytes);
  }

  /** Closes our direction of the connection without a closing handshake. */
  halfClose(): void {
    this.#wire().end();
  }

  /**
   * Expects a valid message of this event with these fields (v3 names) next. `isLenient` accepts a message that
   * violates the tables.
   */
  async expect(event: string, fields: Fields = {}, isLenient = false): Promise<Message> {
    const message = await this.next(event, isLenient);
    const wrong = Object.entries(fields).filter(([name, value]) => message[name] !== value);
    if (message.event !== event || wrong.length > 0) {
      const wanted = `${event} ${JSON.stringify(fields)}`;
      throw new Error(`Expected ${wanted}; came ${describeMessage(message)}`);
    }
    return message;
  }

  /** Takes the messages up to the next one of this event, inclusive. */
  async until(event: string): Promise<Message[]> {
    const messages: Message[] = [];
    while (messages.at(-1)?.event !== event) {
      messages.push(await this.next(event));
    }
    return messages;
  }

  /** Takes the next message. */
  async next(wanted = 'a message', isLenient = false): Promise<Message> {
    for (;;) {
      const entry = await this.#arrivals.take(wanted);
      if (entry === undefined) {
        throw new Error(`Expected ${wanted}; the connection has ended: ${this.#endingInWords()}`);
      }
      if (entry.kind === 'text' || entry.kind === 'unreadable') {
        throw new Error(`Expected ${wanted}; came ${describeArrived(entry)}`);
      }
      if (entry.kind === 'message') {
        if (entry.faults.length > 0 && !isLenient) {
          throw new Error(`Wrong by the tables: ${entry.faults.join('; ')}`);
        }
        return entry.message;
      }
    }
  }

  /** Waits until an arrival fulfils the condition of the test. */
  async arrived(isIt: (entry: IncomingRequest) => boolean, what: string): Promise<void> {
    await this.#arrivals.until(() => this.journal.some((entry) => isIt(entry)), what);
  }

  /** Waits until the connection has ended. */
  async ended(): Promise<Ending> {
    await this.#arrivals.until(() => this.#ending !== undefined, 'the end of the connection');
    return this.#ending ?? { kind: 'dropped' };
  }

  #wire(): Duplex {
    if (this.raw === undefined) {
      throw new Error('The connection is not open.');
    }
    return this.raw;
  }

  #receive(data: unknown, isBinary: boolean): void {
    const place = { version: this.version, sender: 'server', mode: this.#mode } as const;
    this.#add(readArrived(place, data, isBinary));
  }

  #add(entry: Arrived): void {
    this.#number += 1;
    this.#arrivals.add({ ...entry, number: this.#number });
  }

  #ended(ending: Ending): void {
    this.#ending = ending;
    this.#arrivals.end(`the connection has ended: ${JSON.stringify(ending)}`);
  }

  #endingInWords(): string {
    return JSON.stringify(this.#ending);
  }
}

interface HandshakeOptions {
  readonly version: Version;
  /** Such as `http://127.0.0.1:4747`, without the path of the version. */
  readonly baseUrl: string;
  /** Replaces path and query, such as `/v3/tts/live?token=…`. */
  readonly path?: string;
  /** Sent as Bearer; by default no Authorization, as from a browser. */
  readonly key?: string;
  readonly origin?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the subprotocol of the version; an empty list sends none. */
  readonly subprotocols?: readonly string[];
  /** Timeout of the handshake; default 20 seconds. */
  readonly handshakeTimeoutMs?: number;
}

/** The HTTP response instead of 101. */
export interface Refusal {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An HTTP response to the handshake. */
export class HandshakeRefused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(`The handshake was refused with ${refusal.status}: ${refusal.body}`);
    this.refusal = refusal;
  }
}

/**
 * Starts a handshake. `opened` is the connection under the WebSocket, once it is open; it rejects with
 * {@link HandshakeRefused} or a network error.
 */
function startHandshake(options: HandshakeOptions) {
  const { baseUrl, headers, key, origin, path, version } = options;
  const url = new URL(path ?? `/${version}/tts/live`, baseUrl);
  url.protocol = url.protocol.replace('http', 'ws');
  const subprotocols = options.subprotocols ?? [SUBPROTOCOLS[version]];
  const socket = new WebSocket(url, [...subprotocols], {
    headers: {
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...(origin === undefined ? {} : { Origin: origin }),
      ...headers,
    },
    perMessageDeflate: false,
    followRedirects: false,
    handshakeTimeout: options.handshakeTimeoutMs ?? 20_000,
    maxPayload: 0,
    maxFragments: 0,
  });
  return { socket, opened: opening(socket) };
}

async function opening(socket: WebSocket): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('upgrade', (response) => socket.once('open', () => resolve(response.socket)));
    socket.on('unexpected-response', (_request, response) => {
      void readRefusal(response).then((refusal) => reject(new HandshakeRefused(refusal)), reject);
    });
  });
}

async function readRefusal(response: IncomingMessage): Promise<Refusal> {
  const { statusCode: status = 0, headers } = response;
  return { status, headers, body: await text(response) };
}
