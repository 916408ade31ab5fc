import type { AlignedEvent } from './aligned-events.ts';
import { readAlignedEvent, UnreadableEvent } from './aligned-events.ts';
import type { Alignment } from './alignment.ts';
import type { AudioBlock } from './audio-block.ts';
import type { AudioMemory } from './audio-memory.ts';
import type { SseEvent } from './sse-events.ts';

/** What events say that arrived together. */
export interface ReadBatch {
  /** Everything up to the end, in one chunk, which is lent by the memory. */
  readonly audio: Uint8Array | undefined;
  /** There is an event that an aligned stream has. */
  readonly hasNews: boolean;
  /** What ended the stream, if anything did; nothing after it counts. */
  readonly end: StreamEnd | undefined;
}

/** How a stream ended. */
export type StreamEnd =
  | Extract<AlignedEvent, { kind: 'completed' | 'error' }>
  | { readonly kind: 'unreadable'; readonly error: UnreadableEvent };

/** Events to audio and timing, the third layer: the times are taken in by `alignment`. */
export function readBatch(
  batch: readonly SseEvent[],
  memory: AudioMemory,
  alignment: Alignment,
): ReadBatch {
  const block = memory.open(audioBytesMax(batch));
  let hasNews = false;
  for (const event of batch) {
    const said = event.kind === 'event' ? read(event, block) : undefined;
    hasNews ||= said !== undefined;
    if ((said?.kind === 'snapshot' || said?.kind === 'invalidated') && !alignment.take(said)) {
      const error = new UnreadableEvent(
        'alignment_snapshot',
        'brings more words than any text has',
      );
      return { audio: memory.lend(block), hasNews, end: { kind: 'unreadable', error } };
    }
    if (said?.kind === 'completed' || said?.kind === 'error' || said?.kind === 'unreadable') {
      return { audio: memory.lend(block), hasNews, end: said };
    }
  }
  return { audio: memory.lend(block), hasNews, end: undefined };
}

/** What is around the base64 is counted too: it is little. */
function audioBytesMax(batch: readonly SseEvent[]): number {
  let characters = 0;
  for (const event of batch) {
    if (event.kind === 'event' && event.name === 'audio') characters += event.data.length;
  }
  return Math.floor((characters * 3) / 4);
}

function read(
  { data, name }: Extract<SseEvent, { kind: 'event' }>,
  block: AudioBlock,
): AlignedEvent | StreamEnd | undefined {
  try {
    return readAlignedEvent(name, data, block);
  } catch (error) {
    if (error instanceof UnreadableEvent) return { kind: 'unreadable', error };
    throw error;
  }
}
