import type { AnswerHeaders } from './answer.ts';
import { parseJson } from './json-text.ts';
import { isRecord } from './shape.ts';

/** What an error answer says (spec section 7): every field may be missing from what is not the service. */
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
    code: stringOr(code),
    message: stringOr(message),
    requestId: stringOr(requestId),
    details: Object.keys(all).length === 0 ? undefined : all,
  };
}

function stringOr(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
