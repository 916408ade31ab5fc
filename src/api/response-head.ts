import type { IncomingMessage } from 'node:http';
import type { Framing } from './response-body.ts';

/** What stands before the body of an answer, and what it says about the body. */
export interface ResponseHead {
  readonly status: number;
  /** By lower-case name; repeated headers are joined with a comma. */
  readonly headers: ReadonlyMap<string, string>;
  readonly framing: Framing;
  readonly contentLength: number | undefined;
}

/** @param method of the request, which decides whether there is a body */
export function readHead(
  method: string,
  { rawHeaders, statusCode: status = 0 }: Pick<IncomingMessage, 'rawHeaders' | 'statusCode'>,
): ResponseHead {
  const headers = joined(rawHeaders);
  return { status, headers, ...framing(method, status, headers) };
}

/** @param raw names and values in turns */
function joined(raw: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = raw[index + 1] ?? '';
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return headers;
}

function framing(
  method: string,
  status: number,
  headers: ReadonlyMap<string, string>,
): Pick<ResponseHead, 'framing' | 'contentLength'> {
  if (method === 'HEAD' || status === 204 || status === 304) {
    return { framing: 'none', contentLength: undefined };
  }
  const coding = headers.get('transfer-encoding');
  if (coding !== undefined) {
    // Whatever stands last decides; the end of any other is that of the connection.
    const isChunked = /(^|,)\s*chunked\s*$/i.test(coding);
    return { framing: isChunked ? 'chunked' : 'close', contentLength: undefined };
  }
  const length = headers.get('content-length');
  if (length !== undefined && /^\d{1,15}$/.test(length)) {
    return { framing: 'length', contentLength: Number(length) };
  }
  return { framing: 'close', contentLength: undefined };
}
