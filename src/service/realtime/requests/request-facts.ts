import type { RequestState } from '../../../contract/realtime/protocols.ts';
import type { StatusFields } from '../machine/events.ts';
import type { EarlierSegment } from '../machine/state.ts';
import type { RequestRecord, SegmentRecord } from './request-records.ts';

/**
 * What is told of a request (spec sections 3.2 and 6.2), over the connection and over HTTP.
 * @param now milliseconds since the epoch
 */
export function statusOf(
  request: RequestRecord,
  now: number,
): StatusFields & { readonly requestId: string } {
  const { requestId, state, segments, storedUntil = 0 } = request;
  const resultAvailable = storedUntil > now;
  return {
    requestId,
    state,
    retryable: state === 'failed_retryable',
    units: segments.reduce((sum, segment) => sum + unitsOf(segment), 0),
    resultAvailable,
    ...(resultAvailable ? { segments: segments.map((one) => manifestRow(one, state)) } : {}),
  };
}

/** The billable units that a segment was charged: its characters, nothing for one without a word. */
export function unitsOf({ isCharged, characters }: SegmentRecord): number {
  return isCharged ? characters : 0;
}

/** What a connection that goes on with a request has to know of its segments. */
export function earlierSegments({ segments }: RequestRecord): readonly EarlierSegment[] {
  return segments.map((segment) => ({
    segmentId: segment.segmentId,
    sequences: segment.sequences,
    textDigest: segment.textDigest,
    units: unitsOf(segment),
    audioBytes: segment.audio?.bytes,
  }));
}

function manifestRow(segment: SegmentRecord, requestState: RequestState) {
  const { segmentId, sequences, characters, audio } = segment;
  const sequence = sequences.at(-1);
  const unfinished = requestState === 'running' ? 'running' : 'failed_retryable';
  return {
    segmentId,
    state: audio === undefined ? unfinished : 'completed',
    ...(sequence === undefined ? {} : { sequence }),
    characters,
    units: unitsOf(segment),
    ...(audio === undefined ? {} : { audioBytes: audio.bytes }),
  } as const;
}
