import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { SUBPROTOCOLS } from './messages.ts';
import type { Version } from './messages.ts';

export interface HandshakeOptions {
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
export function startHandshake(options: HandshakeOptions) {
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
