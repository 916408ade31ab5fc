import { gzipSync } from 'node:zlib';
import { answer, chunk, CHUNKED, lastChunk, payloadHead } from '../http-text.ts';
import { fin, pause, reset, write } from '../steps.ts';
import type { Step } from '../steps.ts';
import type { Payload } from '../tiny-audio.ts';

/** Answers that stop too early, too late, or without saying where they end. */

/** The request was read; then the connection breaks. */
export function resetBeforeHeaders(): Step[] {
  return [reset()];
}

/** The request was read; then the server ends the connection in order, without a word. */
export function closeBeforeHeaders(): Step[] {
  return [fin()];
}

/** The head stops in the middle of a header line. */
export function closeInsideHeaders(): Step[] {
  return [write('HTTP/1.1 200 OK\r\nContent-Type: audio/mp'), fin()];
}

/** Half of what `Content-Length` promises, then a broken connection. */
export function resetMidBody(payload: Payload): Step[] {
  return [...promised(payload), write(firstHalf(payload)), reset()];
}

/** Half of what `Content-Length` promises, then an orderly end. */
export function shortBody(payload: Payload): Step[] {
  return [...promised(payload), write(firstHalf(payload)), fin()];
}

/** Half of a chunked body, then a broken connection. */
export function resetMidChunkedBody(payload: Payload): Step[] {
  return [payloadHead(payload, CHUNKED), chunk(firstHalf(payload)), reset()];
}

/** Every chunk but the one that says that it was the last; then an orderly end. */
export function closeBeforeLastChunk(payload: Payload): Step[] {
  return [payloadHead(payload, CHUNKED), chunk(payload.bytes), fin()];
}

/** A chunk that is shorter than its size says; then an orderly end. */
export function closeInsideChunk(payload: Payload): Step[] {
  const size = `${payload.bytes.length.toString(16)}\r\n`;
  return [payloadHead(payload, CHUNKED), write(size), write(firstHalf(payload)), fin()];
}

/** A whole body in chunks, correctly ended; no fault. */
export function chunkedBody(payload: Payload): Step[] {
  const half = firstHalf(payload);
  const rest = payload.bytes.subarray(half.length);
  return [payloadHead(payload, CHUNKED), chunk(half), chunk(rest), lastChunk()];
}

/** All that `Content-Length` promises, and then a broken connection. */
export function resetAfterLastByte(payload: Payload): Step[] {
  return [...promised(payload), write(payload.bytes), reset()];
}

/** A whole answer; the connection is broken when the test says `advance()`, while it is idle. */
export function resetWhenIdle(payload: Payload): Step[] {
  return [...promised(payload), write(payload.bytes), pause(), reset()];
}

/** `Content-Length` is half of what is sent, so the answer seems whole and is not. */
export function lyingLength(payload: Payload): Step[] {
  return [...promised(payload, firstHalf(payload).length), write(payload.bytes), fin()];
}

/** A whole body that only the end of the connection ends. */
export function closeDelimited(payload: Payload): Step[] {
  return [payloadHead(payload, { Connection: 'close' }), write(payload.bytes), fin()];
}

/** Half of a body that only the end of the connection would end: the cut cannot be seen. */
export function closeDelimitedShort(payload: Payload): Step[] {
  return [payloadHead(payload, { Connection: 'close' }), write(firstHalf(payload)), fin()];
}

/** Half of a body without a length, ended by a broken connection. */
export function closeDelimitedReset(payload: Payload): Step[] {
  return [payloadHead(payload, { Connection: 'close' }), write(firstHalf(payload)), reset()];
}

/** A complete response in gzip that was not requested; its framing is right. */
export function gzipBody(payload: Payload): Step[] {
  return answer(200, gzipHeaders(payload), gzipSync(payload.bytes));
}

/** A gzip stream that stops in the middle; `Content-Length` is true for what is sent. */
export function cutGzip(payload: Payload): Step[] {
  const compressed = gzipSync(payload.bytes);
  return answer(200, gzipHeaders(payload), compressed.subarray(0, compressed.length / 2));
}

function promised(payload: Payload, length = payload.bytes.length): Step[] {
  return [payloadHead(payload, { 'Content-Length': String(length) })];
}

function gzipHeaders(payload: Payload): Record<string, string | readonly string[]> {
  return { 'Content-Type': payload.type, ...payload.headers, 'Content-Encoding': 'gzip' };
}

function firstHalf(payload: Payload): Buffer {
  return payload.bytes.subarray(0, Math.floor(payload.bytes.length / 2));
}
