import type { IncomingMessage } from 'node:http';
import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import { FRAME_LIMITS } from '../../contract/realtime/limits.ts';
import { REALTIME_PROTOCOLS } from '../../contract/realtime/protocols.ts';
import type { Clock } from '../../effects/clock.ts';
import { isLivePath } from '../realtime/live-paths.ts';
import type { Service } from '../service.ts';
import type { Connections } from './connections.ts';
import { liveSocket } from './live-socket.ts';

export interface UpgradeOptions {
  readonly service: Pick<Service, 'admit' | 'open'>;
  readonly clock: Clock;
  readonly connections: Pick<Connections, 'trust'>;
  /** Answers a request that wants another protocol and does not get it. */
  readonly listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /** The answer to an address that cannot be read. */
  readonly unreadable: () => Response;
}

type OnUpgrade = (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Fragments of one message; more, also empty ones, end the connection. */
const MOST_FRAGMENTS = 1_024;

/**
 * Turns handshakes into realtime connections (spec section 4.10). What is refused gets an answer of HTTP and
 * the end of its connection; whoever wants to upgrade anything else is answered as if he did not.
 */
export function onUpgrade(options: UpgradeOptions): OnUpgrade {
  let server: WebSocketServer | undefined;
  const connect = async (
    incoming: IncomingMessage,
    socket: Socket,
    head: Buffer,
  ): Promise<void> => {
    const request = requestOf(incoming, socket);
    if (request === undefined) return answer(options.unreadable(), incoming, socket);
    if (!isLivePath(new URL(request.url).pathname)) {
      return options.listener(incoming, responseOn(incoming, socket));
    }
    const admitted = await options.service.admit(request);
    if (admitted instanceof Response) return answer(admitted, incoming, socket);
    // Those without a key have a bound of their own.
    options.connections.trust(socket);
    server ??= await webSocketServer();
    server.handleUpgrade(incoming, socket, head, (opened) => {
      liveSocket(opened, { ...options, socket, admission: admitted });
    });
  };
  return (incoming, socket, head) => {
    // Until there is a WebSocket nobody else hears that the line has gone.
    socket.on('error', () => socket.destroy());
    if (!(socket instanceof Socket)) return void socket.destroy();
    connect(incoming, socket, head).catch(() => socket.destroy());
  };
}

async function webSocketServer(): Promise<WebSocketServer> {
  const { WebSocketServer: Server } = await import('ws');
  return new Server({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: FRAME_LIMITS.frameBytes,
    maxFragments: MOST_FRAGMENTS,
    // One frame a turn: the frames of one client do not keep the others waiting.
    allowSynchronousEvents: false,
    handleProtocols: (_offered, { url = '' }) => subprotocolAt(url),
  });
}

/** Whether it is among those that are offered was looked at before. */
function subprotocolAt(url: string): string | false {
  const all = Object.values(REALTIME_PROTOCOLS);
  return all.find(({ livePath }) => url.startsWith(livePath))?.subprotocol ?? false;
}

function requestOf({ url, headers, rawHeaders, method }: IncomingMessage, socket: Socket) {
  const address = `http://${headers.host ?? ''}${url ?? ''}`;
  if (!URL.canParse(address)) return undefined;
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  const given = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    given.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  }
  return new Request(address, { method: method ?? 'GET', headers: given, signal: gone.signal });
}

async function answer(
  response: Response,
  incoming: IncomingMessage,
  socket: Socket,
): Promise<void> {
  const outgoing = responseOn(incoming, socket);
  outgoing.writeHead(response.status, [...response.headers].flat());
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}

/** The server has let go of the connection, so that the answer is its last. */
function responseOn(incoming: IncomingMessage, socket: Socket): ServerResponse {
  const outgoing = new ServerResponse(incoming);
  outgoing.shouldKeepAlive = false;
  outgoing.assignSocket(socket);
  outgoing.once('finish', () => socket.destroySoon());
  return outgoing;
}
