import { invalidRequest, ServiceError } from '../service-error.ts';

/** Enough for the longest text and instruction with every character written as an escape pair. */
export const JSON_BODY_MAX_BYTES = 256 * 1024;

/**
 * Reads a JSON body.
 * @throws ServiceError 415 for another type, 413 for a body above the limit, 400 for bytes that are
 * not UTF-8 or not JSON
 */
export async function readJsonBody(request: Request): Promise<unknown> {
  requireJson(request.headers);
  const bytes = await readBytes(request);
  return parse(decode(bytes));
}

/**
 * Whether a request brings a body. One that did not come over HTTP announces none, and one that did
 * may have the stream of a body that has nothing in it.
 */
export function hasBody({ body, headers }: Request): boolean {
  const isAnnounced = headers.has('Content-Length') || headers.has('Transfer-Encoding');
  if (isAnnounced) return headers.get('Content-Length') !== '0';
  return body !== null && headers.has('Content-Type');
}

function requireJson(headers: Headers): void {
  const encoding = headers.get('Content-Encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw unsupported('Content-Encoding is not supported here; send the body as it is');
  }
  const [type = '', ...parameters] = (headers.get('Content-Type') ?? '').toLowerCase().split(';');
  if (type.trim() !== 'application/json') {
    throw unsupported('Content-Type must be application/json');
  }
  const charset = parameters.map((one) => one.trim()).find((one) => one.startsWith('charset='));
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw unsupported('The body must be UTF-8');
  }
}

async function readBytes(request: Request): Promise<Uint8Array> {
  if (Number(request.headers.get('Content-Length') ?? 0) > JSON_BODY_MAX_BYTES) throw tooLarge();
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of request.body ?? []) {
      size += part.byteLength;
      if (size > JSON_BODY_MAX_BYTES) throw tooLarge();
      parts.push(part);
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw invalidRequest([{ field: 'body', message: 'The body was cut off' }]);
  }
  return Buffer.concat(parts);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidRequest([{ field: 'body', message: 'The body is not valid UTF-8' }]);
  }
}

function parse(json: string): unknown {
  if (json.trim() === '') {
    throw invalidRequest([
      { field: 'body', message: 'The body is empty; a JSON object is needed' },
    ]);
  }
  try {
    return JSON.parse(json);
  } catch {
    throw invalidRequest([{ field: 'body', message: 'The body is not valid JSON' }]);
  }
}

function unsupported(message: string): ServiceError {
  return new ServiceError('ERR_UNSUPPORTED_MEDIA_TYPE', message);
}

function tooLarge(): ServiceError {
  return new ServiceError(
    'ERR_PAYLOAD_TOO_LARGE',
    `The body is larger than ${JSON_BODY_MAX_BYTES} bytes`,
    { headers: { Connection: 'close' } },
  );
}
