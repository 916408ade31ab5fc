import type { EndpointId } from '../contract/generated/endpoints.ts';
import { ENDPOINTS } from '../contract/generated/endpoints.ts';
import { HEADERS } from '../contract/values.ts';
import { usageFailure, Failure } from '../errors/failure.ts';
import type { AttemptOutcome, RetryRule } from './retry.ts';

/** A request body in memory. */
export interface RequestBody {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** A request body that is read again for each attempt, such as a file that is too large for memory. */
export interface StreamedBody {
  readonly contentType: string;
  readonly byteLength: number;
  /** Reads the body from its beginning. @throws Failure if the body cannot be read */
  open(): AsyncIterable<Uint8Array>;
}

/** The key by which the service recognizes a repeated billed request. */
export interface IdempotencyKey {
  readonly value: string;
  /** Whether foley generated the key. After a refund, foley replaces a generated key, but never a key of the user. */
  readonly madeByTool: boolean;
  /** Returns the key that replaces a generated key; default: a random key. */
  readonly next?: (() => string) | undefined;
}

/** An idempotency key and the header that carries it. In v1 and v2, the request id is the idempotency key. */
export interface SentKey extends IdempotencyKey {
  readonly sentAs: 'Idempotency-Key' | 'X-Request-Id';
}

/** The request id and the idempotency key of a request. Before a retry, foley may replace one or both. */
export interface Ids {
  readonly requestId: string;
  readonly key: string | undefined;
}

export interface RequestOptions {
  /** The request id to send; default: a generated id. */
  readonly requestId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the new idempotency key before a refunded request is sent again. The caller can record the key. */
  readonly onNewKey?: ((key: string) => Promise<void>) | undefined;
}

export interface BilledCallOptions extends RequestOptions {
  readonly idempotencyKey: IdempotencyKey;
}

export interface RequestSpec extends RequestOptions {
  readonly method: string;
  /** A path that begins with `/` and is appended to the base URL, or a URL from a response. */
  readonly target: string | URL;
  /** The host to use if `target` is a path; default `base`. */
  readonly host?: 'base' | 'realtime' | undefined;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly accept?: string | undefined;
  readonly body?: RequestBody | undefined;
  /** A streamed body, sent instead of `body`. */
  readonly stream?: StreamedBody | undefined;
  /** Whether the request is sent without the API key, as for public documents. */
  readonly public?: boolean | undefined;
  /** Whether the target is a file. A 401 or 403 response then means an expired link, not a wrong API key. */
  readonly isFile?: true | undefined;
  readonly billed: boolean;
  readonly retry: RetryRule;
  /** Maximum number of retries; default: the limit of the client. */
  readonly maxRetries?: number | undefined;
  readonly key?: SentKey | undefined;
  /** Called after a 503 response. Returns whether the service still lists the requested model; undefined if unknown. */
  readonly modelStillAvailable?: (() => Promise<boolean | undefined>) | undefined;
  /** Called before each retry with the outcome of the failed attempt to send the request. */
  readonly onRepeat?: ((before: AttemptOutcome) => void) | undefined;
  /** Hint for the user, shown if no response arrives: how to find out whether the request was billed. */
  readonly lookAt?: string | undefined;
}

export interface WireRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly stream?: StreamedBody | undefined;
}

// foley sets these headers itself, or they would break HTTP framing.
const RESERVED = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
  'upgrade',
  'te',
  'trailer',
  'expect',
]);

export function jsonBody(value: unknown): RequestBody {
  return { contentType: 'application/json', bytes: Buffer.from(JSON.stringify(value)) };
}

/**
 * Builds an HTTP request. Adds the API key only if the URL belongs to the service.
 * @throws Failure: `usage` for an invalid request, `auth` if the API key is missing
 */
export function buildRequest(
  spec: RequestSpec,
  address: ServiceAddress,
  ids: Ids,
  version: string,
): WireRequest {
  const url = resolveTarget(spec, address);
  requireProtected(url);
  const headers: Record<string, string> = {
    accept: spec.accept ?? 'application/json',
    'accept-encoding': 'identity',
    'user-agent': `foley/${version}`,
    ...bodyHeaders(spec),
  };
  for (const [name, value] of Object.entries(spec.headers ?? {})) {
    headers[name.toLowerCase()] = checkHeader(name, value);
  }
  if (mayHaveKey(url, address)) Object.assign(headers, ownHeaders(spec, address, ids));
  const { method, stream } = spec;
  const request = { method, url, headers, body: spec.body?.bytes };
  return stream === undefined ? request : { ...request, stream };
}

function bodyHeaders({ body, stream }: RequestSpec): Record<string, string> {
  if (stream === undefined) return body === undefined ? {} : { 'content-type': body.contentType };
  return { 'content-type': stream.contentType, 'content-length': `${stream.byteLength}` };
}

function ownHeaders(spec: RequestSpec, address: ServiceAddress, ids: Ids): Record<string, string> {
  const own: Record<string, string> = {
    [HEADERS.requestId.toLowerCase()]: checkHeader(HEADERS.requestId, ids.requestId),
  };
  if (ids.key !== undefined) {
    own[HEADERS.idempotencyKey.toLowerCase()] = checkHeader(HEADERS.idempotencyKey, ids.key);
  }
  if (spec.public === true) return own;
  if (address.apiKey === undefined) {
    throw keyFailure(
      `${address.baseUrl.host} needs an API key`,
      'Set FOLEY_API_KEY, pass --api-key-file PATH, or run `foley auth login`.',
    );
  }
  return { ...own, authorization: `Bearer ${address.apiKey}` };
}

function resolveTarget({ target, host, query }: RequestSpec, address: ServiceAddress): URL {
  const url = new URL(
    typeof target === 'string' && target.startsWith('/')
      ? below(host === 'realtime' ? withHttp(address.realtimeUrl) : address.baseUrl, target)
      : target,
  );
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  // Assign only if necessary, because each assignment parses the URL again.
  if (url.username !== '') url.username = '';
  if (url.password !== '') url.password = '';
  if (url.hash !== '') url.hash = '';
  return url;
}

function below(base: URL, path: string): string {
  return base.origin + base.pathname.replace(/\/+$/, '') + path;
}

/**
 * Checks a header that the user set, and returns the header's value.
 * @throws Failure of kind `usage` for a reserved header, or an invalid name or value
 */
export function checkHeader(name: string, value: string): string {
  if (RESERVED.has(name.toLowerCase())) {
    throw usageFailure(`cannot set the header ${name}`, 'foley sets it itself.');
  }
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    throw usageFailure(`"${name}" is not a valid header name`, 'Use letters, digits and dashes.');
  }
  if (!isHeaderValue(value)) {
    throw usageFailure(
      `the value of the header ${name} is not valid`,
      'Use printable ASCII without spaces at the ends.',
    );
  }
  return value;
}

/** Returns whether a header can carry the value: printable ASCII that neither begins nor ends with a space. */
export function isHeaderValue(value: string): boolean {
  return /^[\x20-\x7e]*$/.test(value) && value.trim() === value;
}

interface ApiCall {
  readonly method: string;
  readonly target: string;
  readonly public: boolean;
}

const BY_ID = new Map<EndpointId, (typeof ENDPOINTS)[number]>(
  ENDPOINTS.map((entry) => [entry.id, entry]),
);

/**
 * Returns the method and the path of an endpoint, with parameter values inserted, and whether the endpoint is public.
 * @throws Failure of kind `usage` for a parameter that is not a valid id
 */
export function endpoint(
  id: EndpointId,
  parameters: Readonly<Record<string, string>> = {},
): ApiCall {
  const known = BY_ID.get(id);
  if (known === undefined) throw new Error(`unknown endpoint ${id}`);
  const { method, path } = known;
  const target = path.includes('{')
    ? path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeSegment(parameters[name] ?? ''))
    : path;
  return { method, target, public: 'public' in known };
}

/** Builds a request that is never billed and may be repeated. @param parameters values for the path parameters */
export function safeRequest(
  id: EndpointId,
  parameters: Readonly<Record<string, string>> = {},
  options: Partial<RequestSpec> = {},
): RequestSpec {
  return { ...endpoint(id, parameters), billed: false, retry: 'safe', ...options };
}

/** Builds a billed request with an idempotency key, by which the service recognizes a retry. */
export function keyedRequest(
  call: ApiCall,
  body: RequestBody,
  { idempotencyKey, onNewKey, requestId, signal }: BilledCallOptions,
  sentAs: SentKey['sentAs'] = 'Idempotency-Key',
): RequestSpec {
  const key = { ...idempotencyKey, sentAs };
  return { ...call, body, billed: true, retry: 'keyed', key, requestId, signal, onNewKey };
}

function encodeSegment(value: string): string {
  // Empty and dot segments would change the path, even if they were percent-encoded.
  if (value === '' || value === '.' || value === '..')
    throw usageFailure(`"${value}" is not a valid id`);
  return encodeURIComponent(value);
}

/** An event of a request, such as a retry, that `--verbose` prints. The event contains no secrets. */
export type ApiEvent = {
  /** The request id that the service returned, else the id that foley sent. */
  readonly requestId: string;
  /** Number of the attempt to send the request, from 1. In a retry event, the attempt that failed. */
  readonly attempt: number;
} & (
  | {
      readonly type: 'response';
      readonly method: string;
      readonly url: string;
      readonly status: number;
      /** Milliseconds from the start of the attempt to the response headers. */
      readonly ms: number;
    }
  | {
      readonly type: 'no_response';
      readonly method: string;
      readonly url: string;
      /** The transport error, such as `refused`, `timeout` or `CERT_HAS_EXPIRED`. */
      readonly reason: string;
      readonly ms: number;
    }
  | { readonly type: 'retry'; readonly delayMs: number; readonly reason: string }
);

export type Observer = (event: ApiEvent) => void;

const LONGEST_KEY = 4_096;

/**
 * Checks an API key and removes a line break at its end. Rejects invalid keys, because an HTTP library would print
 * them in its error message.
 * @param keySource name of the setting, such as `FOLEY_API_KEY`
 * @throws Failure of kind `auth`, whose message does not contain the key
 */
export function checkApiKey(given: string, keySource: string): string {
  const key = given.replace(/\r?\n$/, '');
  if (key.trim() === '') {
    throw keyFailure(`${keySource} is empty`, 'Set it to an API key, or remove it.');
  }
  const fault = /[^\x21-\x7e]/u.exec(key);
  if (fault !== null) {
    const position = fault.index + 1;
    throw keyFailure(
      `${keySource} has an invalid character at position ${position}`,
      'Copy the key again, without quotes, spaces or line ends.',
    );
  }
  if (key.length > LONGEST_KEY) {
    throw keyFailure(
      `${keySource} is too long for an API key`,
      'Check that it is the right file or variable.',
    );
  }
  return key;
}

export function keyFailure(message: string, hint: string): Failure {
  return new Failure(message, { code: 'no_key', exit: 'auth', hint });
}

export interface ServiceAddress {
  readonly kind: 'embedded' | 'hosted';
  /** The base URL, to which the paths of endpoints are appended. */
  readonly baseUrl: URL;
  /** The URL of the realtime host, with `ws:` or `wss:`. */
  readonly realtimeUrl: URL;
  /** The API key. foley sends the key only to the origins of `baseUrl` and `realtimeUrl`. */
  readonly apiKey: string | undefined;
}

/** Returns whether the API key may be sent to the origin of an http(s) URL. */
export function mayHaveKey({ origin }: URL, { baseUrl, realtimeUrl }: ServiceAddress): boolean {
  return origin === baseUrl.origin || origin === withHttp(realtimeUrl).origin;
}

/** Returns the URL with `ws:` replaced by `http:`, and `wss:` by `https:`. */
export function withHttp(url: URL): URL {
  return new URL(url.href.replace(/^ws/, 'http'));
}

/** Returns whether the host is this computer: a loopback IP address or the name `localhost`. */
export function isLoopback(url: URL): boolean {
  const { hostname } = url;
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** Returns whether a URL is unencrypted and its host is another computer. */
export function isPlainOverNetwork(url: URL): boolean {
  return (url.protocol === 'http:' || url.protocol === 'ws:') && !isLoopback(url);
}

/** Rejects an unencrypted URL whose host is another computer. @throws Failure of kind `usage` */
export function requireProtected(url: URL): void {
  if (!isPlainOverNetwork(url)) return;
  const secure = url.protocol === 'http:' ? 'https' : 'wss';
  throw usageFailure(
    `${url.protocol}//${url.host} is not encrypted`,
    `Use ${secure}://${url.host}: plain ${url.protocol.slice(0, -1)} is allowed for this computer only.`,
  );
}
