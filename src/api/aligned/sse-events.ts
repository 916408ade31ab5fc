import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';

/** One event of a stream of server-sent events, or a sign that somebody is still there. */
export type SseEvent =
  | { readonly kind: 'event'; readonly name: string; readonly data: string }
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
 * the events are the same; an event without its empty line at the end of the stream is none. No more of
 * the body is taken than is read of the events.
 * @throws EventTooLarge, or what the body throws
 */
export async function* sseEvents(
  body: AsyncIterable<Uint8Array>,
  { limitBytes }: { readonly limitBytes: number },
): AsyncGenerator<SseEvent, void, undefined> {
  const ready: SseEvent[] = [];
  const decoder = new StringDecoder('utf8');
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
    parser.feed(decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)));
    yield* ready.splice(0);
    if (isTooLarge) throw new EventTooLarge(limitBytes);
  }
}
