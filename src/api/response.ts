import { EMBEDDED_SERVER, HEADERS } from '../contract/values.ts';
import type { Clock } from '../effects/clock.ts';
import { Failure } from '../errors/failure.ts';
import { decodeUtf8 } from '../text/decode.ts';
import type { Framing } from './transport/exchange.ts';

/** The headers of an answer that mean something to us. */
export interface AnswerHeaders {
  /** Any header, by its name in any case. */
  get(name: string): string | undefined;
  /** The media type without parameters, in lower case. */
  readonly contentType: string | undefined;
  readonly creditsUsed: number | undefined;
  readonly quotaRemaining: number | undefined;
  /** Controls that were sent and not applied (docs/api/speech.md#v3). */
  readonly ignoredParameters: readonly string[];
  readonly location: string | undefined;
  /** The service's own id of the request. */
  readonly requestId: string | undefined;
  /** Whether the embedded service sent it: it refunds what it breaks off, and keeps its keys. */
  readonly isEmbedded: boolean;
  /** Everything, by lower-case name. */
  readonly all: ReadonlyMap<string, string>;
}

/** A good answer (2xx) whose body is still to be read. */
export interface Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** The service's own id of the request, else the one that was sent. */
  readonly requestId: string;
  /** Where it came from in the end, safe to show. */
  readonly url: string;
  /** When the service wants to be asked again, in milliseconds from now, where it says so. */
  readonly retryAfterMs: number | undefined;
  /** How its end is known; a body that ends with the connection may have been cut unnoticed. */
  readonly framing: Framing;
  readonly contentLength: number | undefined;
  /**
   * The bytes, to be read once. Slow reading slows the sender; leaving early gives the connection
   * up. Throws a Failure (bad_answer) when the body is cut, stops, or is longer than it said.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Gives the body up. */
  discard(): void;
  /** The body of an error, read with small limits instead of `body`; `undefined` without a text. */
  errorText(): Promise<string | undefined>;
}

/** A JSON answer. */
export interface JsonAnswer<T> {
  readonly value: T;
  /** The whole body as it came, with the fields that foley does not know. */
  readonly raw: unknown;
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly requestId: string;
  readonly retryAfterMs: number | undefined;
}

export function answerHeaders(all: ReadonlyMap<string, string>): AnswerHeaders {
  const get = (name: string): string | undefined => all.get(name.toLowerCase());
  return {
    get,
    contentType: get('content-type')?.split(';')[0]?.trim().toLowerCase(),
    creditsUsed: numberOr(get(HEADERS.creditsUsed)),
    quotaRemaining: numberOr(get(HEADERS.quotaRemaining)),
    ignoredParameters: (get(HEADERS.ignoredParameters) ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    location: get('location'),
    requestId: get(HEADERS.requestId),
    isEmbedded: get('server') === EMBEDDED_SERVER,
    all,
  };
}

/**
 * A whole body as text.
 * @throws Failure (bad_answer) above `limit` bytes, or when it is not UTF-8
 */
export async function readText(
  answer: Pick<Answer, 'body' | 'requestId'>,
  limit: number,
): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    size += chunk.length;
    if (size > limit) throw badAnswer(`the answer is larger than ${limit} bytes`, answer);
    parts.push(chunk);
  }
  try {
    return decodeUtf8(Buffer.concat(parts));
  } catch (error) {
    throw badAnswer('the answer is not valid text', answer, error);
  }
}

/** The answer came and cannot be used (exit 25). */
export function badAnswer(
  message: string,
  answer: { readonly requestId: string; readonly status?: number },
  cause?: unknown,
): Failure {
  return new Failure(message, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'Check --base-url and the network: a proxy or a login page may have answered.',
    requestId: answer.requestId,
    status: answer.status,
    cause,
  });
}

function numberOr(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** Deeper than any answer of the service, and shallow enough for everything that walks over it. */
const DEEPEST = 64;

/** The value of a JSON text; `undefined` when it is none, or nested beyond reason. */
export function parseJson(text: string): unknown {
  if (hasManyBrackets(text) && isTooDeep(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** Most answers have a few: there is nothing to count in them. */
function hasManyBrackets(text: string): boolean {
  const count = (bracket: string): number => text.split(bracket, DEEPEST + 2).length - 1;
  return count('[') + count('{') > DEEPEST;
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') {
      inString = true;
    } else if (character === '[' || character === '{') {
      depth += 1;
      if (depth > DEEPEST) return true;
    } else if (character === ']' || character === '}') {
      depth -= 1;
    }
  }
  return false;
}

/** An object with unknown fields. */
export type UnknownRecord = Readonly<Record<string, unknown>>;

/** Whether a value of JSON is an object. */
export function isRecord(value: unknown): value is UnknownRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the first value that is a non-empty string. */
export function firstText(...values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
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

export function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Whether `field` is absent or null, or fits. */
export function isOptional(value: unknown, fits: (value: unknown) => boolean): boolean {
  return value === undefined || value === null || fits(value);
}

/** What an error answer says (docs/api/errors.md): every field may be missing from what is not the service. */
export interface ServiceError {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly requestId: string | undefined;
  /** `details` and every further field of the body. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
}

const NOTHING: ServiceError = {
  code: undefined,
  message: undefined,
  requestId: undefined,
  details: undefined,
};

/** Reads an error body; what is not JSON, or not an error, is an error without words. */
export function parseServiceError(
  text: string | undefined,
  headers: Pick<AnswerHeaders, 'contentType'>,
): ServiceError {
  if (text === undefined || !/\bjson\b/.test(headers.contentType ?? '')) return NOTHING;
  const body = parseJson(text);
  if (!isRecord(body)) return NOTHING;
  // The compatibility endpoints' own interfaces put the same fields one level down.
  return readError(isRecord(body['error']) ? body['error'] : body);
}

function readError(body: Readonly<Record<string, unknown>>): ServiceError {
  const { code, message, requestId, details, ...more } = body;
  const all = { ...more, ...(isRecord(details) ? details : {}) };
  return {
    code: firstText(code),
    message: firstText(message),
    requestId: firstText(requestId),
    details: Object.keys(all).length === 0 ? undefined : all,
  };
}

const ERROR_MAX_BYTES = 64 * 1024;
const ERROR_MAX_MS = 10_000;

/**
 * The text of an error answer; `undefined` when it is packed, too large, too slow, cut or not text:
 * its status says enough then.
 */
export async function readErrorText(
  answer: Pick<Answer, 'body' | 'discard' | 'headers'>,
  clock: Clock,
): Promise<string | undefined> {
  if (isPacked(answer.headers)) {
    answer.discard();
    return undefined;
  }
  const stop = clock.after(ERROR_MAX_MS, () => answer.discard());
  try {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of answer.body) {
      size += chunk.length;
      if (size > ERROR_MAX_BYTES) return undefined;
      parts.push(chunk);
    }
    return decodeUtf8(Buffer.concat(parts));
  } catch {
    return undefined;
  } finally {
    stop();
  }
}

/** Whether the bytes are not the content itself, which was not asked for. */
export function isPacked(headers: AnswerHeaders): boolean {
  return !['', 'identity'].includes(headers.get('content-encoding')?.trim().toLowerCase() ?? '');
}
