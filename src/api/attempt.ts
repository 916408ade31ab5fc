import type { Clock } from '../effects/clock.ts';
import { Failure } from '../errors/failure.ts';
import type { ApiResponse } from './response.ts';
import {
  readHeaders,
  badResponse,
  isPacked,
  readErrorText,
  parseServiceError,
} from './response.ts';
import { maybeBilled, statusFailure, storeFailure, transportFailure } from './failures.ts';
import type { TransportFacts } from './failures.ts';
import type { Ids, Observer, RequestSpec, WireRequest, ServiceAddress } from './request.ts';
import { buildRequest, keyOrigins, isPlainOverNetwork } from './request.ts';
import { redactUrl } from './redact.ts';
import { parseRetryAfter } from './retry.ts';
import { AttemptFailure } from './retry-loop.ts';
import type { TransportResponse } from './transport/exchange.ts';
import { TransportError } from './transport/exchange.ts';
import type { Transport } from './transport/http.ts';

export const CONNECT_TIMEOUT_MS = 10_000;
const BILLED_RESPONSE_TIMEOUT_MS = 600_000;
const RESPONSE_TIMEOUT_MS = 60_000;
export const IDLE_TIMEOUT_MS = 60_000;

interface Attempt {
  readonly address: ServiceAddress;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly transport: Transport;
  readonly version: string;
  readonly limits: {
    readonly responseTimeoutMs?: number | undefined;
    readonly idleTimeoutMs?: number | undefined;
  };
  readonly spec: RequestSpec;
  readonly ids: Ids;
  /** From 1. */
  readonly number: number;
}

/**
 * Sends a request once, following redirects.
 * @throws AttemptFailure for any response but 2xx; Failure if the request cannot be sent at all
 */
export async function performAttempt(attempt: Attempt): Promise<ApiResponse> {
  const { address, ids, spec, version } = attempt;
  let request = buildRequest(spec, address, ids, version);
  for (let followed = 0; ; followed += 1) {
    const response = await exchange(attempt, request);
    const isLink = followed > 0 || typeof spec.target !== 'string';
    if (![301, 302, 303, 307, 308].includes(response.status)) {
      return judge(attempt, response, request.url, isLink);
    }
    response.discard();
    request = redirected(request, response, followed);
  }
}

function transportFacts({ address, clock, ids, limits, spec }: Attempt): TransportFacts {
  const usual = spec.billed ? BILLED_RESPONSE_TIMEOUT_MS : RESPONSE_TIMEOUT_MS;
  return {
    billed: spec.billed,
    requestId: ids.requestId,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    responseTimeoutMs: limits.responseTimeoutMs ?? usual,
    idleTimeoutMs: limits.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
    now: clock.now(),
    isEmbedded: address.kind === 'embedded',
  };
}

async function exchange(attempt: Attempt, request: WireRequest): Promise<ApiResponse> {
  const { address, clock, ids, number, observer, spec, transport } = attempt;
  const { responseTimeoutMs, idleTimeoutMs } = transportFacts(attempt);
  const { method } = request;
  const url = redactUrl(request.url, keyOrigins(address));
  const start = clock.monotonic();
  const seen = { method, url, attempt: number };
  const ms = (): number => clock.monotonic() - start;
  try {
    const { signal } = spec;
    const limits = { responseTimeoutMs, idleTimeoutMs, signal };
    const fresh = spec.retry === 'never';
    const arrived = await transport.request({ ...request, ...limits, fresh });
    const response = toAnswer(attempt, url, arrived);
    const { requestId, status } = response;
    observer({ type: 'response', ...seen, status, ms: ms(), requestId });
    return response;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const reason = error.systemCode ?? error.fault;
    observer({ type: 'no_response', ...seen, reason, ms: ms(), requestId: ids.requestId });
    const failure = transportFailure(error, transportFacts(attempt));
    throw new AttemptFailure(failure, outcomeOf(error));
  }
}

function outcomeOf(error: TransportError): AttemptFailure['outcome'] {
  if (error.unanswered) return { kind: 'unanswered' };
  if (!error.unsent) return { kind: 'unusable' };
  const { fault } = error;
  return { kind: 'unsent', permanent: fault === 'certificate', once: fault === 'name_unknown' };
}

/** Returns a 2xx response; throws an AttemptFailure for any other. */
async function judge(
  { address, clock, spec }: Attempt,
  response: ApiResponse,
  url: URL,
  isLink: boolean,
): Promise<ApiResponse> {
  const { headers, requestId, retryAfterMs, status } = response;
  const { billed } = spec;
  if (status >= 200 && status < 300) {
    if (!isPacked(headers)) return response;
    response.discard();
    // Compressed audio could not be checked while it streams.
    const failure = badResponse(
      'the response is compressed, which foley did not request',
      response,
    );
    throw new AttemptFailure(billed ? maybeBilled(failure) : failure, { kind: 'unusable' });
  }
  const mayBeExpired = isLink && spec.isFile === true && (status === 401 || status === 403);
  if (mayBeExpired || !keyOrigins(address).has(url.origin)) {
    response.discard();
    const failure = storeFailure(url.host, { status, requestId, retryAfterMs });
    throw new AttemptFailure(failure, { kind: 'status', status, retryAfterMs });
  }
  const error = parseServiceError(await response.errorText(), headers);
  const now = clock.now();
  const retryable = error.details?.['retryable'];
  throw new AttemptFailure(statusFailure({ status, error, requestId, retryAfterMs, billed, now }), {
    kind: 'status',
    status,
    code: error.code,
    retryAfterMs,
    retryable: typeof retryable === 'boolean' ? retryable : undefined,
  });
}

function toAnswer(
  attempt: Attempt,
  url: string,
  { body, contentLength, framing, headers: all, status }: TransportResponse,
): ApiResponse {
  const { clock, ids } = attempt;
  const headers = readHeaders(all);
  const response = {
    status,
    headers,
    requestId: headers.requestId ?? ids.requestId,
    url,
    retryAfterMs: parseRetryAfter(headers.get('retry-after'), headers.get('date'), clock.now()),
    framing,
    contentLength,
    body: { [Symbol.asyncIterator]: () => explained(body, headers.isEmbedded, attempt) },
    discard: () => body.discard(),
  };
  return { ...response, errorText: () => readErrorText(response, clock) };
}

/** Yields the bytes of a body; throws transport errors as failures. */
async function* explained(
  body: TransportResponse['body'],
  isServe: boolean,
  attempt: Attempt,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const { requestId } = attempt.ids;
    const reason = error.fault === 'cut' ? attempt.address.failureOf?.(requestId) : undefined;
    if (reason !== undefined) throw brokenOff(reason, requestId);
    throw transportFailure(error, { ...transportFacts(attempt), isServe });
  }
}

/** Reports that the embedded service stopped a response because its engine failed. */
function brokenOff(reason: string, requestId: string): Failure {
  return new Failure(`the service stopped the speech: ${reason}`, {
    code: 'ERR_GENERATION_FAILED',
    exit: 'service',
    hint: 'It was refunded.',
    billed: 'no',
    requestId,
  });
}

const MOST_REDIRECTS = 5;
/** Headers that a redirect may carry to another origin. */
const HARMLESS = new Set(['accept', 'accept-encoding', 'if-range', 'range', 'user-agent']);

/**
 * Returns the request that a redirect asks for. Reads follow up to five redirects, never from https to http,
 * and keep their key on the same origin only. Writes are never sent to another origin, nor turned into reads.
 * @throws AttemptFailure for any other redirect
 */
function redirected(request: WireRequest, response: ApiResponse, followed: number): WireRequest {
  const { status } = response;
  const { location } = response.headers;
  const { headers, method } = request;
  const refusal = (why: string): AttemptFailure =>
    new AttemptFailure(badResponse(`cannot follow the redirect: ${why}`, response), {
      kind: 'unusable',
    });
  if (location === undefined || !URL.canParse(location, request.url.href)) {
    throw refusal('its Location is missing or invalid');
  }
  const url = new URL(location, request.url);
  url.username = '';
  url.password = '';
  url.hash = '';
  const away = url.origin !== request.url.origin;
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw refusal(`its Location is a ${url.protocol} URL`);
  }
  if (request.url.protocol === 'https:' && url.protocol === 'http:') {
    throw refusal(`it leads from https to ${url.origin}`);
  }
  if (isPlainOverNetwork(url)) {
    throw refusal(`it leads to ${url.origin} without encryption`);
  }
  if (followed >= MOST_REDIRECTS) throw refusal(`more than ${MOST_REDIRECTS} redirects`);
  const isRead = method === 'GET' || method === 'HEAD';
  if (!isRead && away) throw refusal(`it sends a ${method} to ${url.origin}`);
  if (!isRead && status !== 307 && status !== 308)
    throw refusal(`status ${status} would not repeat the ${method}`);
  if (!away) return { ...request, url };
  const harmless = Object.entries(headers).filter(([name]) => HARMLESS.has(name));
  return { ...request, url, headers: Object.fromEntries(harmless) };
}
