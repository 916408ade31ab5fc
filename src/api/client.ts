import type { Clock } from '../effects/clock.ts';
import type { Random } from '../effects/random.ts';
import { Failure } from '../errors/failure.ts';
import type { Answer, JsonAnswer, UnknownRecord } from './response.ts';
import { badAnswer, firstNumber, firstRecord, firstText, parseJson, readText } from './response.ts';
import { checkApiKey, buildRequest } from './request.ts';
import type { Observer, RequestSpec, WireRequest, ServiceAddress } from './request.ts';
import type { AttemptDeps } from './attempt.ts';
import { performAttempt } from './attempt.ts';
import type { Transport } from './transport/http.ts';
import { createTransport } from './transport/http.ts';
import type { ProxyEnvironment } from './transport/proxy.ts';
import { createRedactor } from './redact.ts';
import type { RetryContext } from './retry-loop.ts';
import { withRetries } from './retry-loop.ts';
import { charged, redactFailure } from './failures.ts';

/** A JSON answer above this is not of this service. */
const MOST_JSON_BYTES = 16 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
const MASKED_KEY = 'Bearer [redacted]';

export interface ApiClientOptions {
  readonly address: ServiceAddress;
  readonly clock: Clock;
  readonly random: Random;
  /** Of the tool, for the user agent. */
  readonly version: string;
  readonly limits: {
    readonly maxRetries: number;
    /** Wait for headers; by default 10 minutes when billed, else one. */
    readonly responseTimeoutMs?: number | undefined;
    /** Longest silence within a body; by default a minute. */
    readonly idleTimeoutMs?: number | undefined;
    /** Files that are longer are not read to their end (`--max-bytes`). */
    readonly maxBytes?: number | undefined;
  };
  readonly observer?: Observer | undefined;
  /** Environment variables; only those that name proxies are read. */
  readonly env: ProxyEnvironment;
  /** Certificates (PEM) to trust instead of the built-in ones. */
  readonly certificates?: string | undefined;
  /** How requests travel; by default over HTTP. */
  readonly transport?: Transport | undefined;
}

/** The one way to the service: every request of the tool goes through `send`. */
export interface ApiClient {
  readonly address: ServiceAddress;
  readonly maxBytes?: number | undefined;
  /** How often `send` tries again, and what its waits are made of. */
  readonly retry: Pick<RetryContext, 'clock' | 'maxRetries' | 'random'>;
  /**
   * Sends a request, again where that is safe, until it has a good answer (2xx).
   * @throws Failure, or the reason of the signal
   */
  send(spec: RequestSpec): Promise<Answer>;
  /**
   * The same for a JSON answer; `read` checks its shape and gives back the value, or `undefined`
   * when the shape is wrong.
   */
  json<T>(spec: RequestSpec, read: (body: unknown) => T | undefined): Promise<JsonAnswer<T>>;
  /** Begins to connect for the next request, which is told what goes wrong; sends nothing. */
  prepare(): void;
  /** What `send` would put on the wire, with the key masked; sends nothing. */
  describe(spec: RequestSpec): WireRequest;
  /** The same failure without secrets that the service's own words may repeat. */
  redact(failure: Failure): Failure;
  /** Ends every connection. */
  close(): Promise<void>;
}

/**
 * Makes the client of one service.
 * @throws Failure (auth) for a key that cannot be sent
 */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const { address, clock, limits, random, version } = options;
  if (address.apiKey !== undefined) checkApiKey(address.apiKey, 'the API key');
  const redactor = createRedactor([address.apiKey]);
  const observer = options.observer ?? (() => {});
  const deps = createAttemptDeps(options, observer);
  const context = { clock, random, maxRetries: limits.maxRetries, observer };

  const redact = (failure: Failure): Failure => redactFailure(failure, redactor);

  async function send(spec: RequestSpec): Promise<Answer> {
    try {
      return await withRetries(spec, idsOf(spec, random), context, (ids, number) =>
        performAttempt(deps, spec, ids, number),
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
    json: async (spec, read) => readJsonAnswer(await send(spec), read),
    prepare: () => deps.transport.prepare?.(address.baseUrl),
    describe: (spec) => masked(buildRequest(spec, address, idsOf(spec, random), version)),
    redact,
    close: () => deps.transport.close(),
  };
}

function createAttemptDeps(options: ApiClientOptions, observer: Observer): AttemptDeps {
  const { address, certificates, clock, env, limits, version } = options;
  const connectTimeoutMs = CONNECT_TIMEOUT_MS;
  return {
    address,
    clock,
    observer,
    version,
    connectTimeoutMs,
    transport: options.transport ?? createTransport({ clock, env, connectTimeoutMs, certificates }),
    responseTimeoutMs: limits.responseTimeoutMs,
    idleTimeoutMs: limits.idleTimeoutMs,
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

async function readJsonAnswer<T>(
  answer: Answer,
  read: (body: unknown) => T | undefined,
): Promise<JsonAnswer<T>> {
  const raw = await readJson(answer);
  const value = read(raw);
  if (value === undefined) throw badAnswer('the answer lacks fields it should have', answer);
  const { headers, requestId, retryAfterMs, status } = answer;
  return { value, raw, headers, requestId, status, retryAfterMs };
}

/**
 * The body of an answer that must be JSON.
 * @throws Failure (bad_answer)
 */
export async function readJson(answer: Answer): Promise<unknown> {
  const { contentType } = answer.headers;
  if (contentType === undefined || !/^application\/([\w.-]+\+)?json$/.test(contentType)) {
    answer.discard();
    throw badAnswer(`the answer is ${contentType ?? 'of no type'}, not JSON`, answer);
  }
  const raw = parseJson(await readText(answer, MOST_JSON_BYTES));
  if (raw === undefined) throw badAnswer('the answer is not valid JSON', answer);
  return raw;
}

/** Reads the JSON body of a billed request. @throws Failure (bad_answer), which may have been billed */
export async function readBilledJson(answer: Answer): Promise<unknown> {
  return readJson(answer).catch((error: unknown) => {
    throw error instanceof Failure ? charged(error) : error;
  });
}

/** The resource that a create returned, and its cost. */
export interface CreateAnswer {
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
export async function readCreateAnswer(
  answer: Answer,
  wrappers: readonly string[],
): Promise<CreateAnswer> {
  const raw = await readBilledJson(answer);
  const body = firstRecord(raw) ?? {};
  const billing = firstRecord(body['billing']) ?? {};
  const { creditsUsed, quotaRemaining } = answer.headers;
  return {
    made: firstRecord(...wrappers.map((name) => body[name])) ?? body,
    requestId: firstText(body['requestId']) ?? answer.requestId,
    creditsUsed: firstNumber(billing['creditsUsed'], body['creditsUsed']) ?? creditsUsed,
    quotaRemaining:
      firstNumber(billing['quotaRemaining'], body['quotaRemaining']) ?? quotaRemaining,
    raw,
  };
}
