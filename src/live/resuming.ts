import { BACKOFF_BASE_MS, BACKOFF_CAP_MS } from '../api/retry.ts';
import { advance, requestIdOf } from './audio-order.ts';
import { afterDisconnect, completedBefore, completedEnding, lost, violation } from './endings.ts';
import { boundInput, endIfLost, takeManifest } from './sending.ts';
import type { RequestStatus } from './server-message.ts';
import type { LiveEnding, LiveState, LiveReducer } from './state.ts';
import { emit, end, isConnected, isIdle, leave, owesNothing, patch, startTimer } from './state.ts';

// Maximum number of consecutive polls while the status of a request is `running`.
const POLLS_MAX = 60;
const POLL_CAP_MS = 5_000;

export const connect: LiveReducer = ({ connection, plan }) => [
  patch({ phase: 'connecting', connection: connection + 1, sentInputs: 0 }),
  emit({ type: 'connect', connection: connection + 1 }),
  startTimer('reply', plan.timeouts.replyMs),
];

/**
 * Handles a failed connection. Reconnects, except in three cases that end the conversation: the error cannot be
 * retried; `maxRetries` reconnections in a row brought no new audio; or, in `simple` mode, audio was already delivered.
 * If the service owes no audio, the conversation ends with the input, and reconnects when more text arrives, even after
 * an error that cannot be retried: the next text shows whether the service has recovered.
 * @param retryAfterMs the `Retry-After` of the response, in milliseconds
 */
export function disconnected(
  ending: LiveEnding,
  isRetryable: boolean,
  retryAfterMs = 0,
): LiveReducer {
  return (state) => {
    const { attempts, early, hasDelivered, plan, reportedBytes = Infinity, segments } = state;
    if (plan.mode === 'simple' && hasDelivered) {
      const hasAll = early.length === 0 && (segments[0]?.deliveredBytes ?? 0) >= reportedBytes;
      return [end(hasAll ? completedEnding(state) : lost())];
    }
    if (owesNothing(state) && state.phase === 'stopping') return [end(completedEnding(state))];
    if (isIdle(state) && (isRetryable || owesNothing(state))) return [waitForText];
    if (state.gaps === 'assumed' && segments[0]?.hasSkipped === true) {
      return [end(violation(state, 'audio is missing'))];
    }
    const attempt = attempts + 1;
    if (!isRetryable || attempt > plan.maxRetries) return [end(afterDisconnect(state, ending))];
    const backoffMs = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** (attempt - 1));
    return [
      leave('backoff'),
      patch({ attempts: attempt, isFetching: false, nextAudio: hasDelivered ? undefined : 1 }),
      emit({ type: 'reconnecting', attempt, reason: ending }),
      startTimer('backoff', retryAfterMs + backoffMs * state.fraction),
    ];
  };
}

const waitForText: LiveReducer = ({ hasDelivered }) => [
  leave('waiting'),
  patch({ attempts: 0, nextAudio: hasDelivered ? undefined : 1 }),
  boundInput,
];

/** Continues with new text, or with the end of the input, after the client has waited for it without a connection. */
export const continueAfterWait: LiveReducer = ({ isCompleted, isInputOver, segments }) => [
  isCompleted || (isInputOver && segments.length === 0) ? proceed : checkStatus,
];

/** If the request was started before, gets its status from the service. Otherwise connects at once. */
export const checkStatus: LiveReducer = (state) => {
  const requestId = requestIdOf(state);
  return state.isStarted
    ? [patch({ phase: 'querying' }), emit({ type: 'getStatus', requestId })]
    : [connect];
};

/**
 * Handles the response of the service to `getStatus`.
 * @param status undefined if the service does not know the request
 */
export function takeStatus(status: RequestStatus | undefined): LiveReducer {
  return (state) => {
    const wasRefused = isConnected(state) && (state.retryFailed || state.connection === 1);
    const away = isConnected(state) ? leave('querying', 1000) : patch({});
    if (status === undefined)
      return [away, patch({ isStarted: false, isBillable: false }), proceed];
    if (status.state === 'running') return [away, poll];
    const isFree = status.units === 0 && status.segments.every(({ isStored }) => !isStored);
    if (state.plan.mode === 'simple' || (isFree && status.state === 'completed')) {
      return [away, takeUnstored(status, wasRefused)];
    }
    switch (status.state) {
      case 'failed_terminal':
        // The next session takes text that was never sent.
        if (hasDeliveredAll(state)) return [away, patch({ isCompleted: true }), proceed];
        return [
          end(
            requestFailed(
              state,
              'it failed and cannot be retried; another --request-id may cost again',
            ),
          ),
        ];
      case 'completed':
        return [away, takeManifest(status), endIfLost, patch({ isCompleted: true }), proceed];
      case 'failed_retryable': {
        const problem = 'it failed before; retry it with --retry-failed';
        if (wasRefused) return [end(requestFailed(state, problem))];
        return [away, takeManifest(status), patch({ retryFailed: true }), proceed];
      }
    }
  };
}

function hasDeliveredAll({ hasDelivered, isBillable }: LiveState): boolean {
  return hasDelivered && !isBillable;
}

const poll: LiveReducer = ({ fraction, polls }) => {
  if (polls >= POLLS_MAX) {
    const message = 'the request is still running on the service';
    const code = 'unknown_outcome';
    return [end({ exit: 'unknownOutcome', code, message, billed: 'unknown' })];
  }
  const delayMs = Math.min(POLL_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.min(polls, 10));
  return [
    patch({ phase: 'polling', polls: polls + 1 }),
    startTimer('poll', delayMs * (0.5 + fraction / 2)),
  ];
};

/**
 * Chooses the next action while no connection is open: download stored audio, end the conversation, wait for text, or
 * connect.
 */
export const proceed: LiveReducer = () => [
  advance,
  (state) => {
    const [first] = state.segments;
    if (first?.isStored === true) return [patch({ phase: 'fetching' }), boundInput];
    if (first === undefined && state.isInputOver) return [end(completedEnding(state))];
    if (first === undefined && state.isCompleted) return [patch({ phase: 'waiting' }), boundInput];
    return state.isCompleted ? [nextSession, connect] : [connect];
  },
];

// A session has its own request id and counts its text events from 1.
const nextSession: LiveReducer = (state) => {
  let sequence = 1;
  const segments = state.segments.map((one) => {
    const renumbered = { ...one, sequence, state: 'waiting' } as const;
    sequence += one.texts.length;
    return renumbered;
  });
  return [
    patch({ session: state.session + 1, isCompleted: false, isStarted: false, retryFailed: false }),
    patch({ manifest: [], segments, nextSequence: sequence, sessionUnits: 0, nextAudio: 1 }),
  ];
};

function requestFailed(state: LiveState, problem: string): LiveEnding {
  const message = `the service refused the request ${requestIdOf(state)}: ${problem}`;
  return { exit: 'rejected', code: 'request_failed', message, billed: 'unknown' };
}

// A finished request without stored audio cannot be run again. If it was not billed, sends the text with another
// request id (docs/billing.md). If it was billed, the audio that was not delivered is lost.
function takeUnstored({ units }: RequestStatus, wasRefused: boolean): LiveReducer {
  return (state) => {
    if (units !== 0) {
      return [end(wasRefused ? completedBefore(requestIdOf(state)) : lost())];
    }
    // A session that ended before the first text leaves nothing to resume.
    const isUnused = state.plan.mode === 'reliable' && !state.isBillable;
    if (wasRefused || (state.plan.hasOwnRequestId === true && !isUnused)) {
      const problem = 'it ended before without audio, at no cost; use another --request-id';
      return [end({ ...requestFailed(state, problem), billed: 'no' })];
    }
    return [nextSession, patch({ isBillable: false }), connect];
  };
}
