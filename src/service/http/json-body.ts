import { invalidRequest } from '../service-error.ts';
import { readBodyBytes, requireBodyType, unsupported } from './body-bytes.ts';

/**
 * Reads a JSON body.
 * @throws ServiceError 415 for another type, 413 for a body above the limit, 400 for bytes that are
 * not UTF-8 or not JSON
 */
export async function readJsonBody(request: Request): Promise<unknown> {
  requireJson(request.headers);
  return parse(decode(await readBodyBytes(request)));
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
  const parameters = requireBodyType(headers, ['application/json']);
  const charset = parameters.find((one) => one.startsWith('charset='));
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw unsupported('The body must be UTF-8');
  }
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
