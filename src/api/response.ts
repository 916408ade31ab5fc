import type { CodePointRange } from '../contract/unspoken.ts';
import { parseRanges } from '../contract/unspoken.ts';
import { EMBEDDED_SERVER, HEADERS } from '../contract/values.ts';
import type { Clock } from '../system/clock.ts';
import { Failure } from '../errors/failure.ts';
import { decodeUtf8 } from '../text/decode.ts';
import type { Framing } from './transport/exchange.ts';

export interface ResponseHeaders {
  /** Returns the value of a header; ignores the case of the name. */
  get(name: string): string | undefined;
  /** The media type without parameters, in lower case. */
  readonly contentType: string | undefined;
  readonly creditsUsed: number | undefined;
  readonly quotaRemaining: number | undefined;
  /** Speech controls of the request that the service did not apply (docs/api/speech.md#v3). */
  readonly ignoredParameters: readonly string[];
  /** The ranges of the text that the voice does not speak (docs/service.md). Only foley's own service reports them. */
  readonly unspoken: readonly CodePointRange[];
  readonly location: string | undefined;
  readonly requestId: string | undefined;
  /** Whether the response comes from the embedded service, which refunds incomplete responses. */
  readonly isEmbedded: boolean;
  /** All headers, by lower-case name. */
  readonly all: ReadonlyMap<string, string>;
}

/** A response whose body has not been read. */
export interface UnreadResponse {
  /** The request id that the service returned, else the id that foley sent. */
  readonly requestId: string;
  /**
   * The content, which can be read once. The connection is closed if the reader stops early. Reading throws a Failure of
   * kind `bad_answer` if the content is incomplete, stalled or too long.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /**
   * Requests what follows the bytes of a file that ended too early. Undefined if the file cannot be requested again.
   * @throws Failure; `cut` if the client has already retried as often as it may
   */
  readonly rest?: ((cut: Failure) => Promise<ApiResponse>) | undefined;
  discard(): void;
}

/** A 2xx response of the API whose body has not been read. */
export interface ApiResponse extends UnreadResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The URL of the response after redirects, without secrets. */
  readonly url: string;
  /** The value of the `Retry-After` header, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** How HTTP marks the end of the body, such as by its length. */
  readonly framing: Framing;
  readonly contentLength: number | undefined;
  /** Reads the body of an error response as text, in the same way as {@link readErrorText}. */
  errorText(): Promise<string | undefined>;
}

/** A response whose body has been parsed as JSON. */
export interface ParsedResponse {
  /** The complete JSON body of the response, including fields that foley does not know. */
  readonly raw: unknown;
  readonly headers: ResponseHeaders;
  readonly requestId: string;
  readonly retryAfterMs: number | undefined;
}

export interface JsonResponse<T> extends ParsedResponse {
  readonly value: T;
  readonly status: number;
}

export function readHeaders(all: ReadonlyMap<string, string>): ResponseHeaders {
  const get = (name: string): string | undefined => all.get(name.toLowerCase());
  // Most responses have neither of these two headers.
  const ignored = get(HEADERS.ignoredParameters);
  const unspoken = get(HEADERS.unspoken);
  return {
    get,
    contentType: get('content-type')?.split(';')[0]?.trim().toLowerCase(),
    creditsUsed: numberOr(get(HEADERS.creditsUsed)),
    quotaRemaining: numberOr(get(HEADERS.quotaRemaining)),
    ignoredParameters: ignored === undefined ? [] : namesIn(ignored),
    unspoken: unspoken === undefined ? [] : (parseRanges(unspoken) ?? []),
    location: get('location'),
    requestId: get(HEADERS.requestId),
    isEmbedded: get('server') === EMBEDDED_SERVER,
    all,
  };
}

function namesIn(list: string): readonly string[] {
  const names = list.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}

/**
 * Reads a body as UTF-8 text.
 * @throws Failure of kind `bad_answer` if the body is longer than `limit` bytes or not UTF-8
 */
export async function readText(response: UnreadResponse, limit: number): Promise<string> {
  const bytes = await readBytes(response, limit);
  try {
    return decodeUtf8(bytes);
  } catch (error) {
    throw badResponse('the response is not valid UTF-8', response, error);
  }
}

/** Reads a body into memory. @throws Failure of kind `bad_answer` if the body is longer than `limit` bytes */
export async function readBytes(response: UnreadResponse, limit: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > limit) throw badResponse(`the response is larger than ${limit} bytes`, response);
    parts.push(chunk);
  }
  return Buffer.concat(parts, size);
}

/** Returns the Failure for a response that foley cannot use (exit code 25). */
export function badResponse(
  message: string,
  response: { readonly requestId: string; readonly status?: number },
  cause?: unknown,
): Failure {
  return new Failure(message, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'Check --base-url and the network: the response may come from a proxy or a login page.',
    requestId: response.requestId,
    status: response.status,
    cause,
  });
}

function numberOr(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

// Limits the nesting, so that recursive functions cannot overflow the stack.
const DEEPEST = 64;

/** Parses JSON. Returns undefined if the text is not valid JSON or is nested too deeply. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

function isTooDeep(value: unknown, depth = 1): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth > DEEPEST || Object.values(value).some((item) => isTooDeep(item, depth + 1));
}

export type UnknownRecord = Readonly<Record<string, unknown>>;

/** Returns whether a value is a JSON object, not an array. */
export function isRecord(value: unknown): value is UnknownRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the first value that is a non-empty string. */
export function firstText(...values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}

/** Returns the first value that is an id, as a string: some services use whole numbers as ids. */
export function firstId(...values: readonly unknown[]): string | undefined {
  return firstText(...values.map((value) => (Number.isSafeInteger(value) ? String(value) : value)));
}

/** Returns the first value that is a finite number. */
export function firstNumber(...values: readonly unknown[]): number | undefined {
  return values.find(
    (value): value is number => typeof value === 'number' && Number.isFinite(value),
  );
}

/** Returns the first value that is an object. */
export function firstRecord(...values: readonly unknown[]): UnknownRecord | undefined {
  return values.find((value) => isRecord(value));
}

/** Reads each item of an array with `read`; undefined if the value is not an array or any item is invalid. */
export function readArray<T>(
  value: unknown,
  read: (item: unknown) => T | undefined,
): readonly T[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items = value.map((item) => read(item));
  return items.every((item) => item !== undefined) ? items : undefined;
}

export function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Returns true if a value is undefined or null, or if `fits` accepts the value. */
export function isOptional(value: unknown, fits: (value: unknown) => boolean): boolean {
  return value === undefined || value === null || fits(value);
}

/** The fields of an error response (docs/api/errors.md); error responses of other servers may omit any of them. */
export interface ErrorReply {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly requestId: string | undefined;
  /** The entries of the body field `details`, and all other body fields that foley does not know. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
}

/** Parses the body of an error response. All fields are undefined if the body is not a JSON object. */
export function parseServiceError(text: string | undefined, headers: ResponseHeaders): ErrorReply {
  const isJson = /\bjson\b/.test(headers.contentType ?? '');
  const body = firstRecord(isJson && text !== undefined ? parseJson(text) : undefined) ?? {};
  // The compatibility endpoints nest the same fields in `error`.
  const { code, message, requestId, details, ...more } = firstRecord(body['error']) ?? body;
  const all = { ...more, ...firstRecord(details) };
  return {
    code: firstText(code),
    message: firstText(message),
    requestId: firstText(requestId),
    details: Object.keys(all).length === 0 ? undefined : all,
  };
}

const ERROR_MAX_BYTES = 64 * 1024;
const ERROR_MAX_MS = 10_000;

/** Reads the body of an error response as text; undefined if it is compressed, too large, too slow or not UTF-8. */
export async function readErrorText(
  response: UnreadResponse,
  headers: ResponseHeaders,
  clock: Clock,
): Promise<string | undefined> {
  if (isCompressed(headers)) {
    response.discard();
    return undefined;
  }
  const stop = clock.after(ERROR_MAX_MS, () => response.discard());
  try {
    return await readText(response, ERROR_MAX_BYTES);
  } catch {
    return undefined;
  } finally {
    stop();
  }
}

/** Returns whether a response body is compressed. foley never asks for compression. */
export function isCompressed(headers: ResponseHeaders): boolean {
  return !['', 'identity'].includes(headers.get('content-encoding')?.trim().toLowerCase() ?? '');
}
