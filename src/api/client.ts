import type { Clock } from '../effects/clock.ts';
import type { Random } from '../effects/random.ts';
import { Failure } from '../errors/failure.ts';
import type { ApiResponse, JsonResponse, UnknownRecord } from './response.ts';
import {
  badResponse,
  firstNumber,
  firstRecord,
  firstText,
  parseJson,
  readText,
} from './response.ts';
import { checkApiKey, buildRequest } from './request.ts';
import type { Observer, RequestSpec, WireRequest, ServiceAddress } from './request.ts';
import { CONNECT_TIMEOUT_MS, performAttempt } from './attempt.ts';
import type { Transport } from './transport/http.ts';
import { createTransport } from './transport/http.ts';
import type { ProxyEnvironment } from './transport/proxy.ts';
import { createRedactor } from './redact.ts';
import type { RetryContext } from './retry-loop.ts';
import { withRetries } from './retry-loop.ts';
import { maybeBilled, redactFailure } from './failures.ts';

/** Larger JSON responses cannot come from this service. */
const MOST_JSON_BYTES = 16 * 1024 * 1024;
const MASKED_KEY = 'Bearer [redacted]';

export interface ApiClientOptions {
  readonly address: ServiceAddress;
  readonly clock: Clock;
  readonly random: Random;
  /** The version of foley, for the user agent. */
  readonly version: string;
  readonly limits: {
    readonly maxRetries: number;
    /** Maximum wait for response headers; default 10 minutes for billed requests, else one. */
    readonly responseTimeoutMs?: number | undefined;
    /** Maximum silence within a body; default one minute. */
    readonly idleTimeoutMs?: number | undefined;
    /** Maximum file size (`--max-bytes`). */
    readonly maxBytes?: number | undefined;
  };
  readonly observer?: Observer | undefined;
  /** Environment variables; only proxy variables are read. */
  readonly env: ProxyEnvironment;
  /** Certificates (PEM) to trust instead of the built-in ones. */
  readonly certificates?: string | undefined;
  /** Default HTTP. */
  readonly transport?: Transport | undefined;
}

/** The HTTP client; every request of foley goes through `send`. */
export interface ApiClient {
  readonly address: ServiceAddress;
  readonly maxBytes?: number | undefined;
  /** The retry limit and the clock and randomness of its delays. */
  readonly retry: Pick<RetryContext, 'clock' | 'maxRetries' | 'random'>;
  /**
   * Sends a request, with safe retries, until it gets a 2xx response.
   * @throws Failure, or the signal's reason
   */
  send(spec: RequestSpec): Promise<ApiResponse>;
  /** Sends a request for JSON. `read` returns the value, or undefined if its shape is wrong. */
  json<T>(spec: RequestSpec, read: (body: unknown) => T | undefined): Promise<JsonResponse<T>>;
  /** Opens a connection for the next request, which reports any error; sends nothing. */
  prepare(): void;
  /** Returns what `send` would send, with the key masked. */
  describe(spec: RequestSpec): WireRequest;
  /** Returns the failure with the secrets in its texts masked. */
  redact(failure: Failure): Failure;
  /** Closes every connection. */
  close(): Promise<void>;
}

/**
 * Creates a client.
 * @throws Failure (auth) if the key cannot be sent in a header
 */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const { address, clock, limits, random, version } = options;
  if (address.apiKey !== undefined) checkApiKey(address.apiKey, 'the API key');
  const redactor = createRedactor([address.apiKey]);
  const observer = options.observer ?? (() => {});
  const transport =
    options.transport ??
    createTransport({
      clock,
      env: options.env,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      certificates: options.certificates,
    });
  const deps = { address, clock, observer, transport, version, limits };
  const context = { clock, random, maxRetries: limits.maxRetries, observer };

  const redact = (failure: Failure): Failure => redactFailure(failure, redactor);

  async function send(spec: RequestSpec): Promise<ApiResponse> {
    try {
      return await withRetries(spec, idsOf(spec, random), context, (ids, number) =>
        performAttempt({ ...deps, spec, ids, number }),
      );
    } catch (error) {
      throw error instanceof Failure ? redact(error) : error;
    }
  }

  return {
    address,
    maxBytes: limits.maxBytes,
    retry: context,
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

/** Reads a JSON body. @throws Failure (bad_answer) */
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

/** Reads the JSON body of a billed request. @throws Failure (bad_answer), which may have been billed */
export async function readBilledJson(response: ApiResponse): Promise<unknown> {
  return readJson(response).catch((error: unknown) => {
    throw error instanceof Failure ? maybeBilled(error) : error;
  });
}

/** The resource that a create returned, and its cost. */
export interface CreateResponse {
  /** The resource itself, without the field that wraps it. */
  readonly made: UnknownRecord;
  readonly requestId: string;
  readonly creditsUsed: number | undefined;
  readonly quotaRemaining: number | undefined;
  /** The whole body. */
  readonly raw: unknown;
}

/**
 * Reads the JSON response to a create.
 * @param wrappers fields that may hold the resource
 * @throws Failure (bad_answer), which may have been billed
 */
export async function readCreateResponse(
  response: ApiResponse,
  wrappers: readonly string[],
): Promise<CreateResponse> {
  const raw = await readBilledJson(response);
  const body = firstRecord(raw) ?? {};
  const billing = firstRecord(body['billing']) ?? {};
  const { creditsUsed, quotaRemaining } = response.headers;
  return {
    made: firstRecord(...wrappers.map((name) => body[name])) ?? body,
    requestId: firstText(body['requestId']) ?? response.requestId,
    creditsUsed: firstNumber(billing['creditsUsed'], body['creditsUsed']) ?? creditsUsed,
    quotaRemaining:
      firstNumber(billing['quotaRemaining'], body['quotaRemaining']) ?? quotaRemaining,
    raw,
  };
}
