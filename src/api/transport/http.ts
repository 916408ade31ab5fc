import { Readable } from 'node:stream';
import type { Clock } from '../../system/clock.ts';
import type { Failure } from '../../errors/failure.ts';
import { usageFailure } from '../../errors/failure.ts';
import type { Connections } from './connections.ts';
import type { TransportResponse } from './exchange.ts';
import { Exchange } from './exchange.ts';
import { TransportError } from './transport-error.ts';
import type { ProxyEnvironment } from './proxy.ts';
import { proxyFor, proxyHost } from './proxy.ts';
import type { StreamedBody, WireRequest } from '../request.ts';

interface TransportOptions {
  readonly clock: Clock;
  readonly env: ProxyEnvironment;
  readonly certificates?: string | undefined;
}

export interface TransportRequest extends WireRequest {
  /** Whether to open a new connection instead of reusing one. The service may close a reused connection at any time. */
  readonly fresh?: boolean | undefined;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** An HTTP/1.1 client without redirects, retries, decompression or cookies. */
export interface Transport {
  /**
   * Sends a request and resolves when the headers of the response have arrived.
   * @throws TransportError, or the signal's abort reason
   */
  request(request: TransportRequest): Promise<TransportResponse>;
  /** Opens a connection in advance, for the next request. If the connection fails, that request throws the error. */
  prepare?(url: URL): void;
  /** Closes every connection and rejects further requests. */
  close(): Promise<void>;
}

/** Creates a transport on undici, which is loaded for the first request (docs/decisions/0008-undici.md). */
export function createTransport(options: TransportOptions): Transport {
  const routes = new Map<string, Promise<Connections>>();
  let isClosed = false;
  const routeTo = (url: URL, proxy: string | undefined): Promise<Connections> => {
    const name = `${url.origin} ${proxy ?? ''}`;
    const known = routes.get(name) ?? openRoute(url, proxy, options);
    routes.set(name, known);
    return known;
  };
  return {
    async request(request) {
      const proxy = proxyFor(request.url, options.env);
      const connections = await routeTo(request.url, proxy);
      if (isClosed) throw new TransportError('closed', request.url.host);
      return perform(connections, request, options, proxy);
    },
    prepare(url) {
      routeTo(url, proxyFor(url, options.env)).then(
        (connections) => connections.prepare(),
        () => undefined,
      );
    },
    async close() {
      isClosed = true;
      const opened = await Promise.allSettled(routes.values());
      routes.clear();
      for (const open of opened) {
        if (open.status === 'fulfilled') open.value.destroy(new TransportError('closed', ''));
      }
    },
  };
}

async function openRoute(
  url: URL,
  proxy: string | undefined,
  { certificates }: TransportOptions,
): Promise<Connections> {
  const [{ Connections }, { createConnector }] = await Promise.all([
    import('./connections.ts'),
    import('./connector.ts'),
  ]);
  const tunnel = url.protocol === 'https:' ? proxy : undefined;
  return new Connections(url.origin, createConnector(url, tunnel, certificates));
}

async function perform(
  connections: Connections,
  request: TransportRequest,
  { clock }: TransportOptions,
  proxy: string | undefined,
): Promise<TransportResponse> {
  const { body, fresh, headers, method, signal, stream, url } = request;
  signal?.throwIfAborted();
  const connection = connections.take(fresh === true);
  const via = proxy === undefined ? undefined : proxyHost(proxy);
  const exchange = new Exchange(connection, {
    ...request,
    clock,
    connections,
    host: url.host,
    proxy: via,
  });
  const upload = stream === undefined ? undefined : startUpload(stream, () => exchange.sending());
  const path = url.pathname + url.search;
  connection.send({ method, path, headers, body: upload?.bytes ?? body ?? null }, exchange);
  return exchange.result.catch((error: unknown) => {
    throw upload === undefined ? error : upload.explain(error);
  });
}

/**
 * Starts reading a streamed body for one attempt.
 * @param onTaken called each time the connection has accepted a chunk of the body
 */
export function startUpload(body: StreamedBody, onTaken: () => void = () => {}) {
  let failure: unknown;
  let isWhole = body.byteLength === 0;
  async function* counted(): AsyncGenerator<Uint8Array, void, undefined> {
    let sent = 0;
    try {
      for await (const chunk of body.open()) {
        sent += chunk.length;
        if (sent > body.byteLength) throw changed();
        // Set before the last chunk is sent: until then, the service cannot have the whole body.
        isWhole = sent === body.byteLength;
        yield chunk;
        onTaken();
      }
      if (sent < body.byteLength) throw changed();
    } catch (error) {
      failure = error;
      throw error;
    }
  }
  return {
    bytes: Readable.from(counted(), { objectMode: false }),
    get failure() {
      return failure;
    },
    // If reading the body failed, that error is the cause of the connection error, so it is reported instead.
    explain: (error: unknown) => failure ?? (isWhole ? error : cutUpload(error)),
  };
}

// The service cannot have processed an incomplete upload.
function cutUpload(error: unknown): unknown {
  if (!(error instanceof TransportError)) return error;
  const { fault, host } = error;
  if (fault === 'reset') return new TransportError('upload_reset', host, error.cause);
  if (fault === 'timeout') return new TransportError('upload_timeout', host, error.cause);
  return error;
}

function changed(): Failure {
  return usageFailure(
    'a file of this request changed during its upload',
    'Run the command again when no program writes to the file.',
  );
}
