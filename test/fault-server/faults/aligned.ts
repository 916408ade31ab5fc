import { answer, chunk, CHUNKED, head, lastChunk } from '../http-text.ts';
import { fin, pause } from '../steps.ts';
import type { Step } from '../steps.ts';

/** Answers of an aligned stream (docs/api/speech.md#aligned-stream), whole and with faults. */

export const ALIGNED_PATH = '/api/open/v3/speech/tts/aligned';

/** One event as it is on the wire. */
export function eventText(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The next bytes of the audio. */
export function audioEvent(bytes: Uint8Array): string {
  return eventText('audio', { audioBase64: Buffer.from(bytes).toString('base64') });
}

/** Words of a chunk: text, start and end. */
export function snapshotEvent(
  chunkSeq: number,
  words: readonly (readonly [string, number, number])[],
): string {
  return eventText('alignment_snapshot', {
    chunkSeq,
    units: 'milliseconds',
    words: words.map(([text, startMs, endMs]) => ({ text, startMs, endMs })),
  });
}

/** The last event of a stream that succeeded. */
export function completedEvent(alignmentStatus: 'complete' | 'partial' = 'complete'): string {
  return eventText('completed', {
    requestId: 'r-aligned',
    generationId: 'g-1',
    alignmentStatus,
    quotaRemaining: 98,
    creditsUsed: 2,
  });
}

const STREAM = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'X-Request-Id': 'r-aligned',
  'X-OpenAPI-Credits-Used': '2',
  'X-OpenAPI-Quota-Remaining': '98',
};

/** A stream of these events that ends in order. */
export function events(...all: readonly string[]): Step[] {
  return answer(200, STREAM, all.join(''));
}

/** A stream of these events whose connection ends without a word. */
export function eventsThenCut(...all: readonly string[]): Step[] {
  return [head(200, { ...STREAM, ...CHUNKED }), chunk(Buffer.from(all.join(''))), fin()];
}

/** Some events, a pause until the test continues, and the other events. */
export function eventsAround(before: readonly string[], after: readonly string[]): Step[] {
  return [
    head(200, { ...STREAM, ...CHUNKED }),
    chunk(Buffer.from(before.join(''))),
    pause(),
    chunk(Buffer.from(after.join(''))),
    lastChunk(),
  ];
}
