import type { StartMessage, Problem } from '../client-message.ts';
import { CLOSE, change, emit, end, fail, inTurn, replyTo, run, send } from './state.ts';
import type { StatusFields, BegunRequest, Move } from './state.ts';

/** A request is asked for: the first of the connection, or another after one that could not be begun. */
export function start(message: StartMessage): Move {
  return (state) => {
    const { eventId } = message;
    if (state.phase !== 'waiting') {
      const problem = 'One connection carries one request, and this one has it';
      return run(state, fail({ code: 'invalid_state', message: problem }, eventId));
    }
    return run(
      state,
      change({ phase: 'starting', pendingEventId: eventId }),
      emit({ type: 'begin', start: message }),
    );
  };
}

/** It may be spoken: the text can come (docs/api/realtime.md). */
export function begun(begin: BegunRequest): Move {
  return (state) => {
    if (state.phase !== 'starting') return run(state);
    const { requestId, mode, sound, ready, warnings } = begin;
    const request = { ...begin, ...NOTHING_YET };
    return run(
      state,
      change({ phase: 'speaking', request }),
      send({
        event: 'ready',
        ...replyTo(state.pendingEventId),
        ...sound,
        ...ready,
        mode,
        requestId,
        sessionId: state.sessionId,
      }),
      inTurn(...warnings.map((warning) => send({ event: 'warning', requestId, ...warning }))),
    );
  };
}

const NOTHING_YET = {
  texts: [],
  sequences: [],
  characters: 0,
  lastSequence: 0,
  queue: [],
  isStopped: false,
  stopEventId: undefined,
} as const;

/** It cannot be begun as it is; the client may ask for another. */
export function notBegun(problem: Problem): Move {
  return (state) =>
    state.phase === 'starting'
      ? run(state, change({ phase: 'waiting' }), fail(problem, state.pendingEventId))
      : run(state);
}

/** The same request was made before: what is known of it, and the connection has done its work. */
export function known(status: StatusFields): Move {
  return (state) =>
    state.phase === 'starting'
      ? run(
          state,
          send({ event: 'request_status', ...replyTo(state.pendingEventId), ...status }),
          end(CLOSE.done),
        )
      : run(state);
}
