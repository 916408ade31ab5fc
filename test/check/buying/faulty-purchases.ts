import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as send } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { headOf } from '../../sparse-service/sparse-proxy.ts';

/** What becomes of a purchase: the service gets it and answers, or this. */
export type Fate =
  | 'answered'
  /** The connection is reset, and the service never sees the request. */
  | 'reset'
  /** The service does the work, and its answer is lost. */
  | 'lost'
  /** As `reset`, and then the service is gone. */
  | 'gone before'
  /** As `lost`, and then the service is gone. */
  | 'gone during'
  /** The service answers, and then it is gone. */
  | 'gone after'
  | { readonly status: number; readonly code: string; readonly retryAfter?: number };

/** Decides about the nth purchase of a text (from 1), or the nth download of a result. */
export interface Fault {
  readonly purchase?: (nth: number, text: string) => Fate;
  readonly download?: (nth: number) => Fate;
  /** How long a service that is gone refuses connections, in milliseconds; by default for good. */
  readonly goneMs?: number;
  /** Whether connections are refused from the start. */
  readonly isGone?: true;
  /** Whether the service that comes back is another one, which knows nothing. */
  readonly forgets?: true;
  /** Called before the service gets a purchase. */
  readonly onPurchase?: () => Promise<void>;
}

/** An address that passes everything on to a service, but for the fault. */
export interface FaultyService {
  readonly origin: string;
  /** The idempotency keys under which each text was asked for, in the order of the first requests. */
  readonly purchases: ReadonlyMap<string, readonly string[]>;
}

const PURCHASE = /^\/api\/open\/v3\/speech\/tts(?:\/jobs|\/aligned)?$/;
const DOWNLOAD = /\/audio$/;
/** A connection for realtime speech; what it speaks is not looked at. */
const REALTIME = 'realtime';
/** The first audio of a realtime connection comes after fewer bytes than this. */
const BEFORE_AUDIO_BYTES = 1_024;

/**
 * Starts a proxy with a fault before a service. It stops when the test ends.
 * @param target the address of the service
 * @param other the address of the service that takes its place when it forgets
 */
export async function startFaultyService(
  target: string,
  fault: Fault,
  other = target,
): Promise<FaultyService> {
  const purchases = new Map<string, string[]>();
  let downloads = 0;
  let behind = target;
  let isEnded = false;
  let hasLeft = false;
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
  });

  const fateOf = (text: string, key: string): Fate => {
    const keys = [...(purchases.get(text) ?? []), key];
    purchases.set(text, keys);
    // A service that came back stays.
    if (hasLeft) return 'answered';
    return fault.purchase?.(keys.length, text) ?? 'answered';
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const { pathname } = new URL(request.url ?? '/', target);
    let fate: Fate = 'answered';
    if (request.method === 'POST' && PURCHASE.test(pathname)) {
      const { text } = Object(JSON.parse(body.toString()));
      await fault.onPurchase?.();
      fate = fateOf(text, String(request.headers['idempotency-key']));
    } else if (request.method === 'GET' && DOWNLOAD.test(pathname)) {
      downloads += 1;
      fate = fault.download?.(downloads) ?? fate;
    }
    if (typeof fate === 'object') refuse(response, fate);
    else if (fate === 'reset') request.socket.resetAndDestroy();
    else if (fate === 'gone before') leave();
    else {
      const answered = await passOn(request, body, behind);
      if (fate === 'answered') relay(answered, response);
      else await endAs(fate, answered, response);
    }
  };
  const endAs = async (
    fate: 'gone after' | 'gone during' | 'lost',
    answered: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const bytes = await buffer(answered);
    if (fate === 'gone after') {
      const headers = { ...answered.headers, connection: 'close' };
      response.writeHead(answered.statusCode ?? 502, headers);
      // From now on connections are refused; this one still ends.
      leave(false);
      response.end(bytes);
    } else if (fate === 'lost') response.socket?.resetAndDestroy();
    else leave();
  };

  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
  const leave = (isAbrupt = true): void => {
    hasLeft = true;
    if (server.listening) {
      const { port } = server.address() as AddressInfo;
      server.close();
      void comeBack(port);
    }
    if (isAbrupt) for (const socket of sockets) socket.resetAndDestroy();
    else server.closeIdleConnections();
  };
  const comeBack = async (port: number): Promise<void> => {
    if (fault.goneMs === undefined) return;
    await sleep(fault.goneMs);
    if (fault.forgets) behind = other;
    if (!isEnded) await listen(port);
  };

  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    void upgrade(request, socket, head).catch(() => socket.destroy());
  });
  const upgrade = async (request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> => {
    await fault.onPurchase?.();
    const fate = fateOf(REALTIME, '');
    if (typeof fate === 'object') {
      const wait = fate.retryAfter === undefined ? '' : `Retry-After: ${fate.retryAfter}\r\n`;
      const body = faultBody(fate.code);
      socket.end(
        `HTTP/1.1 ${fate.status} Fault\r\nContent-Type: application/json\r\n${wait}` +
          `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
    } else if (fate === 'reset') socket.resetAndDestroy();
    else if (fate === 'gone before') leave();
    else {
      const end = fate === 'lost' ? () => socket.resetAndDestroy() : () => leave();
      joinSockets(request, socket, head, behind, fate === 'answered' ? undefined : { fate, end });
    }
  };

  await listen(0);
  onTestFinished(() => {
    isEnded = true;
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  if (fault.isGone) leave();
  return { origin: `http://127.0.0.1:${port}`, purchases };
}

function faultBody(code: string): string {
  return JSON.stringify({ code, message: 'A fault of the test.', requestId: 'r-fault' });
}

function refuse(
  response: ServerResponse,
  { code, retryAfter, status }: Exclude<Fate, string>,
): void {
  const wait = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  response.writeHead(status, { 'Content-Type': 'application/json', ...wait });
  response.end(faultBody(code));
}

function passOn(
  { headers, method = 'GET', url = '/' }: IncomingMessage,
  body: Buffer,
  target: string,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    send(new URL(url, target), { method, headers, agent: false }, resolve)
      .on('error', reject)
      .end(body);
  });
}

function relay(answered: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answered.statusCode ?? 502, answered.headers);
  answered.on('error', () => response.destroy());
  answered.pipe(response);
}

interface Cut {
  readonly fate: Fate;
  readonly end: () => void;
}

/** Passes on a realtime connection, until the first audio, or until the service closes it (`gone after`). */
function joinSockets(
  request: IncomingMessage,
  client: Socket,
  head: Buffer,
  target: string,
  cut: Cut | undefined,
): void {
  const { hostname, port } = new URL(target);
  const service = connect(Number(port), hostname);
  service.write(headOf(request));
  service.write(head);
  client.pipe(service);
  client.on('error', () => service.destroy());
  service.on('error', () => client.destroy());
  client.on('close', () => service.destroy());
  let bytes = 0;
  service.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (cut === undefined || cut.fate === 'gone after' || bytes < BEFORE_AUDIO_BYTES) {
      client.write(chunk);
    } else cut.end();
  });
  service.on('end', () => {
    client.end();
    if (cut?.fate === 'gone after') cut.end();
  });
}
