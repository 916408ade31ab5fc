import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { listen } from '../harness/listen.ts';

/** A received request. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface RawServer {
  readonly url: string;
  readonly requests: readonly RawRequest[];
  /** The number of connections. */
  readonly connections: () => number;
}

/** Writes the response to the n-th request (from 0) to its socket. */
export type RawAnswer = (socket: Socket, request: RawRequest, index: number) => void;

/** Starts a raw TCP server on the loopback until the test ends. */
export async function rawServer(answer: RawAnswer): Promise<RawServer> {
  const requests: RawRequest[] = [];
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    readRequests(socket, (request) => {
      requests.push(request);
      answer(socket, request, requests.length - 1);
    });
  });
  return { url: await listen(server), requests, connections: () => connections };
}

function readRequests(socket: Socket, take: (request: RawRequest) => void): void {
  let text = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => {
    text += String(chunk);
    for (;;) {
      const end = text.indexOf('\r\n\r\n');
      if (end === -1) return;
      const [first = '', ...lines] = text.slice(0, end).split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => {
          const colon = line.indexOf(':');
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
        }),
      );
      const length = Number(headers['content-length'] ?? 0);
      if (text.length < end + 4 + length) return;
      const [method = '', path = ''] = first.split(' ');
      const body = text.slice(end + 4, end + 4 + length);
      text = text.slice(end + 4 + length);
      take({ method, path, headers, body });
    }
  });
}

/** Returns a response with a content length. */
export function reply(
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: string | Uint8Array = '',
): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([head(status, { 'content-length': `${bytes.length}`, ...headers }), bytes]);
}

/** Returns the status line and headers of a response. */
export function head(status: number, headers: Readonly<Record<string, string>> = {}): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n`);
}

/** Returns an error response of the service. */
export function errorReply(
  status: number,
  code: string,
  more: {
    readonly headers?: Readonly<Record<string, string>>;
    readonly details?: unknown;
    readonly message?: string;
  } = {},
): Buffer {
  const body = {
    code,
    message: more.message ?? `it says ${code}`,
    requestId: 'req-of-service',
    ...(more.details === undefined ? {} : { details: more.details }),
  };
  return reply(
    status,
    { 'content-type': 'application/json', ...more.headers },
    JSON.stringify(body),
  );
}
