import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import connectorOf from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import type { Clock } from '../effects/clock.ts';
import type { TransportAnswer } from './exchange.ts';
import { Exchange } from './exchange.ts';
import type { ProxyEnvironment } from './proxy.ts';
import { proxyFor } from './proxy.ts';
import type { StreamedBody } from './request.ts';
import { startUpload } from './upload.ts';
import { withoutTierUp } from './wasm-tiering.ts';

export interface TransportOptions {
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
  readonly env: ProxyEnvironment;
  /** Certificates (PEM) to trust instead of the built-in ones. */
  readonly certificates?: string | undefined;
}

export interface TransportRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  /** Instead of `body`. */
  readonly stream?: StreamedBody | undefined;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** HTTP/1.1 and nothing above it: no redirects, retries, decoding or cookies. */
export interface Transport {
  /**
   * Sends one request; resolves with the head of its answer.
   * @throws TransportError, or the signal's reason
   */
  request(request: TransportRequest): Promise<TransportAnswer>;
  /** Ends every connection. */
  close(): Promise<void>;
}

/**
 * The only file that knows undici: of it, the core is used (its pool of connections and its parser),
 * since the whole takes longer to load than everything else together. Connections are kept between
 * the requests of one command.
 */
export function createTransport(options: TransportOptions): Transport {
  const dispatchers = new Map<string, Promise<Dispatcher>>();
  const connecting = new Set<Socket>();
  const connector = createConnector(options, connecting);

  async function dispatcherFor(url: URL, proxy: string | undefined): Promise<Dispatcher> {
    if (proxy === undefined) return new Pool(url.origin, { connect: connector, ...LIMITS });
    const { createTunnel } = await import('./proxy-tunnel.ts');
    return createTunnel(proxy, options);
  }

  return {
    async request(request) {
      const { url } = request;
      const proxy = proxyFor(url, options.env);
      const route = `${url.origin} ${proxy ?? ''}`;
      const known = dispatchers.get(route) ?? dispatcherFor(url, proxy);
      dispatchers.set(route, known);
      return perform(await known, request, options, proxy !== undefined);
    },
    async close() {
      const opened = await Promise.allSettled(dispatchers.values());
      dispatchers.clear();
      for (const socket of connecting) socket.destroy();
      await Promise.all(
        opened.flatMap((open) => (open.status === 'fulfilled' ? [open.value.destroy()] : [])),
      );
    },
  };
}

/** undici's own limits are off: the exchange keeps them, on the injected clock. */
const LIMITS = { headersTimeout: 0, bodyTimeout: 0, pipelining: 1 };

function createConnector(
  { certificates, connectTimeoutMs }: TransportOptions,
  connecting: Set<Socket>,
): buildConnector.connector {
  const connect = connectorOf({
    timeout: connectTimeoutMs,
    // Said aloud, since an environment variable could otherwise turn the check off.
    rejectUnauthorized: true,
    ...(certificates === undefined ? {} : { ca: certificates }),
  });
  let compiled = false;
  return (target, callback) => {
    const socket = connect(target, (...outcome) => {
      connecting.delete(socket);
      if (compiled) return callback(...outcome);
      // With the first connection undici compiles its parser.
      compiled = true;
      return withoutTierUp(() => callback(...outcome));
    });
    connecting.add(socket);
  };
}

async function perform(
  dispatcher: Dispatcher,
  request: TransportRequest,
  options: TransportOptions,
  throughProxy: boolean,
): Promise<TransportAnswer> {
  const { method, url, headers, body, signal, stream } = request;
  signal?.throwIfAborted();
  const exchange = new Exchange({
    clock: options.clock,
    host: url.host,
    method,
    throughProxy,
    connectTimeoutMs: options.connectTimeoutMs,
    responseTimeoutMs: request.responseTimeoutMs,
    idleTimeoutMs: request.idleTimeoutMs,
    signal,
  });
  const upload = stream === undefined ? undefined : startUpload(stream, () => exchange.sending());
  dispatcher.dispatch(
    {
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: { ...headers },
      body: upload?.bytes ?? body ?? null,
    },
    exchange,
  );
  if (upload === undefined) return exchange.answer;
  return exchange.answer.catch((error: unknown) => {
    throw upload.explain(error);
  });
}
