import type { FinishReason } from '../contract/realtime/protocols.ts';
import { takeAudio, wasHeard, miss, requestIdOf, settle } from './settle.ts';
import { completedEnding, errorEnding, silent, violation } from './endings.ts';
import { broken, proceed, takeStatus } from './resuming.ts';
import { sendMore } from './sending.ts';
import type { HeardMessage } from './server-message.ts';
import type { LiveState, Segment, Move } from './state.ts';
import {
  change,
  changeSegment,
  emit,
  end,
  inTurn,
  leave,
  run,
  send,
  startTimer,
  stopTimers,
} from './state.ts';

/** The socket is open: a browser's ticket is shown, a key was in the handshake. */
export const opened: Move = (state) =>
  run(
    state,
    change({ phase: 'authenticating', isHeld: false }),
    startTimer('reply', state.plan.waits.replyMs),
    startTimer('silence', state.plan.waits.silenceMs),
    ...(state.plan.ticket === undefined ? [] : [send({ event: 'auth', token: state.plan.ticket })]),
  );

/** Takes a message of the service (docs/api/realtime.md). */
export function receive(message: HeardMessage): Move {
  return (state) =>
    run(
      state,
      ...(state.isHeld ? [] : [startTimer('silence', state.plan.waits.silenceMs)]),
      take(message),
      // A service that only says that it lives makes no progress.
      ...(message.event === 'pong' ? [] : [sendMoreWhenOpen]),
    );
}

const sendMoreWhenOpen: Move = (state) =>
  run(state, ...(state.phase === 'speaking' || state.phase === 'stopping' ? [sendMore] : []));

function take(message: HeardMessage): Move {
  switch (message.event) {
    case 'authenticated':
      return start;
    case 'ready':
      return inTurn(ready, emit({ type: 'notice', message }));
    case 'request_status':
      return takeStatus(message.facts);
    case 'error':
      return failed(message);
    case 'finish':
      return inTurn(emit({ type: 'notice', message }), finished(message.reason));
    case 'warning':
      return emit({ type: 'notice', message });
    case 'pong':
      return change({});
    case 'input_ack':
    case 'segment_accepted':
    case 'audio':
    case 'usage':
    case 'segment_completed':
      return duringSpeech(message);
  }
}

type SpeechMessage = Extract<
  HeardMessage,
  { event: 'input_ack' | 'segment_accepted' | 'audio' | 'usage' | 'segment_completed' }
>;

function duringSpeech(message: SpeechMessage): Move {
  return (state) => {
    if (state.phase !== 'speaking' && state.phase !== 'stopping') {
      return run(state, end(violation(state, `${message.event} came before ready`)));
    }
    switch (message.event) {
      case 'input_ack':
        return run(state, acknowledged(message.acceptedSequence ?? 0));
      case 'segment_accepted':
        return run(state, ofSegment(message.segmentId, accepted(message.reservedUnits)));
      case 'audio':
        return run(state, takeAudio(message), settle);
      case 'usage': {
        const sessionUnits = Math.max(state.sessionUnits, message.sessionUnits ?? 0);
        return run(
          state,
          change({ sessionUnits, reportedBytes: message.audioBytes }),
          emit({ type: 'notice', message }),
        );
      }
      case 'segment_completed':
        return run(state, ofSegment(message.segmentId, completed(message)), settle);
    }
  };
}

const start: Move = (state) => {
  if (state.phase !== 'authenticating') return run(state);
  const { mode, request } = state.plan;
  return run(
    state,
    send({
      event: 'start',
      mode,
      requestId: requestIdOf(state),
      ...(state.retryFailed ? { retryFailed: true } : {}),
      request,
    }),
    change({ phase: 'starting', isStarted: true }),
    startTimer('reply', state.plan.waits.replyMs),
  );
};

const ready: Move = (state) => {
  if (state.phase !== 'starting') return run(state);
  return run(
    state,
    stopTimers('reply'),
    change({ phase: 'speaking', segments: state.segments.map((one) => asNew(one)) }),
    startTimer('ping', state.plan.waits.pingMs),
  );
};

/** A segment as a new connection begins with it: only what was heard, and what is stored, is kept. */
function asNew(segment: Segment): Segment {
  return { ...segment, state: 'waiting', runBytes: 0, audio: undefined, completed: undefined };
}

function acknowledged(sequence: number): Move {
  return (state) =>
    sequence < state.nextSequence
      ? run(state)
      : run(state, end(violation(state, 'it took text that was not sent')));
}

function ofSegment(id: string, move: (segment: Segment) => Move): Move {
  return (state) => {
    // The whole input is one segment there, whatever a service calls it; `finish` is what counts.
    if (state.plan.mode === 'simple') return run(state);
    const segment = state.segments.find((one) => one.id === id);
    if (segment !== undefined && segment.state !== 'waiting') return run(state, move(segment));
    if (segment === undefined && wasHeard(state, id)) return run(state);
    return run(state, end(violation(state, 'it speaks of a segment that was not asked for')));
  };
}

function accepted(reservedUnits: number | undefined) {
  return ({ id, characters }: Segment): Move =>
    (state) => {
      const units = reservedUnits ?? characters * state.unitsPerCharacter;
      return run(
        state,
        changeSegment(id, { state: 'accepted' }),
        change({
          sessionUnits: state.sessionUnits + units,
          unitsPerCharacter: Math.max(state.unitsPerCharacter, units / characters),
        }),
      );
    };
}

function completed(message: Extract<HeardMessage, { event: 'segment_completed' }>) {
  return ({ id }: Segment): Move =>
    inTurn(
      changeSegment(id, { state: 'accepted', completed: { audioBytes: message.audioBytes } }),
      emit({ type: 'notice', message }),
    );
}

function failed({ code, message, isRetryable }: Extract<HeardMessage, { event: 'error' }>): Move {
  return (state) => {
    const ending = errorEnding(state, code, message);
    const again = mayGoOn(state) && (isRetryable || code === 'server_draining');
    return run(state, again ? broken(ending, true) : end(ending));
  };
}

function finished(reason: FinishReason): Move {
  return (state) => {
    switch (reason) {
      case 'completed':
        return run(state, allSpoken);
      case 'server_draining': {
        const ending = errorEnding(state, reason, 'the service shuts down');
        return run(state, mayGoOn(state) ? broken(ending, true) : end(ending));
      }
      case 'timeout':
        return run(state, end(silent(state, 'the service ended the session: timeout')));
      case 'error':
        return run(
          state,
          end(errorEnding(state, 'internal_error', 'the session ended in an error')),
        );
    }
  };
}

/** What is simple cannot go on behind its first audio; what the service says of that counts, not the break. */
function mayGoOn({ plan, hasHeard }: LiveState): boolean {
  return plan.mode === 'reliable' || !hasHeard;
}

const allSpoken: Move = (state) => {
  if (state.phase !== 'stopping') {
    return run(state, end(violation(state, 'it finished before it was asked to')));
  }
  if (state.plan.mode === 'simple') {
    const isWhole = (state.hasHeard || state.reportedBytes === 0) && state.held.length === 0;
    return run(state, end(isWhole ? completedEnding(state) : violation(state, 'audio is missing')));
  }
  const unheard = state.segments.filter((one) => one.state !== 'waiting').map(({ id }) => id);
  return run(state, miss(unheard), leave('fetching', 1000), change({ isOver: true }), proceed);
};
