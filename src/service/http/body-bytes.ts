import { invalidRequest, ServiceError } from '../service-error.ts';

/** Enough for the longest text and instruction with every character written as an escape pair. */
export const BODY_MAX_BYTES = 256 * 1024;

/**
 * Reads a body whole.
 * @throws ServiceError 413 above the limit, 400 when it is cut off
 */
export async function readBodyBytes(request: Request): Promise<Uint8Array> {
  if (Number(request.headers.get('Content-Length') ?? 0) > BODY_MAX_BYTES) throw tooLarge();
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of request.body ?? []) {
      size += part.byteLength;
      if (size > BODY_MAX_BYTES) throw tooLarge();
      parts.push(part);
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw invalidRequest([{ field: 'body', message: 'The body was cut off' }]);
  }
  return Buffer.concat(parts);
}

/**
 * Checks what a body says it is, and gives the parameters of that, such as `charset=utf-8`.
 * @throws ServiceError 415 for another type, or one that is packed
 */
export function requireBodyType(headers: Headers, allowed: readonly string[]): readonly string[] {
  const encoding = headers.get('Content-Encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw unsupported('Content-Encoding is not supported here; send the body as it is');
  }
  const [type = '', ...parameters] = typeParts(headers);
  if (allowed.includes(type)) return parameters;
  throw unsupported(`Content-Type must be ${allowed.join(' or ')}`);
}

/** Whether a body says that it is of this type. */
export function isBodyType(headers: Headers, type: string): boolean {
  return typeParts(headers)[0] === type;
}

export function unsupported(message: string): ServiceError {
  return new ServiceError('ERR_UNSUPPORTED_MEDIA_TYPE', message);
}

function typeParts(headers: Headers): readonly string[] {
  const value = headers.get('Content-Type') ?? '';
  return value
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
}

function tooLarge(): ServiceError {
  return new ServiceError(
    'ERR_PAYLOAD_TOO_LARGE',
    `The body is larger than ${BODY_MAX_BYTES} bytes`,
    { headers: { Connection: 'close' } },
  );
}
