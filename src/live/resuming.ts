import { BACKOFF_BASE_MS, BACKOFF_CAP_MS } from '../api/retry.ts';
import { afterTheLine, completedEnding, lost } from './endings.ts';
import type { Ending, LiveState, Move } from './state.ts';
import { change, emit, end, isConnected, leave, run, startTimer } from './state.ts';
import { adopt, missWhatIsGone, boundInput } from './sending.ts';
import type { RequestFacts } from './server-message.ts';
import { requestIdOf, settle } from './settle.ts';

/** How often a request that the service still works on is asked for before it is given up. */
const POLLS_MAX = 60;
const POLL_CAP_MS = 5_000;

export const connect: Move = (state) =>
  run(
    state,
    change({ phase: 'connecting', connection: state.connection + 1, sentInputs: 0 }),
    emit({ type: 'connect', connection: state.connection + 1 }),
    startTimer('reply', state.plan.waits.replyMs),
  );

/**
 * The line is of no use any more. Reliable mode tries again as long as something new is heard in between,
 * simple mode until its first audio.
 * @param retryAfterMs how long the service wants to be left alone
 */
export function broken(ending: Ending, isRetryable: boolean, retryAfterMs = 0): Move {
  return (state) => {
    if (state.plan.mode === 'simple' && state.hasHeard) {
      return run(state, end(hasAll(state) ? completedEnding(state) : lost()));
    }
    const attempt = state.attempts + 1;
    if (!isRetryable || attempt > state.plan.maxRetries) {
      return run(state, end(afterTheLine(state, ending)));
    }
    const backoffMs = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** (attempt - 1));
    return run(
      state,
      leave('resting'),
      change({ attempts: attempt, isFetching: false, nextAudio: state.hasHeard ? undefined : 1 }),
      emit({ type: 'reconnecting', attempt, because: ending }),
      startTimer('backoff', retryAfterMs + backoffMs * state.fraction),
    );
  };
}

/** Whether the service said how much audio a simple input has, and all of it was heard. */
function hasAll({ held, reportedBytes = Infinity, segments }: LiveState): boolean {
  return held.length === 0 && (segments[0]?.heardBytes ?? 0) >= reportedBytes;
}

/** Before a request is started again the service is asked what became of it. */
export const ask: Move = (state) =>
  state.isStarted
    ? run(
        state,
        change({ phase: 'asking' }),
        emit({ type: 'askStatus', requestId: requestIdOf(state) }),
      )
    : run(state, connect);

/** Goes on after what is known of the request; undefined: the service does not know it. */
export function takeStatus(facts: RequestFacts | undefined): Move {
  return (state) => {
    const wasRefused = isConnected(state) && (state.retryFailed || state.connection === 1);
    const away = isConnected(state) ? leave('asking', 1000) : change({});
    if (facts === undefined) {
      return run(state, away, change({ isStarted: false, hasAsked: false }), proceed);
    }
    if (facts.state === 'running') return run(state, away, poll);
    const isFree = facts.units === 0 && facts.segments.every(({ isStored }) => !isStored);
    if (state.plan.mode === 'simple' || (isFree && facts.state === 'completed')) {
      return run(state, away, takeUnstored(facts, wasRefused));
    }
    switch (facts.state) {
      case 'failed_terminal':
        return run(state, end(requestFailed(state, 'it failed for good')));
      case 'completed':
        return run(state, away, adopt(facts), missWhatIsGone, change({ isOver: true }), proceed);
      case 'failed_retryable': {
        const problem = 'it failed before, and may be run again with --retry-failed';
        if (wasRefused) return run(state, end(requestFailed(state, problem)));
        return run(state, away, adopt(facts), change({ retryFailed: true }), proceed);
      }
    }
  };
}

const poll: Move = (state) => {
  if (state.polls >= POLLS_MAX) {
    const message = 'the service still works on the request, and tells nothing of it';
    const code = 'unknown_outcome';
    return run(state, end({ exit: 'unknownOutcome', code, message, billed: 'unknown' }));
  }
  const delayMs = Math.min(POLL_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.min(state.polls, 10));
  return run(
    state,
    change({ phase: 'polling', polls: state.polls + 1 }),
    startTimer('poll', delayMs * (0.5 + state.fraction / 2)),
  );
};

/**
 * Without a connection: fetches what comes first, ends when nothing is left, waits for text when the request
 * is over, else connects.
 */
export const proceed: Move = (state) => run(state, settle, goOn);

const goOn: Move = (state) => {
  const [first] = state.segments;
  if (first?.isStored === true) return run(state, change({ phase: 'fetching' }), boundInput);
  if (first === undefined && state.isInputOver) return run(state, end(completedEnding(state)));
  if (first === undefined && state.isOver) {
    return run(state, change({ phase: 'expecting' }), boundInput);
  }
  return run(state, ...(state.isOver ? [nextSession, connect] : [connect]));
};

/** A fresh session goes on under an id of its own, with text that is numbered from 1. */
const nextSession: Move = (state) => {
  let sequence = 1;
  const segments = state.segments.map((one) => {
    const renumbered = { ...one, sequence, state: 'waiting' } as const;
    sequence += one.texts.length;
    return renumbered;
  });
  return run(
    state,
    change({ session: state.session + 1, isOver: false, isStarted: false, retryFailed: false }),
    change({ manifest: [], segments, nextSequence: sequence, sessionUnits: 0, nextAudio: 1 }),
  );
};

function requestFailed(state: LiveState, problem: string): Ending {
  const message = `the service does not speak the request ${requestIdOf(state)}: ${problem}`;
  return { exit: 'rejected', code: 'request_failed', message, billed: 'unknown' };
}

/**
 * Handles a finished request without stored audio, which cannot run again. One that cost nothing is sent under
 * another id, as a refunded one is everywhere (docs/billing.md); what was charged and not heard is lost.
 */
function takeUnstored({ units }: RequestFacts, wasRefused: boolean): Move {
  return (state) => {
    if (units !== 0) return run(state, end(lost()));
    if (wasRefused || state.plan.hasOwnRequestId === true) {
      const problem = 'it ended before without audio, at no cost; use another --request-id';
      return run(state, end({ ...requestFailed(state, problem), billed: 'no' }));
    }
    return run(state, nextSession, change({ hasAsked: false }), connect);
  };
}
