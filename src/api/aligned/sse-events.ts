import { createParser } from 'eventsource-parser';

/**
 * Bytes of UTF-8, each as one character. Nearly all of an aligned stream is base64, which is the same in
 * both, and this costs a fraction of decoding it; what is to be read goes through {@link textOf}.
 */
export type ByteString = string;

/** The text that bytes of UTF-8 are. */
export function textOf(bytes: ByteString): string {
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
 * completes is given together, and the next is taken only when that was read.
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
  for await (const chunk of body) {
    const { buffer, byteLength, byteOffset } = chunk;
    parser.feed(Buffer.from(buffer, byteOffset, byteLength).toString('latin1'));
    if (ready.length > 0) yield ready;
    ready = [];
    if (isTooLarge) throw new EventTooLarge(limitBytes);
  }
}
