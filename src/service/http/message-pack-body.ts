import { invalidRequest } from '../service-error.ts';
import { isBodyType, readBodyBytes, requireBodyType } from './body-bytes.ts';
import { readJsonBody } from './json-body.ts';

/** The media type of MessagePack, as clients of the other interface write it. */
export const MESSAGE_PACK = 'application/msgpack';

/** Room is made for a list before its items are read, so none may announce many. */
const MAX_LIST_LENGTH = 100;

/**
 * Reads a body that is JSON or, by its type, MessagePack: the same values in other bytes.
 * @throws ServiceError 415 for another type, 413 for a body above the limit, 400 for bytes that are
 * neither
 */
export async function readJsonOrMessagePack(request: Request): Promise<unknown> {
  const { headers } = request;
  if (isBodyType(headers, 'application/json')) return readJsonBody(request);
  requireBodyType(headers, ['application/json', MESSAGE_PACK]);
  const bytes = await readBodyBytes(request);
  const { decode } = await import('@msgpack/msgpack');
  try {
    return decode(bytes, { maxArrayLength: MAX_LIST_LENGTH });
  } catch {
    throw invalidRequest([{ field: 'body', message: 'The body is not valid MessagePack' }]);
  }
}
