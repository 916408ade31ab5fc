import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { RawData } from 'ws';
import { proxyFor, proxyHost } from '../api/transport/proxy.ts';
import type { ProxyEnvironment } from '../api/transport/proxy.ts';
import { TransportError } from '../api/transport/exchange.ts';
import { FRAME_LIMITS } from '../contract/realtime/limits.ts';
import type { Handshake, LiveSocket, OpenSocket, SocketEvent } from './handshake.ts';
import { failedHandshake, handshakeHeaders, refusedHandshake } from './handshake.ts';

export interface WsSocketOptions {
  readonly handshake: Handshake;
  /** Only the variables that name proxies are read. */
  readonly env: ProxyEnvironment;
}

/** How long the other side may take to agree to a close. */
const CLOSE_TIMEOUT_MS = 1_000;

/**
 * Opens WebSockets with `ws`: over the proxy that the environment names, with the key in the handshake,
 * without compression, and with a limit for messages (docs/api/realtime.md and docs/api/authentication.md).
 */
export function wsSockets({ env, handshake }: WsSocketOptions): OpenSocket {
  return (listener) => {
    handshake.onConnect();
    const opening = new Opening(handshake, listener);
    const proxy = proxyFor(withHttps(handshake.url), env);
    if (proxy === undefined) opening.connect();
    else void opening.connectThrough(proxy);
    return opening;
  };
}

/** `ws:` and `wss:` have no proxies of their own. */
function withHttps(url: URL): URL {
  return new URL(url.href.replace(/^ws/, 'http'));
}

/** A socket from before there is one: a proxy has to be asked first. */
class Opening implements LiveSocket {
  readonly #handshake: Handshake;
  readonly #listener: (event: SocketEvent) => void;
  #socket: WebSocket | undefined;
  #closeTunnel: (() => void) | undefined;
  #isOver = false;

  constructor(handshake: Handshake, listener: (event: SocketEvent) => void) {
    this.#handshake = handshake;
    this.#listener = listener;
  }

  async connectThrough(proxy: string): Promise<void> {
    const { certificates, clock, timeoutMs, url } = this.#handshake;
    const via = proxyHost(proxy);
    let isLate = false;
    try {
      const { tunnelConnector } = await import('../api/transport/tls.ts');
      const connector = tunnelConnector(withHttps(url), proxy, certificates);
      this.#closeTunnel = () => connector.close();
      const stop = clock.after(timeoutMs, () => {
        isLate = true;
        connector.close();
      });
      const tunnel = await connector.open().finally(stop);
      if (this.#isOver) tunnel.destroy();
      else this.connect({ tunnel, proxy: via });
    } catch (error) {
      this.#fail(isLate ? new TransportError('connect_timeout', url.host, error, via) : error, via);
    }
  }

  connect(route?: { readonly tunnel: Duplex; readonly proxy: string }): void {
    const { certificates, subprotocol, url } = this.#handshake;
    const options = {
      headers: handshakeHeaders(this.#handshake),
      perMessageDeflate: false,
      followRedirects: false,
      maxPayload: FRAME_LIMITS.frameBytes,
      closeTimeout: CLOSE_TIMEOUT_MS,
      // Said aloud, since an environment variable could otherwise turn the check off.
      rejectUnauthorized: true,
      ca: certificates,
      ...(route === undefined ? {} : { createConnection: () => route.tunnel }),
    };
    const socket = new WebSocket(url, [subprotocol], options);
    this.#socket = socket;
    this.#listen(socket, route?.proxy);
  }

  send(frame: Uint8Array): void {
    // What cannot be sent any more is told by the close.
    this.#open?.send(frame, ignore);
  }

  close(code: number): void {
    this.#isOver = true;
    const socket = this.#open;
    if (socket === undefined) return this.abort();
    // Otherwise the other side's agreement is not read.
    socket.resume();
    return socket.close(code);
  }

  abort(): void {
    this.#isOver = true;
    this.#closeTunnel?.();
    this.#socket?.terminate();
  }

  pause(): void {
    this.#open?.pause();
  }

  resume(): void {
    this.#open?.resume();
  }

  get #open(): WebSocket | undefined {
    return this.#socket?.readyState === WebSocket.OPEN ? this.#socket : undefined;
  }

  #listen(socket: WebSocket, proxy: string | undefined): void {
    let isOpen = false;
    socket.binaryType = 'nodebuffer';
    socket.on('open', () => {
      isOpen = true;
      this.#handshake.onAnswer({ url: this.#handshake.url, status: 101 });
      this.#tell({ type: 'opened' });
    });
    socket.on('unexpected-response', (_request, answer: IncomingMessage) => {
      void this.#refuse(socket, answer);
    });
    socket.on('message', (data: RawData, isBinary) => this.#tell(eventOf(data, isBinary)));
    socket.on('error', (error) => {
      if (!isOpen) this.#fail(error, proxy);
      else if (isProtocolError(error)) this.#tell({ type: 'unreadable', problem: error.message });
    });
    socket.on('close', (code) => {
      if (isOpen) this.#tell({ type: 'closed', code });
      else this.#fail(new TransportError('reset', this.#handshake.url.host), proxy);
    });
  }

  async #refuse(socket: WebSocket, answer: IncomingMessage): Promise<void> {
    this.#tell(await refusedHandshake(this.#handshake, answer));
    socket.terminate();
  }

  #fail(error: unknown, proxy: string | undefined): void {
    if (!this.#isOver) this.#tell(failedHandshake(this.#handshake, error, proxy));
  }

  #tell(event: SocketEvent): void {
    if (this.#isOver) return;
    if (event.type === 'refused' || event.type === 'closed') this.#isOver = true;
    this.#listener(event);
  }
}

function eventOf(data: RawData, isBinary: boolean): SocketEvent {
  if (!isBinary) return { type: 'unreadable', problem: 'it sent text' };
  if (data instanceof Uint8Array) return { type: 'frame', bytes: data };
  return { type: 'frame', bytes: Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data) };
}

/** What `ws` says of bytes that are no WebSocket, or too many; a lost line is told by its close. */
function isProtocolError(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && error.code.startsWith('WS_ERR_');
}

function ignore(): void {}
