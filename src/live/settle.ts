import { REALTIME_ID_MAX_CHARACTERS } from '../contract/realtime/limits.ts';
import { sliceCodePoints } from '../text/code-points.ts';
import { drain, hear } from './audio-order.ts';
import { lost, violation } from './endings.ts';
import type { LiveState, Segment } from './state.ts';
import type { Move } from './step.ts';
import { change, changeSegment, emit, end, run } from './step.ts';

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
    ? run(state, change({ segments: state.segments.slice(1) }), settle)
    : run(state, miss([first.id]), settleFirst);
};

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
