import { chunk, CHUNKED, payloadHead } from '../http-text.ts';
import type { HeaderLines } from '../http-text.ts';
import { fin, pause, repeat, write } from '../steps.ts';
import type { Step } from '../steps.ts';
import type { Payload } from '../tiny-audio.ts';
import { audio } from './wrong-answer.ts';

/** Answers that take too long or never end. Time is the test's: each `pause` waits for `advance()`. */

/** Nothing at all; when the test says `advance()`, an orderly end. */
export function silence(): Step[] {
  return [pause(), fin()];
}

/** Nothing until the test says `advance()`; then a good answer. */
export function slowHeaders(payload: Payload): Step[] {
  return [pause(), ...audio(payload)];
}

/** The head comes, and the body when the test says `advance()`. */
export function slowBody(payload: Payload): Step[] {
  return [headOf(payload), pause(), write(payload.bytes)];
}

/** Half of the body comes, and the other half when the test says `advance()`. */
export function stallMidBody(payload: Payload): Step[] {
  const half = Math.floor(payload.bytes.length / 2);
  const { bytes } = payload;
  return [headOf(payload), write(bytes.subarray(0, half)), pause(), write(bytes.subarray(half))];
}

/** A body in pieces, each of which waits for its own `advance()`. */
export function inPieces(payload: Payload, count: number): Step[] {
  const size = Math.ceil(payload.bytes.length / count);
  const pieces = Array.from({ length: count }, (_, index) =>
    payload.bytes.subarray(index * size, (index + 1) * size),
  );
  return [headOf(payload), ...pieces.flatMap((piece) => [pause(), write(piece)])];
}

/** A body that never ends, as fast as the client reads. */
export function endlessBody(payload: Payload): Step[] {
  const framed = chunk(payload.bytes);
  const bytes = framed.kind === 'write' ? framed.bytes : payload.bytes;
  return [payloadHead(payload, CHUNKED), repeat(bytes, Infinity)];
}

/** At least so many bytes: the audio again and again, with a true length and a small memory. */
export function largeBody(payload: Payload, bytes: number): Step[] {
  const together = Math.max(1, Math.floor(262_144 / payload.bytes.length));
  const unit = Buffer.concat(Array.from({ length: together }, () => payload.bytes));
  const times = Math.ceil(bytes / unit.length);
  return [headOf(payload, unit.length * times), repeat(unit, times)];
}

/** One header line of so many bytes, then a good answer. */
export function hugeHeader(payload: Payload, bytes: number): Step[] {
  return audio({ ...payload, headers: { ...payload.headers, 'X-Padding': 'x'.repeat(bytes) } });
}

/** So many header lines, then a good answer. */
export function manyHeaders(payload: Payload, count: number): Step[] {
  const padding = Array.from({ length: count }, (_, index) => `value ${index}`);
  return audio({ ...payload, headers: { ...payload.headers, 'X-Padding': padding } });
}

/** Header lines that never end. */
export function endlessHeaders(): Step[] {
  return [write('HTTP/1.1 200 OK\r\n'), repeat(`X-Padding: ${'x'.repeat(1000)}\r\n`, Infinity)];
}

/** So many informational answers (`Infinity` for no end), then a good one. */
export function informationalFlood(
  payload: Payload,
  count: number,
  status: 100 | 102 | 103 = 103,
  headers: HeaderLines = {},
): Step[] {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  const informational = `HTTP/1.1 ${status} Wait\r\n${lines.join('')}\r\n`;
  return [repeat(informational, count), ...audio(payload)];
}

function headOf(payload: Payload, length = payload.bytes.length): Step {
  return payloadHead(payload, { 'Content-Length': String(length) });
}
