import type { IncomingMessage } from 'node:http';
import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocketServer, RawData, WebSocket } from 'ws';
import { FRAME_LIMITS } from '../../contract/realtime/limits.ts';
import { REALTIME_PROTOCOLS } from '../../contract/realtime/protocols.ts';
import type { Clock } from '../../system/clock.ts';
import type { Admission } from '../realtime/admission.ts';
import { isLivePath } from '../realtime/admission.ts';
import type { SessionSocket } from '../realtime/session.ts';
import type { Service } from '../service.ts';

interface UpgradeOptions {
  readonly service: Service;
  readonly clock: Clock;
  /** Exempts a connection from the limit on connections that have not sent an API key. */
  readonly trust: (socket: Socket) => void;
  /** Reads the next requests from a connection. Called if the path does not belong to realtime speech. */
  readonly reconnect: (socket: Socket) => void;
  /** Returns the error response for a request whose target is not a valid URL. */
  readonly refuse: () => Response;
}

type OnUpgrade = (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void;

// Maximum number of fragments in one message, including empty fragments. More fragments close the connection.
const MOST_FRAGMENTS = 1_024;

/**
 * Returns the handler of WebSocket handshakes, which opens realtime connections (docs/api/realtime.md). An invalid
 * handshake gets an HTTP error, and its connection is closed.
 */
export function onUpgrade(options: UpgradeOptions): OnUpgrade {
  let server: WebSocketServer | undefined;
  const connect = async (
    incoming: IncomingMessage,
    socket: Socket,
    head: Buffer,
  ): Promise<void> => {
    const request = requestOf(incoming, socket);
    if (request === undefined) return respond(options.refuse(), incoming, socket);
    if (!isLivePath(new URL(request.url).pathname)) {
      socket.unshift(withoutUpgrade(incoming, head));
      return options.reconnect(socket);
    }
    const admitted = await options.service.admit(request);
    if (admitted instanceof Response) return respond(admitted, incoming, socket);
    // The handshake check limits realtime connections.
    options.trust(socket);
    server ??= await webSocketServer();
    server.handleUpgrade(incoming, socket, head, (opened) => {
      liveSocket(opened, admitted, socket, options);
    });
  };
  return (incoming, socket, head) => {
    // Nothing else handles a dropped connection before the WebSocket exists.
    socket.on('error', () => socket.destroy());
    if (!(socket instanceof Socket)) return void socket.destroy();
    connect(incoming, socket, head).catch(() => socket.destroy());
  };
}

// Returns the bytes of a request without its headers about the upgrade, which a server may ignore (RFC 9110, section
// 7.8). Node has not read the body of an upgrade request, and Java's HttpClient sends the upgrade to HTTP/2 with any body.
function withoutUpgrade(
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  body: Buffer,
): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`, 'Connection: close'];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value] = rawHeaders.slice(at, at + 2);
    if (!/^(?:connection|upgrade)$/i.test(name)) lines.push(`${name}: ${value}`);
  }
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

async function webSocketServer(): Promise<WebSocketServer> {
  const { WebSocketServer: Server } = await import('ws');
  return new Server({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: FRAME_LIMITS.frameBytes,
    maxFragments: MOST_FRAGMENTS,
    // One frame per turn of the event loop, so that no client delays the others.
    allowSynchronousEvents: false,
    handleProtocols: (_offered, { url = '' }) => subprotocolAt(url),
  });
}

// The handshake check has verified that the client offers this subprotocol.
function subprotocolAt(url: string): string | false {
  const all = Object.values(REALTIME_PROTOCOLS);
  return all.find(({ livePath }) => url.startsWith(livePath))?.subprotocol ?? false;
}

function requestOf({ url, headers, rawHeaders, method }: IncomingMessage, socket: Socket) {
  const address = `http://${headers.host ?? ''}${url ?? ''}`;
  if (!URL.canParse(address)) return undefined;
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  const given = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    given.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  }
  return new Request(address, { method: method ?? 'GET', headers: given, signal: closed.signal });
}

async function respond(
  response: Response,
  incoming: IncomingMessage,
  socket: Socket,
): Promise<void> {
  const outgoing = responseOn(incoming, socket);
  outgoing.writeHead(response.status, [...response.headers].flat());
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}

// The server no longer manages an upgraded socket, so the response is created here.
function responseOn(incoming: IncomingMessage, socket: Socket): ServerResponse {
  const outgoing = new ServerResponse(incoming);
  outgoing.shouldKeepAlive = false;
  outgoing.assignSocket(socket);
  outgoing.once('finish', () => socket.destroySoon());
  return outgoing;
}

// Maximum wait for the client's reply to a close frame.
const CLOSE_TIMEOUT_MS = 5_000;
// Maximum number of frames to read after the service has sent its close frame.
const MOST_LATE_FRAMES = 64;
// Maximum size of unsent data, such as pongs, for a client that does not read.
const MOST_UNREAD_BYTES = 8 * 1024 * 1024;
/** Wait in milliseconds before a connection reset, so that a local client reads the data before it sees the reset. */
export const RESET_DELAY_MS = 50;

function liveSocket(
  webSocket: WebSocket,
  admission: Admission,
  socket: Socket,
  { service, clock }: UpgradeOptions,
): void {
  webSocket.binaryType = 'nodebuffer';
  let isClosing = false;
  let lateFrames = 0;
  // Counts the frames that arrive after the close frame was sent.
  const isLate = (): boolean => {
    if (!isClosing) return false;
    lateFrames += 1;
    if (lateFrames === MOST_LATE_FRAMES) webSocket.pause();
    return true;
  };
  const live: SessionSocket = {
    get bufferedAmount() {
      return webSocket.bufferedAmount;
    },
    send: (bytes, sent) => webSocket.send(bytes, { binary: true }, () => sent()),
    ping: () => webSocket.ping(),
    close(code) {
      isClosing = true;
      if (webSocket.readyState === webSocket.CLOSED) return;
      webSocket.close(code);
      const stop = clock.after(CLOSE_TIMEOUT_MS, () => webSocket.terminate());
      webSocket.once('close', stop);
    },
    terminate: () => webSocket.terminate(),
    disconnect: (kind) => void disconnect(kind, socket, clock),
  };
  const listener = service.open(admission, live);
  webSocket.on('message', (data, isBinary) => {
    if (!isLate()) listener.message(bytesOf(data), !isBinary);
  });
  webSocket.on('ping', () => {
    if (!isLate() && webSocket.bufferedAmount > MOST_UNREAD_BYTES) webSocket.terminate();
  });
  webSocket.on('pong', () => {
    if (!isLate()) listener.pong();
  });
  webSocket.on('close', () => listener.closed());
  // The package closes the connection with the code of a protocol error.
  webSocket.on('error', () => undefined);
}

async function disconnect(kind: 'reset' | 'truncate', socket: Socket, clock: Clock): Promise<void> {
  if (kind === 'truncate') return socket.destroySoon();
  await clock.sleep(RESET_DELAY_MS);
  socket.resetAndDestroy();
}

function bytesOf(data: RawData): Uint8Array {
  if (data instanceof Uint8Array) return data;
  return data instanceof ArrayBuffer ? new Uint8Array(data) : Buffer.concat(data);
}
