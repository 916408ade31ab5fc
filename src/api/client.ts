import pRetry from 'p-retry';
import type { Clock } from '../system/clock.ts';
import type { Random } from '../system/random.ts';
import { Failure } from '../errors/failure.ts';
import type { TransportContext } from './failures.ts';
import {
  maybeBilled,
  redactFailure,
  reviseFailure,
  statusFailure,
  storeFailure,
  streamFailure,
  transportFailure,
  unknownOutcome,
} from './failures.ts';
import { createRedactor, redactUrl } from './redact.ts';
import type { Ids, Observer, RequestSpec, ServiceAddress, WireRequest } from './request.ts';
import {
  buildRequest,
  checkApiKey,
  isPlainOverNetwork,
  mayHaveKey,
  safeRequest,
} from './request.ts';
import type { ApiResponse, JsonResponse, UnknownRecord } from './response.ts';
import {
  badResponse,
  firstNumber,
  firstRecord,
  firstText,
  isCompressed,
  parseJson,
  parseServiceError,
  readErrorText,
  readHeaders,
  readText,
} from './response.ts';
import type { AttemptOutcome } from './retry.ts';
import { decideRetry, parseRetryAfter } from './retry.ts';
import type { TransportResponse } from './transport/exchange.ts';
import { CONNECT_TIMEOUT_MS, TransportError } from './transport/transport-error.ts';
import type { Transport } from './transport/http.ts';
import { createTransport } from './transport/http.ts';
import type { ProxyEnvironment } from './transport/proxy.ts';

const BILLED_RESPONSE_TIMEOUT_MS = 600_000;
const RESPONSE_TIMEOUT_MS = 60_000;
export const IDLE_TIMEOUT_MS = 60_000;
/**
 * Maximum wait for data from foley's own service. It is longer than the service waits for a speech engine, so that the
 * service can report an engine that does not respond.
 */
export const SERVE_IDLE_TIMEOUT_MS = 75_000;
const STORED_ERROR_TIMEOUT_MS = 5_000;
const MOST_JSON_BYTES = 16 * 1024 * 1024;
const MASKED_KEY = 'Bearer [redacted]';

export interface ApiClientOptions {
  readonly address: ServiceAddress;
  readonly clock: Clock;
  readonly random: Random;
  /** The version number of foley, sent in the `User-Agent` header. */
  readonly version: string;
  readonly limits: {
    readonly maxRetries: number;
    /** Maximum wait for response headers; default 10 minutes for billed requests, 1 minute for others. */
    readonly responseTimeoutMs?: number | undefined;
    /** Maximum wait for the next byte of a body; default one minute. */
    readonly idleTimeoutMs?: number | undefined;
    /** Maximum size of a downloaded file in bytes (`--max-bytes`). */
    readonly maxBytes?: number | undefined;
  };
  readonly observer?: Observer | undefined;
  readonly env: ProxyEnvironment;
  /** Certificates (PEM) to trust instead of the built-in ones. */
  readonly certificates?: string | undefined;
  /** Sends the HTTP requests; default: the transport on undici. */
  readonly transport?: Transport | undefined;
}

export interface ApiClient {
  readonly address: ServiceAddress;
  readonly maxBytes?: number | undefined;
  readonly retry: { readonly clock: Clock; readonly random: Random; readonly maxRetries: number };
  /**
   * Sends a request and returns the 2xx response. Retries a failed attempt only if the retry cannot be billed twice.
   * @throws Failure, or the signal's abort reason
   */
  send(spec: RequestSpec): Promise<ApiResponse>;
  /**
   * Sends a request and parses the JSON response. `read` converts the body, or returns undefined for an invalid body.
   */
  json<T>(spec: RequestSpec, read: (body: unknown) => T | undefined): Promise<JsonResponse<T>>;
  /** Opens a connection in advance, for the next request. If the connection fails, that request throws the error. */
  prepare(): void;
  /** Returns the HTTP request that `send` would send, with the API key masked. */
  describe(spec: RequestSpec): WireRequest;
  /** Masks the secrets in the messages and details of a failure. */
  redact(failure: Failure): Failure;
  close(): Promise<void>;
}

/**
 * Creates an HTTP client for the API.
 * @throws Failure of kind `auth` if the API key contains characters that a header cannot carry
 */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const { address, certificates, clock, env, limits, random, version } = options;
  if (address.apiKey !== undefined) checkApiKey(address.apiKey, 'the API key');
  const redactor = createRedactor([address.apiKey]);
  const transport = options.transport ?? createTransport({ clock, env, certificates });
  const sender = { ...options, observer: options.observer ?? (() => {}), transport };

  const redact = (failure: Failure): Failure => redactFailure(failure, redactor);

  async function send(spec: RequestSpec): Promise<ApiResponse> {
    try {
      return await sendWithRetries(sender, spec);
    } catch (error) {
      throw error instanceof Failure ? redact(error) : error;
    }
  }

  return {
    address,
    maxBytes: limits.maxBytes,
    retry: { clock, random, maxRetries: limits.maxRetries },
    send,
    json: async (spec, read) => readJsonResponse(await send(spec), read),
    prepare: () => transport.prepare?.(address.baseUrl),
    describe: (spec) => masked(buildRequest(spec, address, idsOf(spec, random), version)),
    redact,
    close: () => transport.close(),
  };
}

function masked(request: WireRequest): WireRequest {
  if (request.headers['authorization'] === undefined) return request;
  return { ...request, headers: { ...request.headers, authorization: MASKED_KEY } };
}

function idsOf({ key, requestId }: RequestSpec, random: Random) {
  const fallback = key?.sentAs === 'X-Request-Id' ? key.value : random.uuid();
  return { requestId: requestId ?? fallback, key: key?.value };
}

interface Sender extends ApiClientOptions {
  readonly observer: Observer;
  readonly transport: Transport;
}

async function sendWithRetries(sender: Sender, spec: RequestSpec): Promise<ApiResponse> {
  const { clock, limits, observer, random } = sender;
  const first = idsOf(spec, random);
  let ids = first;
  // Whether an attempt may have been billed and was not refunded.
  let mayBeBilled = false;
  // The last 500 response. A retry with the same idempotency key then reports only that the request was refunded.
  let broken: Failure | undefined;
  return pRetry((number) => performAttempt({ sender, spec, ids, number }), {
    // The retry decision limits the retries and sets the delays.
    retries: Infinity,
    minTimeout: 0,
    async onFailedAttempt({ attemptNumber: attempt, error }) {
      if (!(error instanceof AttemptFailure)) {
        // p-retry replaces an abort reason that is not an error.
        spec.signal?.throwIfAborted();
        throw error;
      }
      const { failure, outcome } = error;
      mayBeBilled = mayHaveBeenBilled(error, mayBeBilled);
      if (outcome.kind === 'status' && outcome.status === 500) broken = failure;
      const decision = decideRetry({
        outcome,
        attempt,
        maxRetries: spec.maxRetries ?? limits.maxRetries,
        rule: spec.retry,
        keyMadeByTool: spec.key?.madeByTool ?? false,
        keyRenewed: ids.key !== first.key,
        modelAvailable: await modelAvailable(spec, outcome),
        fraction: random.fraction(),
      });
      if (!decision.retry) throw conclude(error, spec, { broken, mayBeBilled });
      if (decision.newKey) ids = await renew(spec, ids, random);
      const reason = failure.status === undefined ? failure.code : `${failure.status}`;
      const { requestId } = ids;
      observer({ type: 'retry', requestId, attempt, delayMs: decision.delayMs, reason });
      await clock.sleep(decision.delayMs, spec.signal);
      spec.onRepeat?.(outcome);
    },
  });
}

async function modelAvailable(
  spec: RequestSpec,
  outcome: AttemptOutcome,
): Promise<boolean | undefined> {
  const asks = outcome.kind === 'status' && outcome.status === 503;
  return asks ? await spec.modelStillAvailable?.() : undefined;
}

async function renew(spec: RequestSpec, ids: Ids, random: Random): Promise<Ids> {
  const key = spec.key?.next?.() ?? random.uuid();
  await spec.onNewKey?.(key);
  return { key, requestId: spec.key?.sentAs === 'X-Request-Id' ? key : ids.requestId };
}

function mayHaveBeenBilled({ failure, outcome }: AttemptFailure, before: boolean): boolean {
  if (outcome.kind !== 'status') return before || outcome.kind === 'unanswered';
  if (outcome.code === 'ERR_REQUEST_PREVIOUSLY_REFUNDED') return false;
  // A 5xx other than 503 may have been billed.
  return before || (failure.billed !== 'no' && outcome.status >= 500 && outcome.status !== 503);
}

function conclude(
  { failure, outcome }: AttemptFailure,
  spec: RequestSpec,
  earlier: { readonly broken: Failure | undefined; readonly mayBeBilled: boolean },
): Failure {
  if (failure.code === 'ERR_REQUEST_PREVIOUSLY_REFUNDED') {
    if (earlier.broken !== undefined) return reviseFailure(earlier.broken, { billed: 'no' });
    if (spec.key?.madeByTool === true) return reviseFailure(failure, { hint: RUN_AGAIN });
  }
  if (!spec.billed || !earlier.mayBeBilled || outcome.kind === 'unusable') return failure;
  if (outcome.kind !== 'status') return unknownOutcome(failure, spec.lookAt);
  return failure.billed === 'no' ? reviseFailure(failure, { billed: 'unknown' }) : failure;
}

const RUN_AGAIN = 'Nothing was billed. Run the command again: it sends a new idempotency key.';

interface Attempt {
  readonly sender: Sender;
  readonly spec: RequestSpec;
  readonly ids: Ids;
  readonly number: number;
}

class AttemptFailure extends Error {
  readonly failure: Failure;
  readonly outcome: AttemptOutcome;

  constructor(failure: Failure, outcome: AttemptOutcome) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.outcome = outcome;
  }
}

async function performAttempt(attempt: Attempt): Promise<ApiResponse> {
  const { ids, sender, spec } = attempt;
  let request = buildRequest(spec, sender.address, ids, sender.version);
  for (let followed = 0; ; followed += 1) {
    const response = await exchange(attempt, request);
    const isLink = followed > 0 || typeof spec.target !== 'string';
    if (![301, 302, 303, 307, 308].includes(response.status)) {
      return classifyResponse(attempt, response, request.url, isLink);
    }
    response.discard();
    request = redirected(request, response, followed);
  }
}

function transportFacts({ ids, sender, spec }: Attempt, isServe = false): TransportContext {
  const { address, clock, limits } = sender;
  const usual = spec.billed ? BILLED_RESPONSE_TIMEOUT_MS : RESPONSE_TIMEOUT_MS;
  return {
    billed: spec.billed,
    requestId: ids.requestId,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    responseTimeoutMs: limits.responseTimeoutMs ?? usual,
    idleTimeoutMs: limits.idleTimeoutMs ?? (isServe ? SERVE_IDLE_TIMEOUT_MS : IDLE_TIMEOUT_MS),
    now: clock.now(),
    isEmbedded: address.kind === 'embedded',
    isServe,
  };
}

async function exchange(context: Attempt, request: WireRequest): Promise<ApiResponse> {
  const { ids, number: attempt, sender, spec } = context;
  const { address, clock, observer, transport } = sender;
  const { responseTimeoutMs, idleTimeoutMs } = transportFacts(context);
  const { method } = request;
  const url = redactUrl(request.url, (one) => mayHaveKey(one, address));
  const start = clock.monotonic();
  const ms = (): number => clock.monotonic() - start;
  try {
    const { signal } = spec;
    const fresh = spec.retry === 'never';
    const limited = { ...request, responseTimeoutMs, idleTimeoutMs, signal, fresh };
    const arrived = await transport.request(limited);
    const response = toResponse(context, url, arrived);
    const { requestId, status } = response;
    observer({ type: 'response', method, url, attempt, status, ms: ms(), requestId });
    return response;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const reason = error.systemCode ?? error.fault;
    const { requestId } = ids;
    observer({ type: 'no_response', method, url, attempt, reason, ms: ms(), requestId });
    const failure = transportFailure(error, transportFacts(context));
    throw new AttemptFailure(failure, outcomeOf(error));
  }
}

function outcomeOf(error: TransportError): AttemptFailure['outcome'] {
  if (error.unanswered) return { kind: 'unanswered' };
  if (!error.unsent) return { kind: 'unusable' };
  const { fault } = error;
  const permanent = fault === 'certificate' || fault === 'closed';
  return { kind: 'unsent', permanent, once: fault === 'name_unknown' };
}

async function classifyResponse(
  { sender: { address, clock }, spec }: Attempt,
  response: ApiResponse,
  url: URL,
  isLink: boolean,
): Promise<ApiResponse> {
  const { headers, requestId, retryAfterMs, status } = response;
  const { billed } = spec;
  if (status >= 200 && status < 300) {
    if (!isCompressed(headers)) return response;
    response.discard();
    // Compressed audio cannot be verified while it streams.
    const failure = badResponse(
      'the response is compressed, which foley did not request',
      response,
    );
    throw new AttemptFailure(billed ? maybeBilled(failure) : failure, { kind: 'unusable' });
  }
  const mayBeExpired = isLink && spec.isFile === true && (status === 401 || status === 403);
  if (mayBeExpired || !mayHaveKey(url, address)) {
    response.discard();
    const failure = storeFailure(url.host, response);
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

function toResponse(
  attempt: Attempt,
  url: string,
  { body, contentLength, framing, headers: all, status }: TransportResponse,
): ApiResponse {
  const { clock } = attempt.sender;
  const { requestId } = attempt.ids;
  const headers = readHeaders(all);
  const response: ApiResponse = {
    status,
    headers,
    requestId: headers.requestId ?? requestId,
    url,
    retryAfterMs: parseRetryAfter(headers.get('retry-after'), headers.get('date'), clock.now()),
    framing,
    contentLength,
    body,
    discard: () => body.discard(),
    errorText: () => readErrorText(response, headers, clock),
  };
  const facts = transportFacts(attempt, headers.isEmbedded);
  body.idleTimeoutMs = facts.idleTimeoutMs;
  body.explain = async (error) => {
    if (!(error instanceof TransportError)) return error;
    const mayBeKnown = headers.isEmbedded && facts.billed && error.fault === 'cut';
    const known = mayBeKnown ? await storedError(response.requestId, attempt) : undefined;
    return known ?? transportFailure(error, facts);
  };
  return response;
}

async function storedError(requestId: string, attempt: Attempt): Promise<Failure | undefined> {
  try {
    // foley's service stores why it ended a response early.
    const spec = safeRequest('getRequestError', { requestId }, { signal: attempt.spec.signal });
    const limits = { ...attempt.sender.limits, responseTimeoutMs: STORED_ERROR_TIMEOUT_MS };
    const sender = { ...attempt.sender, limits };
    const response = await performAttempt({ ...attempt, sender, spec });
    const error = parseServiceError(await response.errorText(), response.headers);
    return error.message === undefined ? undefined : streamFailure(error, requestId);
  } catch (error) {
    if (error instanceof AttemptFailure || error instanceof Failure) return undefined;
    throw error;
  }
}

const MOST_REDIRECTS = 5;
// Sent even if a redirect leads to another origin.
const HARMLESS = new Set(['accept', 'accept-encoding', 'if-range', 'range', 'user-agent']);

// GET and HEAD follow up to five redirects, but never from https to http. The API key is never sent to another
// origin. Other methods follow only 307 and 308 on the same origin.
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

async function readJsonResponse<T>(
  response: ApiResponse,
  read: (body: unknown) => T | undefined,
): Promise<JsonResponse<T>> {
  const raw = await readJson(response);
  const value = read(raw);
  if (value === undefined) throw badResponse('the response lacks required fields', response);
  const { headers, requestId, retryAfterMs, status } = response;
  return { value, raw, headers, requestId, status, retryAfterMs };
}

/** Reads a JSON body. @throws Failure of kind `bad_answer` */
export async function readJson(response: ApiResponse): Promise<unknown> {
  const { contentType } = response.headers;
  if (contentType === undefined || !/^application\/([\w.-]+\+)?json$/.test(contentType)) {
    response.discard();
    throw badResponse(`the response is ${contentType ?? 'of no type'}, not JSON`, response);
  }
  const raw = parseJson(await readText(response, MOST_JSON_BYTES));
  if (raw === undefined) throw badResponse('the response is not valid JSON', response);
  return raw;
}

/**
 * Reads the JSON body of the response to a billed request.
 * @throws Failure of kind `bad_answer`, marked as possibly billed
 */
export async function readBilledJson(response: ApiResponse): Promise<unknown> {
  return readJson(response).catch((error: unknown) => {
    throw error instanceof Failure ? maybeBilled(error) : error;
  });
}

/** The response to a request that created a resource, such as a job, a voice or a voice design. */
export interface CreateResponse {
  readonly requestId: string;
  readonly creditsUsed: number | undefined;
  readonly quotaRemaining: number | undefined;
  readonly raw: unknown;
}

/**
 * Reads the JSON response to a request that creates a resource.
 * @param wrappers names of the body fields that may contain the resource
 * @returns the response, and `made`: the JSON object of the resource, which is the body or a field of the body
 * @throws Failure of kind `bad_answer`, marked as possibly billed
 */
export async function readCreateResponse(
  response: ApiResponse,
  wrappers: readonly string[],
): Promise<{ readonly created: CreateResponse; readonly made: UnknownRecord }> {
  const raw = await readBilledJson(response);
  const body = firstRecord(raw) ?? {};
  const billing = firstRecord(body['billing']) ?? {};
  const { creditsUsed, quotaRemaining } = response.headers;
  const created = {
    requestId: firstText(body['requestId']) ?? response.requestId,
    creditsUsed: firstNumber(billing['creditsUsed'], body['creditsUsed']) ?? creditsUsed,
    quotaRemaining:
      firstNumber(billing['quotaRemaining'], body['quotaRemaining']) ?? quotaRemaining,
    raw,
  };
  return { created, made: firstRecord(...wrappers.map((name) => body[name])) ?? body };
}
