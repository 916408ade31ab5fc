import { createParser } from 'eventsource-parser';

/**
 * Bytes of UTF-8, each as one character. Nearly all of an aligned stream is base64, which is the same in
 * both, and this costs a fraction of decoding it; what is to be read goes through {@link textOf}.
 */
export type ByteString = string;

const LINE_FEED = 0x0a;

/** The text that bytes of UTF-8 are. */
export function textOf(bytes: ByteString): string {
  // Nothing but ASCII: the same in both.
  if (Buffer.byteLength(bytes, 'utf8') === bytes.length) return bytes;
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** One event of a stream of server-sent events, or a sign that somebody is still there. */
export type SseEvent =
  | { readonly kind: 'event'; readonly name: string; readonly data: ByteString }
  | { readonly kind: 'comment' };

/** An event that is larger than any that can be meant. */
export class EventTooLarge extends Error {
  constructor(limitBytes: number) {
    super(`an event is larger than ${limitBytes} bytes`);
    this.name = 'EventTooLarge';
  }
}

/**
 * Bytes to events, the first layer of an aligned stream (spec section 6.1). However the bytes are cut,
 * the events are the same; an event without its empty line at the end of the stream is none. What one chunk
 * completes is given together, and the next is taken only when that was read: nothing, when its lines are of
 * no event.
 * @throws EventTooLarge, or what the body throws
 */
export async function* sseEvents(
  body: AsyncIterable<Uint8Array>,
  { limitBytes }: { readonly limitBytes: number },
): AsyncGenerator<readonly SseEvent[], void, undefined> {
  let ready: SseEvent[] = [];
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: limitBytes,
    onEvent: ({ event = 'message', data }) => ready.push({ kind: 'event', name: event, data }),
    onComment: () => ready.push({ kind: 'comment' }),
    onError: ({ type }) => {
      isTooLarge ||= type === 'max-buffer-size-exceeded';
    },
  });
  for await (const { buffer, byteLength, byteOffset } of body) {
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    // The parser puts what it has of a line together with all that it is given next: that is to be the
    // end of the line alone, so that the rest is read where it is.
    const lineEnd = bytes.indexOf(LINE_FEED) + 1;
    if (lineEnd > 0) parser.feed(bytes.toString('latin1', 0, lineEnd));
    if (lineEnd < byteLength && !isTooLarge) parser.feed(bytes.toString('latin1', lineEnd));
    if (ready.length > 0 || lineEnd > 0) yield ready;
    ready = [];
    if (isTooLarge) throw new EventTooLarge(limitBytes);
  }
}
