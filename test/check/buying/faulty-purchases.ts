import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** What becomes of a purchase: the service gets it and answers, or this. */
export type Fate =
  | 'answered'
  /** The connection is reset, and the service never sees the request. */
  | 'reset'
  /** The service does the work, and its answer is lost. */
  | 'lost'
  | { readonly status: number; readonly code: string; readonly retryAfter?: number };

/** Decides about the nth purchase of a text (from 1), or the nth download of a result. */
export interface Fault {
  readonly purchase?: (nth: number) => Fate;
  readonly download?: (nth: number) => Fate;
}

/** An address that passes everything on to a service, but for the fault. */
export interface FaultyService {
  readonly origin: string;
  /** How often each text was asked for, in the order of the first requests. */
  readonly purchases: ReadonlyMap<string, number>;
}

const PURCHASE = /^\/api\/open\/v3\/speech\/tts(?:\/jobs|\/aligned)?$/;
const DOWNLOAD = /\/audio$/;

/** Starts a proxy with a fault before a service. It stops when the test ends. */
export async function startFaultyService(target: string, fault: Fault): Promise<FaultyService> {
  const purchases = new Map<string, number>();
  let downloads = 0;
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const { pathname } = new URL(request.url ?? '/', target);
    let fate: Fate = 'answered';
    if (request.method === 'POST' && PURCHASE.test(pathname)) {
      const { text } = Object(JSON.parse(body.toString()));
      const nth = (purchases.get(text) ?? 0) + 1;
      purchases.set(text, nth);
      fate = fault.purchase?.(nth) ?? fate;
    } else if (request.method === 'GET' && DOWNLOAD.test(pathname)) {
      downloads += 1;
      fate = fault.download?.(downloads) ?? fate;
    }
    if (fate === 'reset') request.socket.resetAndDestroy();
    else if (typeof fate === 'object') refuse(response, fate);
    else await passOn({ request, body, target, isLost: fate === 'lost' }, response);
  };
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, purchases };
}

function refuse(
  response: ServerResponse,
  { code, retryAfter, status }: Exclude<Fate, string>,
): void {
  const wait = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  response.writeHead(status, { 'Content-Type': 'application/json', ...wait });
  response.end(JSON.stringify({ code, message: 'A fault of the test.', requestId: 'r-fault' }));
}

async function passOn(
  {
    request,
    body,
    target,
    isLost,
  }: { request: IncomingMessage; body: Buffer; target: string; isLost: boolean },
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', url = '/', headers } = request;
  const answered = await new Promise<IncomingMessage>((resolve, reject) => {
    send(new URL(url, target), { method, headers, agent: false }, resolve)
      .on('error', reject)
      .end(body);
  });
  if (isLost) {
    await buffer(answered);
    request.socket.resetAndDestroy();
    return;
  }
  response.writeHead(answered.statusCode ?? 502, answered.headers);
  answered.on('error', () => response.destroy());
  answered.pipe(response);
}
