import type { EndpointId } from '../contract/generated/endpoints.ts';
import { ENDPOINTS } from '../contract/generated/endpoints.ts';
import { HEADERS } from '../contract/values.ts';
import { usageFailure, Failure } from '../errors/failure.ts';
import type { AttemptOutcome, RetryRule } from './retry.ts';

/** A body that can be sent again unchanged. */
export interface RequestBody {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** A body that is too large to be held, such as files: it is read anew each time it is sent. */
export interface StreamedBody {
  readonly contentType: string;
  readonly byteLength: number;
  /** Throws a Failure when it cannot be read. */
  open(): AsyncIterable<Uint8Array>;
}

/** The key under which the service recognizes a billed request that is sent again. */
export interface IdempotencyKey {
  readonly value: string;
  /** Made by the tool, so that it may be replaced when it was refunded; not chosen by the user. */
  readonly madeByTool: boolean;
  /** v1 and v2 know no header of their own: there the request id is the key, and both are sent. */
  readonly sentAs: 'Idempotency-Key' | 'X-Request-Id';
}

/** Options of a billed request. */
export interface BilledOptions {
  readonly idempotencyKey: Pick<IdempotencyKey, 'madeByTool' | 'value'>;
  readonly requestId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called before a refunded request is sent again under a new key, to record the key first. */
  readonly onNewKey?: ((key: string) => Promise<void>) | undefined;
}

/** One logical request: what is asked, and what may be done when it goes wrong. */
export interface RequestSpec {
  readonly method: string;
  /** Path of the spec, beginning with `/` (below the base URL), or a URL out of an answer. */
  readonly target: string | URL;
  /** Which host a path is on; default `base`. */
  readonly host?: 'base' | 'realtime' | undefined;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly accept?: string | undefined;
  readonly body?: RequestBody | undefined;
  /** Instead of `body`. */
  readonly stream?: StreamedBody | undefined;
  /** Public documents are asked for without a key, also when there is one. */
  readonly public?: boolean | undefined;
  /**
   * Asks for a file: a link that the service answered with, or redirects to, may have expired, so that 401 and 403
   * there say nothing about the key.
   */
  readonly isFile?: true | undefined;
  readonly billed: boolean;
  readonly retry: RetryRule;
  /** Instead of the client's own limit. */
  readonly maxRetries?: number | undefined;
  readonly key?: IdempotencyKey | undefined;
  /** Given by the user; otherwise made for each logical request. */
  readonly requestId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** After a 503: whether a fresh capability record still has the model. */
  readonly modelStillAvailable?: (() => Promise<boolean | undefined>) | undefined;
  /** Told before it is sent once more, with what became of it before. */
  readonly onRepeat?: ((before: AttemptOutcome) => void) | undefined;
  /** Told before a request goes out under a new key, so that it can be recorded first. */
  readonly onNewKey?: ((key: string) => Promise<void>) | undefined;
  /** Where a user finds out what became of a billed request without an answer. */
  readonly lookAt?: string | undefined;
}

/** What is put on the wire. */
export interface WireRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  /** Instead of `body`. */
  readonly stream?: StreamedBody | undefined;
}

/** Headers that the client writes itself, or that would break the framing of the request. */
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

/** A JSON body. */
export function jsonBody(value: unknown): RequestBody {
  return { contentType: 'application/json', bytes: Buffer.from(JSON.stringify(value)) };
}

/**
 * Puts a request together: address, key, ids. The key goes to the address's own origins only.
 * @throws Failure: usage for what cannot be sent, auth when a key is needed and there is none
 */
export function buildRequest(
  spec: RequestSpec,
  address: ServiceAddress,
  ids: { readonly requestId: string; readonly key: string | undefined },
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
  if (keyOrigins(address).has(url.origin)) Object.assign(headers, ownHeaders(spec, address, ids));
  const { method, stream } = spec;
  const request = { method, url, headers, body: spec.body?.bytes };
  return stream === undefined ? request : { ...request, stream };
}

function bodyHeaders({ body, stream }: RequestSpec): Record<string, string> {
  if (stream === undefined) return body === undefined ? {} : { 'content-type': body.contentType };
  return { 'content-type': stream.contentType, 'content-length': `${stream.byteLength}` };
}

/** What only the service itself may see. */
function ownHeaders(
  spec: RequestSpec,
  address: ServiceAddress,
  ids: { readonly requestId: string; readonly key: string | undefined },
): Record<string, string> {
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
  // Each of them is parsed anew when it is set.
  if (url.username !== '') url.username = '';
  if (url.password !== '') url.password = '';
  if (url.hash !== '') url.hash = '';
  return url;
}

function below(base: URL, path: string): string {
  return base.origin + base.pathname.replace(/\/+$/, '') + path;
}

/**
 * The value of a header that a user may set.
 * @throws Failure (usage) for a header that the client writes itself, and for what none can carry
 */
export function checkHeader(name: string, value: string): string {
  if (RESERVED.has(name.toLowerCase())) {
    throw usageFailure(`the header ${name} cannot be set`, 'foley writes it itself.');
  }
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    throw usageFailure(`"${name}" is not the name of a header`);
  }
  if (!isHeaderValue(value)) {
    throw usageFailure(
      `the value for ${name} has characters that a header cannot carry`,
      'Use printable ASCII without spaces at the ends.',
    );
  }
  return value;
}

/** Whether a header can carry it: printable ASCII without spaces at the ends. */
export function isHeaderValue(value: string): boolean {
  return /^[\x20-\x7e]*$/.test(value) && value.trim() === value;
}

interface Call {
  readonly method: string;
  readonly target: string;
  readonly public: boolean;
}

const BY_ID = new Map<EndpointId, (typeof ENDPOINTS)[number]>(
  ENDPOINTS.map((entry) => [entry.id, entry]),
);

/**
 * Method, path and need of a key of an endpoint, its path parameters filled in.
 * @throws Failure (usage) for an id that no path can have
 */
export function endpoint(id: EndpointId, parameters: Readonly<Record<string, string>> = {}): Call {
  const known = BY_ID.get(id);
  if (known === undefined) throw new Error(`there is no endpoint ${id}`);
  const { method, path } = known;
  const target = path.includes('{')
    ? path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeSegment(parameters[name] ?? ''))
    : path;
  return { method, target, public: 'public' in known };
}

/** An address would lead elsewhere with these, however they are written. */
function encodeSegment(value: string): string {
  if (value === '' || value === '.' || value === '..')
    throw usageFailure(`"${value}" is not an id`);
  return encodeURIComponent(value);
}

/**
 * What the client tells about its requests while it works (`--verbose`); secrets and signed queries
 * are already taken out. Nothing depends on it.
 */
export type ApiEvent =
  | {
      readonly type: 'answer';
      readonly method: string;
      readonly url: string;
      readonly status: number;
      /** From the start of the attempt to the headers of the answer. */
      readonly ms: number;
      /** The service's own id when it gave one. */
      readonly requestId: string;
      /** From 1. */
      readonly attempt: number;
    }
  | {
      readonly type: 'no_answer';
      readonly method: string;
      readonly url: string;
      /** Why, as one word or code: `refused`, `timeout`, `CERT_HAS_EXPIRED`. */
      readonly reason: string;
      readonly ms: number;
      readonly requestId: string;
      readonly attempt: number;
    }
  | {
      readonly type: 'retry';
      readonly requestId: string;
      /** The attempt that failed. */
      readonly attempt: number;
      readonly delayMs: number;
      readonly reason: string;
    };

export type Observer = (event: ApiEvent) => void;

/** Far above any real key, and below what servers take as a header. */
const LONGEST_KEY = 4_096;

/**
 * The API key of what was typed, read or configured: one trailing line end is dropped; what cannot
 * be sent in a header is refused here, since an HTTP library would print it. The value is never told.
 * @param source where it came from, such as `FOLEY_API_KEY`
 * @throws Failure (auth)
 */
export function checkApiKey(given: string, source: string): string {
  const key = given.replace(/\r?\n$/, '');
  if (key.trim() === '') {
    throw keyFailure(`${source} is empty`, 'Set it to an API key, or remove it.');
  }
  const fault = /[^\x21-\x7e]/u.exec(key);
  if (fault !== null) {
    const position = fault.index + 1;
    throw keyFailure(
      `${source} has a character that no API key can have, at position ${position}`,
      'Copy the key again, without quotes, spaces or line ends.',
    );
  }
  if (key.length > LONGEST_KEY) {
    throw keyFailure(`${source} is too long to be an API key`, 'Is it the right file or variable?');
  }
  return key;
}

export function keyFailure(message: string, hint: string): Failure {
  return new Failure(message, { code: 'no_key', exit: 'auth', hint });
}

/** Which service is called, and the one key that may be sent to it. */
export interface ServiceAddress {
  readonly kind: 'embedded' | 'hosted';
  /** Begins every path of the spec; may itself have a path. */
  readonly baseUrl: URL;
  /** The realtime host, with `ws:` or `wss:`. */
  readonly realtimeUrl: URL;
  /** Sent to the origins of the two addresses and nowhere else. */
  readonly apiKey: string | undefined;
  /** Why the embedded service, which runs in this process, broke off the response to a request. */
  readonly failureOf?: (requestId: string) => string | undefined;
}

/** The origins (with `http:` or `https:`) that the key of the address belongs to. */
export function keyOrigins(address: ServiceAddress): ReadonlySet<string> {
  const known = originsOf.get(address);
  if (known !== undefined) return known;
  const origins = new Set([address.baseUrl.origin, withHttp(address.realtimeUrl).origin]);
  originsOf.set(address, origins);
  return origins;
}

/** It is asked several times for each request, and an address never changes. */
const originsOf = new WeakMap<ServiceAddress, ReadonlySet<string>>();

/** The same address with `http:` for `ws:` and `https:` for `wss:`. */
export function withHttp(url: URL): URL {
  return new URL(url.href.replace(/^ws/, 'http'));
}

/** Whether a URL's host can only be this computer: no name but `localhost` is believed. */
export function isLoopback(url: URL): boolean {
  const { hostname } = url;
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** Whether bytes to this URL travel where others could read them. */
export function isPlainOverNetwork(url: URL): boolean {
  return (url.protocol === 'http:' || url.protocol === 'ws:') && !isLoopback(url);
}

/**
 * Refuses plain `http:` and `ws:` to anything but this computer.
 * @throws Failure (usage)
 */
export function requireProtected(url: URL): void {
  if (!isPlainOverNetwork(url)) return;
  const secure = url.protocol === 'http:' ? 'https' : 'wss';
  throw usageFailure(
    `${url.protocol}//${url.host} would be called without encryption`,
    `Use ${secure}://${url.host}; plain ${url.protocol.slice(0, -1)} is for this computer only.`,
  );
}
