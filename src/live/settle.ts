import { REALTIME_ID_MAX_CHARACTERS } from '../contract/realtime/limits.ts';
import { sliceCodePoints } from '../text/code-points.ts';
import { lost, violation } from './endings.ts';
import type { LiveState, Segment, Move, LiveEvent, HeldFrame, Step } from './state.ts';
import { change, changeSegment, emit, end, run } from './state.ts';

/**
 * Goes on with the first segment as far as it goes: out with what is due, to the next one when it was wholly
 * heard, and to the stored audio when the service is done with it and something is missing.
 */
export const settle: Move = (state) => run(state, drain, settleFirst);

const settleFirst: Move = (state) => {
  const [first] = state.segments;
  if (first === undefined) return run(state);
  if (first.isStored) return run(state, fetchStored(first));
  if (first.completed === undefined) return run(state);
  return isWhole(state, first)
    ? run(state, countEmpty(first.completed.audioBytes), dropFirst, settle)
    : run(state, miss([first.id]), settleFirst);
};

const dropFirst: Move = (state) => run(state, change({ segments: state.segments.slice(1) }));

function countEmpty(audioBytes: number | undefined): Move {
  return (state) =>
    run(state, change({ emptySegments: state.emptySegments + (audioBytes === 0 ? 1 : 0) }));
}

/** The count that the service gives decides; without one, that nothing waits for a frame between. */
function isWhole(state: LiveState, { id, completed, heardBytes, runBytes }: Segment): boolean {
  if (state.held.some(({ segmentId }) => segmentId === id)) return false;
  const bytes = completed?.audioBytes;
  return bytes === undefined ? runBytes >= heardBytes : Math.max(heardBytes, runBytes) >= bytes;
}

/** The service is done with segments of which something was not heard: v3 has stored them, v2 has not. */
export function miss(ids: readonly string[]): Move {
  return (state) => {
    if (ids.length === 0) return run(state);
    if (state.plan.protocol === 'v2') return run(state, end(lost(ids)));
    const segments = state.segments.map((one) =>
      ids.includes(one.id) ? { ...one, isStored: true } : one,
    );
    const held = state.held.filter(({ segmentId }) => !ids.includes(segmentId));
    return run(state, change({ segments, held }));
  };
}

function fetchStored({ id }: Segment): Move {
  return (state) =>
    state.isFetching
      ? run(state)
      : run(
          state,
          change({ isFetching: true }),
          emit({ type: 'fetchSegment', requestId: requestIdOf(state), segmentId: id }),
        );
}

/** The stored audio of the first segment is there: what was not heard of it goes out. */
export function takeStored(segmentId: string, audio: Uint8Array): Move {
  return (state) => {
    const [first] = state.segments;
    if (!state.isFetching || first?.id !== segmentId) return run(state);
    if (audio.length < first.heardBytes || audio.length === 0) {
      return run(state, end(violation(state, `the stored ${segmentId} is shorter than it was`)));
    }
    return run(
      state,
      hear(segmentId, audio, 0),
      changeSegment(segmentId, {
        isStored: false,
        runBytes: audio.length,
        completed: { audioBytes: audio.length },
      }),
      // Where the numbers go on behind what was not listened to is not known.
      change({ isFetching: false, nextAudio: undefined }),
      settle,
    );
  };
}

/** The id of the request of this session: the plan's own, then with a number. */
export function requestIdOf({ plan: { requestId }, session }: LiveState): string {
  if (session === 1) return requestId;
  const suffix = `-${session}`;
  const room = REALTIME_ID_MAX_CHARACTERS - suffix.length;
  return `${sliceCodePoints(requestId, 0, room)}${suffix}`;
}

/** Audio that waits for what comes before it: so much of it, and a frame that is missing is missing. */
const HELD_MAX_FRAMES = 64;
const HELD_MAX_BYTES = 8 * 1024 * 1024;

/**
 * Takes a frame of audio: out it goes in the order of its numbers, each number once. Numbers go up by one
 * over the connection, or from the beginning of each segment; the spec leaves that open.
 */
export function takeAudio(
  frame: Omit<HeldFrame, 'segmentId'> & { segmentId?: string | undefined },
) {
  return (state: LiveState): Step => {
    const [first] = state.segments;
    const segmentId = state.plan.mode === 'simple' ? first?.id : (frame.segmentId ?? first?.id);
    const segment = state.segments.find(({ id }) => id === segmentId);
    if (segment === undefined) return takeLate(segmentId)(state);
    if (segment.state === 'waiting') return end(violation(state, 'audio before its text'))(state);
    if (segment.audio !== undefined && frame.sequence < segment.audio.first) {
      return end(violation(state, 'audio came after what follows it'))(state);
    }
    if (segment.audio !== undefined && frame.sequence < segment.audio.next) return run(state);
    if (segment.isStored) return run(state);
    const { sequence, audio } = frame;
    return run(state, hold({ segmentId: segment.id, sequence, audio }), drain, checkHeld);
  };
}

/**
 * The same for the frame that nearly always comes, the next one of the first segment, in a single step:
 * the way of all others takes several times as long as reading the frame does. Undefined for those.
 */
export function takeNextAudio(state: LiveState, event: LiveEvent): Step | undefined {
  if (event.type !== 'message' || event.message.event !== 'audio') return undefined;
  const { audio, segmentId, sequence } = event.message;
  const [first] = state.segments;
  const isOfFirst = state.plan.mode === 'simple' || (segmentId ?? first?.id) === first?.id;
  if (first === undefined || !isOfFirst || first.audio?.next !== sequence) return undefined;
  const isNew = first.runBytes >= first.heardBytes && audio.length > 0;
  if (!isNew || !isQuiet(state, first) || event.connection !== state.connection) return undefined;
  const segment: Segment = {
    ...first,
    audio: { first: first.audio.first, next: sequence + 1 },
    runBytes: first.runBytes + audio.length,
    heardBytes: first.heardBytes + audio.length,
  };
  const segments = state.segments.slice();
  segments[0] = segment;
  const { silenceMs, progressMs } = state.plan.waits;
  return {
    state: { ...state, segments, hasHeard: true, attempts: 0, polls: 0, nextAudio: sequence + 1 },
    effects: [
      { type: 'startTimer', name: 'silence', afterMs: silenceMs },
      { type: 'audio', segmentId: first.id, bytes: audio },
      { type: 'startTimer', name: 'progress', afterMs: progressMs },
    ],
  };
}

/** Nothing else is due: no frame waits, nobody is slow, and the segment goes on. */
function isQuiet({ held, isHeld, phase, timers }: LiveState, first: Segment): boolean {
  const isSpeaking = phase === 'speaking' || phase === 'stopping';
  const isWatched = timers.includes('silence') && timers.includes('progress');
  const goesOn = first.state !== 'waiting' && !first.isStored && first.completed === undefined;
  return isSpeaking && goesOn && isWatched && !isHeld && held.length === 0;
}

/** What was wholly heard may come again; what was never asked for may not. */
function takeLate(segmentId: string | undefined): Move {
  return (state) =>
    segmentId !== undefined && wasHeard(state, segmentId)
      ? run(state)
      : run(state, end(violation(state, 'audio of a segment that was not asked for')));
}

/** Whether a segment is one of ours that is over. Their ids count up. */
export function wasHeard({ segments, segmentCount }: LiveState, id: string): boolean {
  const number = /^s([1-9]\d{0,8})$/.exec(id)?.[1];
  return (
    number !== undefined && Number(number) <= segmentCount && segments.every((one) => one.id !== id)
  );
}

function hold(frame: HeldFrame): Move {
  return (state) => {
    const isThere = state.held.some(
      ({ segmentId, sequence }) => segmentId === frame.segmentId && sequence === frame.sequence,
    );
    return run(state, change({ held: isThere ? state.held : [...state.held, frame] }));
  };
}

/** Lets out what is due of the first segment. */
const drain: Move = (state) => {
  const [segment] = state.segments;
  const due = segment && state.held.find((frame) => isDue(state, segment, frame));
  if (segment === undefined || due === undefined) return run(state);
  const held = state.held.filter((frame) => frame !== due);
  return run(state, change({ held }), letOut(segment, due), drain);
};

function isDue({ nextAudio }: LiveState, segment: Segment, frame: HeldFrame): boolean {
  if (frame.segmentId !== segment.id) return false;
  if (segment.audio !== undefined) return frame.sequence === segment.audio.next;
  return nextAudio === undefined || frame.sequence === nextAudio || frame.sequence <= 1;
}

function letOut(segment: Segment, { sequence, audio }: HeldFrame): Move {
  const first = segment.audio?.first ?? sequence;
  return (state) =>
    run(
      state,
      changeSegment(segment.id, {
        audio: { first, next: sequence + 1 },
        runBytes: segment.runBytes + audio.length,
      }),
      change({ nextAudio: sequence + 1 }),
      hear(segment.id, audio, segment.runBytes),
    );
}

/** Gives the listener what is new of bytes that begin `from` bytes into a segment. */
function hear(segmentId: string, audio: Uint8Array, from: number): Move {
  return (state) => {
    const heardBytes = state.segments.find(({ id }) => id === segmentId)?.heardBytes ?? 0;
    const bytes = audio.subarray(Math.max(0, heardBytes - from));
    if (bytes.length === 0) return run(state);
    return run(
      state,
      changeSegment(segmentId, { heardBytes: heardBytes + bytes.length }),
      change({ hasHeard: true, attempts: 0, polls: 0 }),
      emit({ type: 'audio', segmentId, bytes }),
    );
  };
}

const checkHeld: Move = (state) => {
  const bytes = state.held.reduce((sum, { audio }) => sum + audio.length, 0);
  return state.held.length > HELD_MAX_FRAMES || bytes > HELD_MAX_BYTES
    ? run(state, end(violation(state, 'audio is missing between what came')))
    : run(state);
};
