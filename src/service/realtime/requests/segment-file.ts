import type { RealtimeFormat } from '../../../contract/realtime/protocols.ts';

/** The file of a segment's audio in the folder of its request. */
export function segmentFile(number: number, format: RealtimeFormat): string {
  return `segment-${number}.${format}`;
}
