import type { ClientRequest } from 'node:http';
import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import type { Clock } from '../../effects/clock.ts';
import type { Failure } from '../../errors/failure.ts';
import { usageFailure } from '../../errors/failure.ts';
import { Connections, plainConnector } from './connections.ts';
import type { Connector } from './connections.ts';
import type { TransportAnswer } from './exchange.ts';
import { Exchange, TransportError } from './exchange.ts';
import type { ProxyEnvironment } from './proxy.ts';
import { proxyFor, proxyHost } from './proxy.ts';
import type { StreamedBody } from '../request.ts';

interface TransportOptions {
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
  /**
   * On a connection that no other request was on. The service may close one that was used just when
   * the next request is on its way; of a request that may not be repeated nobody knew the fate then.
   */
  readonly fresh?: boolean | undefined;
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
  /** Begins to connect to where a request will soon go; that one is told what goes wrong. Sends nothing. */
  prepare?(url: URL): void;
  /** Ends every connection; nothing is sent after it. */
  close(): Promise<void>;
}

/**
 * HTTP by Node itself, which starts faster than any library and takes less time for each request
 * (docs/decisions/0004-http-client.md). Connections are kept between the requests of one command.
 */
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
      // What broke off because of it is not sent again.
      if (isClosed) throw new Error('the connections were closed');
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
      for (const open of opened) if (open.status === 'fulfilled') open.value.destroy();
    },
  };
}

async function openRoute(
  url: URL,
  proxy: string | undefined,
  options: TransportOptions,
): Promise<Connections> {
  return new Connections(await connectorFor(url, proxy, options));
}

async function connectorFor(
  url: URL,
  proxy: string | undefined,
  options: TransportOptions,
): Promise<Connector> {
  if (url.protocol === 'http:') return plainConnector(url);
  const { secureConnector, tunnelConnector } = await import('./tls.ts');
  return proxy === undefined
    ? secureConnector(url, plainConnector(url), options.certificates)
    : tunnelConnector(url, proxy, options.certificates);
}

/** What a service says about its answer may be so long; Node's own limit can be moved from outside. */
const MOST_HEADER_BYTES = 16 * 1024;

async function perform(
  connections: Connections,
  { body, fresh, headers, method, signal, stream, url, ...limits }: TransportRequest,
  { clock, connectTimeoutMs }: TransportOptions,
  proxy: string | undefined,
): Promise<TransportAnswer> {
  signal?.throwIfAborted();
  const { host } = url;
  if (fresh === true) connections.forgetIdle();
  else connections.forgetEnded();
  const request = httpRequest({
    agent: connections,
    method,
    path: url.pathname + url.search,
    headers: Object.entries({ host, ...lengthOf(method, body), ...headers }).flat(),
    maxHeaderSize: MOST_HEADER_BYTES,
    insecureHTTPParser: false,
  });
  // Beyond a number Node would leave headers out; their length is limited.
  request.maxHeadersCount = 0;
  const times = { connectTimeoutMs, ...limits };
  const via = proxy === undefined ? undefined : proxyHost(proxy);
  const exchange = new Exchange(request, { clock, host, proxy: via, signal, ...times });
  if (stream === undefined) {
    request.end(body);
    return exchange.answer;
  }
  const upload = startUpload(stream, () => exchange.sending());
  send(upload, request);
  return exchange.answer.catch((error: unknown) => {
    throw upload.explain(error);
  });
}

/** A streamed body brings its own. Without one of them Node would send what has none in chunks. */
function lengthOf(method: string, body: Uint8Array | undefined): Record<string, string> {
  if (body === undefined && !/^(POST|PUT|PATCH)$/.test(method)) return {};
  return { 'content-length': `${body?.length ?? 0}` };
}

/** As fast as the connection takes it; an answer may come before all of it is sent. */
function send({ bytes }: Upload, request: ClientRequest): void {
  bytes.on('error', (error) => request.destroy(error));
  request.on('close', () => bytes.destroy());
  bytes.pipe(request);
}

/** A body on its way. */
interface Upload {
  readonly bytes: Readable;
  /** Why it could not be read to its end; the connection is given up for it. */
  readonly failure: unknown;
  /** What went wrong with the request, told with what is known of the body. */
  explain(error: unknown): unknown;
}

/**
 * Opens a body for one attempt; it is read as fast as the connection takes it.
 * @param onTaken told when the connection has taken another piece
 */
export function startUpload(body: StreamedBody, onTaken: () => void = ignore): Upload {
  let failure: unknown;
  let isWhole = body.byteLength === 0;
  async function* counted(): AsyncGenerator<Uint8Array, void, undefined> {
    let sent = 0;
    try {
      for await (const chunk of body.open()) {
        sent += chunk.length;
        if (sent > body.byteLength) throw changed();
        // Until its last piece was asked for, the service cannot have the whole of it.
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
    // What could not be read explains more than the connection that broke for it.
    explain: (error) => failure ?? (isWhole ? error : cutUpload(error)),
  };
}

function ignore(): void {}

/** A request that never came whole to the service was not done. */
function cutUpload(error: unknown): unknown {
  if (!(error instanceof TransportError)) return error;
  const { fault, host } = error;
  if (fault === 'reset') return new TransportError('upload_reset', host, error.cause);
  if (fault === 'timeout') return new TransportError('upload_timeout', host, error.cause);
  return error;
}

/** Its length was announced; what is shorter or longer would be taken for something else. */
function changed(): Failure {
  return usageFailure(
    'a file changed while it was sent, so that it was not sent whole',
    'Run the command again when nothing writes to it.',
  );
}
