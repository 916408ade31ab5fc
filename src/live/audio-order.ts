import { REALTIME_ID_MAX_CHARACTERS } from '../contract/realtime/limits.ts';
import { sliceCodePoints } from '../text/code-points.ts';
import { lost, violation } from './endings.ts';
import type { EarlyFrame, LiveEvent, LiveState, LiveReducer, Segment, LiveStep } from './state.ts';
import { emit, end, patch, patchSegment } from './state.ts';

/**
 * Delivers the audio that is next in order, and removes completely delivered segments. If the service has stored the
 * audio of the next segment, downloads this audio.
 */
export const advance: LiveReducer = () => [deliverDue, advanceFirst];

const advanceFirst: LiveReducer = (state) => {
  const [first] = state.segments;
  if (first?.isStored === true) return state.isFetching ? [] : [fetchStored(first.id)];
  if (first?.completed === undefined) return [];
  if (!isDelivered(state, first)) {
    // What was delivered is then no prefix of the audio, so that the rest cannot be added to it.
    if (first.hasSkipped) return [end(violation(state, 'audio is missing'))];
    return [markMissing([first.id]), advanceFirst];
  }
  const emptySegments = state.emptySegments + (first.completed.audioBytes === 0 ? 1 : 0);
  const segments = state.segments.slice(1);
  const isBillable = state.isBillable && segments.length > 0;
  return [patch({ emptySegments, segments, isBillable }), advance];
};

// Compares with the bytes that the service reported, else with all frames that arrived.
function isDelivered(
  { early }: LiveState,
  { id, completed, deliveredBytes, receivedBytes }: Segment,
): boolean {
  if (early.some(({ segmentId }) => segmentId === id)) return false;
  const bytes = completed?.audioBytes;
  return bytes === undefined
    ? receivedBytes >= deliveredBytes
    : Math.max(deliveredBytes, receivedBytes) >= bytes;
}

/**
 * Handles segments that the service completed but whose audio did not arrive. In protocol v3, their audio is downloaded
 * over HTTP. In v2, the conversation ends, because the audio is lost.
 */
export function markMissing(ids: readonly string[]): LiveReducer {
  return ({ early, plan, segments }) => {
    if (ids.length === 0) return [];
    if (plan.protocol === 'v2') return [end(lost(ids))];
    return [
      patch({
        segments: segments.map((one) => (ids.includes(one.id) ? { ...one, isStored: true } : one)),
        early: early.filter(({ segmentId }) => !ids.includes(segmentId)),
      }),
    ];
  };
}

function fetchStored(segmentId: string): LiveReducer {
  return (state) => [
    patch({ isFetching: true }),
    emit({ type: 'fetchSegment', requestId: requestIdOf(state), segmentId }),
  ];
}

/**
 * Handles the downloaded audio of a segment. Delivers only the bytes that the reader of the audio has not received yet.
 */
export function takeStored(segmentId: string, audio: Uint8Array): LiveReducer {
  return (state) => {
    const [first] = state.segments;
    if (!state.isFetching || first?.id !== segmentId) return [];
    if (audio.length < first.deliveredBytes || audio.length === 0) {
      return [end(violation(state, `the stored audio of ${segmentId} is too short`))];
    }
    const completed = { audioBytes: audio.length };
    return [
      deliver(segmentId, audio, 0),
      patchSegment(segmentId, { isStored: false, receivedBytes: audio.length, completed }),
      // Stored audio has no sequence numbers, so the number of the next frame is unknown.
      patch({ isFetching: false, nextAudio: undefined }),
      advance,
    ];
  };
}

/**
 * Accepts missing sequence numbers if the service reports a size that shows that no audio is missing.
 * @param segmentId ignored in `simple` mode, which has only one segment
 * @param reportedBytes size of the segment's audio so far
 */
export function closeGaps(
  segmentId: string | undefined,
  reportedBytes: number | undefined,
): LiveReducer {
  return ({ early, plan, segments }) => {
    const id = plan.mode === 'simple' ? segments[0]?.id : segmentId;
    const segment = segments.find((one) => one.id === id);
    const waiting = early.filter((frame) => frame.segmentId === id);
    if (segment === undefined || waiting.length === 0) return [];
    const bytes = segment.receivedBytes + sizeOf(waiting);
    return bytes === reportedBytes ? [patch({ gaps: 'proven' }), advance] : [];
  };
}

function sizeOf(frames: readonly EarlyFrame[]): number {
  return frames.reduce((sum, { audio }) => sum + audio.length, 0);
}

/** Returns the request id of the current session: from session 2 on, the original id plus a suffix (`-2`). */
export function requestIdOf({ plan: { requestId }, session }: LiveState): string {
  if (session === 1) return requestId;
  const suffix = `-${session}`;
  return `${sliceCodePoints(requestId, 0, REALTIME_ID_MAX_CHARACTERS - suffix.length)}${suffix}`;
}

// Limits on frames that are kept while an earlier frame is missing. Above a limit, the client goes on without this
// frame, and the size that the service reports at the end must show that no audio is missing.
const EARLY_MAX_FRAMES = 64;
const EARLY_MAX_BYTES = 8 * 1024 * 1024;

/**
 * Handles an audio frame. Delivers each frame once and in order. Sequence numbers may start again with each segment.
 */
export function takeAudio({
  audio,
  segmentId: givenId,
  sequence,
}: Omit<EarlyFrame, 'segmentId'> & { segmentId?: string | undefined }): LiveReducer {
  return (state) => {
    const [first] = state.segments;
    const segmentId = state.plan.mode === 'simple' ? first?.id : (givenId ?? first?.id);
    const segment = state.segments.find(({ id }) => id === segmentId);
    if (segment === undefined) {
      const isRepeated = segmentId !== undefined && wasDelivered(state, segmentId);
      return isRepeated ? [] : [end(violation(state, 'audio of a segment that was not sent'))];
    }
    if (segment.state === 'waiting') return [end(violation(state, 'audio before its text'))];
    if (segment.audio !== undefined && sequence < segment.audio.first) {
      return [end(violation(state, 'audio is out of order'))];
    }
    const isRepeated = segment.audio !== undefined && sequence < segment.audio.next;
    if (isRepeated || segment.isStored) return [];
    return [buffer({ segmentId: segment.id, sequence, audio }), deliverDue, checkEarly];
  };
}

/**
 * Handles an audio frame that is next in order. Does the same as {@link takeAudio}, but faster. Returns undefined for
 * any other event.
 */
export function takeNextAudio(state: LiveState, event: LiveEvent): LiveStep | undefined {
  if (event.type !== 'message' || event.message.event !== 'audio') return undefined;
  const { audio, segmentId, sequence } = event.message;
  const [first] = state.segments;
  const isOfFirst = state.plan.mode === 'simple' || (segmentId ?? first?.id) === first?.id;
  if (first === undefined || !isOfFirst || first.audio?.next !== sequence) return undefined;
  if (state.openError !== undefined) return undefined;
  const isNew = first.receivedBytes >= first.deliveredBytes && audio.length > 0;
  if (!isNew || !isSteady(state, first) || event.connection !== state.connection) return undefined;
  const segments = state.segments.slice();
  segments[0] = {
    ...first,
    audio: { first: first.audio.first, next: sequence + 1 },
    receivedBytes: first.receivedBytes + audio.length,
    deliveredBytes: first.deliveredBytes + audio.length,
  };
  const { silenceMs, progressMs } = state.plan.timeouts;
  const nextAudio = sequence + 1;
  return {
    state: { ...state, segments, hasDelivered: true, attempts: 0, polls: 0, nextAudio },
    effects: [
      { type: 'startTimer', name: 'silence', afterMs: silenceMs },
      { type: 'audio', segmentId: first.id, bytes: audio },
      { type: 'startTimer', name: 'progress', afterMs: progressMs },
    ],
  };
}

// True if the next frame can be delivered without changing anything else in the state.
function isSteady({ early, isPaused, phase, timers }: LiveState, first: Segment): boolean {
  const isSpeaking = phase === 'speaking' || phase === 'stopping';
  const isTimed = timers.includes('silence') && timers.includes('progress');
  const isOpen = first.state !== 'waiting' && !first.isStored && first.completed === undefined;
  return isSpeaking && isOpen && isTimed && !isPaused && early.length === 0;
}

/** Returns true if the audio of a segment was delivered completely. Segment ids are `s1`, `s2`, and so on. */
export function wasDelivered({ segments, segmentCount }: LiveState, id: string): boolean {
  const number = Number(/^s([1-9]\d{0,8})$/.exec(id)?.[1]);
  return number <= segmentCount && segments.every((one) => one.id !== id);
}

function buffer(frame: EarlyFrame): LiveReducer {
  return ({ early }) => {
    const isRepeated = early.some(
      ({ segmentId, sequence }) => segmentId === frame.segmentId && sequence === frame.sequence,
    );
    return isRepeated ? [] : [patch({ early: [...early, frame] })];
  };
}

const deliverDue: LiveReducer = (state) => {
  const [segment] = state.segments;
  const due = segment && firstFrame(state.early, segment);
  if (segment === undefined || due === undefined) return [];
  const isNext = isDue(state, segment, due);
  if (!isNext && state.gaps === 'none') return [];
  const { audio, sequence } = due;
  const next = sequence + 1;
  return [
    patch({ early: state.early.filter((frame) => frame !== due), nextAudio: next }),
    patchSegment(segment.id, {
      audio: { first: segment.audio?.first ?? sequence, next },
      receivedBytes: segment.receivedBytes + audio.length,
      hasSkipped: segment.hasSkipped || !isNext,
    }),
    deliver(segment.id, audio, segment.receivedBytes),
    deliverDue,
  ];
};

function firstFrame(early: readonly EarlyFrame[], { id }: Segment): EarlyFrame | undefined {
  return early
    .filter(({ segmentId }) => segmentId === id)
    .reduce<EarlyFrame | undefined>(
      (first, frame) => (first === undefined || frame.sequence < first.sequence ? frame : first),
      undefined,
    );
}

function isDue({ nextAudio }: LiveState, segment: Segment, frame: EarlyFrame): boolean {
  if (segment.audio !== undefined) return frame.sequence === segment.audio.next;
  return nextAudio === undefined || frame.sequence === nextAudio || frame.sequence <= 1;
}

// `audio` begins at byte `from` of the segment. Skips the bytes that were delivered earlier.
function deliver(segmentId: string, audio: Uint8Array, from: number): LiveReducer {
  return ({ segments }) => {
    const deliveredBytes = segments.find(({ id }) => id === segmentId)?.deliveredBytes ?? 0;
    const bytes = audio.subarray(Math.max(0, deliveredBytes - from));
    if (bytes.length === 0) return [];
    return [
      patchSegment(segmentId, { deliveredBytes: deliveredBytes + bytes.length }),
      patch({ hasDelivered: true, attempts: 0, polls: 0, openError: undefined }),
      emit({ type: 'audio', segmentId, bytes }),
    ];
  };
}

const checkEarly: LiveReducer = (state) => {
  const { early, gaps, segments } = state;
  if (early.length <= EARLY_MAX_FRAMES && sizeOf(early) <= EARLY_MAX_BYTES) return [];
  const isFirst = early.some(({ segmentId }) => segmentId === segments[0]?.id);
  return gaps === 'none' && isFirst
    ? [patch({ gaps: 'assumed' }), deliverDue, checkEarly]
    : [end(violation(state, 'a frame of audio is missing'))];
};
