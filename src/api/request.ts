import { HEADERS } from '../contract/headers.ts';
import { usageFailure } from '../errors/failure.ts';
import { keyFailure } from './api-key.ts';
import type { AttemptOutcome, RetryRule } from './retry.ts';
import type { ServiceAddress } from './service-address.ts';
import { keyOrigins, requireProtected, withHttp } from './service-address.ts';

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
  url.username = '';
  url.password = '';
  url.hash = '';
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
