import { STATUS_CODES } from 'node:http';
import { write } from './steps.ts';
import type { Step } from './steps.ts';
import type { Payload } from './tiny-audio.ts';

/** Header lines in the order in which they are sent; a list sends a line for each of its values. */
export type HeaderLines = Readonly<Record<string, string | readonly string[]>>;

/**
 * The head of an answer with its empty line. `Date` is there as every server sends it, unless the
 * headers have one. Nothing is checked or escaped: what a test writes goes out as UTF-8.
 */
export function head(status: number, headers: HeaderLines = {}, reason?: string): Step {
  const all = { ...('Date' in headers ? {} : { Date: new Date().toUTCString() }), ...headers };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((one) => `${name}: ${one}\r\n`),
  );
  const phrase = reason ?? STATUS_CODES[status] ?? 'Unknown';
  return write(`HTTP/1.1 ${status} ${phrase}\r\n${lines.join('')}\r\n`);
}

/** A whole answer with a true `Content-Length`; the connection stays open. */
export function answer(
  status: number,
  headers: HeaderLines = {},
  body: Uint8Array | string = '',
): Step[] {
  const bytes = Buffer.from(body);
  return [head(status, { ...headers, 'Content-Length': String(bytes.length) }), write(bytes)];
}

/** One chunk of a body in chunked encoding. */
export function chunk(bytes: Uint8Array): Step {
  const size = `${bytes.byteLength.toString(16)}\r\n`;
  return write(Buffer.concat([Buffer.from(size), bytes, Buffer.from('\r\n')]));
}

/** The chunk that ends a body in chunked encoding. */
export function lastChunk(): Step {
  return write('0\r\n\r\n');
}

/** The head of an answer of success that carries this payload. */
export function payloadHead({ headers, type }: Payload, framing: HeaderLines): Step {
  return head(200, { 'Content-Type': type, ...headers, ...framing });
}

export const CHUNKED: HeaderLines = { 'Transfer-Encoding': 'chunked' };
