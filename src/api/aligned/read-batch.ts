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
  for (const event of batch) {
    const end = event.kind === 'event' ? take(event, block, alignment) : undefined;
    if (end !== undefined) return { audio: memory.lend(block), end };
  }
  return { audio: memory.lend(block), end: undefined };
}

/** What is around the base64 is counted too: it is little. */
function audioBytesMax(batch: readonly SseEvent[]): number {
  let characters = 0;
  for (const event of batch) {
    if (event.kind === 'event' && event.name === 'audio') characters += event.data.length;
  }
  return Math.floor((characters * 3) / 4);
}

function take(
  { data, name }: Extract<SseEvent, { kind: 'event' }>,
  block: AudioBlock,
  alignment: Alignment,
): StreamEnd | undefined {
  try {
    const said = readAlignedEvent(name, data, block);
    if (said?.kind === 'completed' || said?.kind === 'error') return said;
    if (said?.kind === 'snapshot' || said?.kind === 'invalidated') alignment.take(said);
    return undefined;
  } catch (error) {
    if (error instanceof UnreadableEvent) return { kind: 'unreadable', error };
    throw error;
  }
}
