import { closeCodeInfo } from '../contract/realtime/errors.ts';
import { streamErrorExit } from '../contract/exit-codes.ts';
import type { FinishReason } from '../contract/realtime/protocols.ts';
import {
  billedSoFar,
  closeEnding,
  errorEnding,
  REFUSALS,
  storageEnding,
  timeoutEnding,
} from './endings.ts';
import { disconnected } from './resuming.ts';
import type { ReceivedFrame } from './server-message.ts';
import type { LiveEnding, LiveState, LiveReducer } from './state.ts';
import { emit, end, isIdle, isPingId, owesNothing, patch } from './state.ts';

type ErrorMessage = Extract<ReceivedFrame, { event: 'error' }>;

/**
 * Handles an `error` message (docs/api/realtime.md#errors). After a terminal error, reconnects or ends the conversation.
 * After another error, the conversation goes on, unless the service has refused a message of the client.
 */
export function takeError(error: ErrorMessage): LiveReducer {
  return (state) => {
    const { code, inReplyTo, isRetryable, isTerminal, message, stage } = error;
    if (!isTerminal && !isRefusal(state, error)) {
      // A refused `ping` says nothing about the text.
      if (inReplyTo !== undefined && isPingId(inReplyTo)) return [];
      return [
        patch({ openError: { code, message, isRetryable } }),
        emit({ type: 'notice', message: { event: 'warning', code, message } }),
      ];
    }
    const ending =
      stage === 'storage' ? storageEnding(state, message) : errorEnding(state, code, message);
    const isTransient = isRetryable || code === 'server_draining';
    const canContinue = canResume(state) && isTransient;
    return [canContinue || owesNothing(state) ? disconnected(ending, canContinue) : end(ending)];
  };
}

// The service names the refused message. Some services do not, so that the code decides.
function isRefusal({ phase }: LiveState, { code, inReplyTo }: ErrorMessage): boolean {
  if (HARMLESS.has(code)) return false;
  if (inReplyTo !== undefined) return !isPingId(inReplyTo);
  const exit = streamErrorExit(code);
  if (exit === undefined) return false;
  // Before `ready`, the only message is `start`.
  if (phase !== 'speaking' && phase !== 'stopping') return true;
  return REFUSALS.has(exit) && !ABOUT_ONE_MESSAGE.has(code);
}

// Their cause does not prevent the service from speaking the text.
const HARMLESS: ReadonlySet<string> = new Set(['already_authenticated', 'client_backpressure']);
const ABOUT_ONE_MESSAGE: ReadonlySet<string> = new Set([
  'invalid_message',
  'invalid_messagepack',
  'invalid_state',
]);

/** Handles a timeout. If the session went on after an error, this error explains why nothing more arrived. */
export function timedOut(problem: string): LiveReducer {
  return (state) => {
    const ending = causeOf(state, timeoutEnding(state, problem));
    return [state.openError?.isRetryable === false ? end(ending) : disconnected(ending, true)];
  };
}

function causeOf(state: LiveState, otherwise: LiveEnding): LiveEnding {
  const { openError } = state;
  if (openError === undefined) return otherwise;
  const ending = errorEnding(state, openError.code, openError.message);
  return { ...ending, billed: billedSoFar(state) };
}

/** Handles the end of the connection. */
export function closed(code: number): LiveReducer {
  return (state) => {
    const isRetryable = closeCodeInfo(code)?.retryable === true;
    // After the first audio, one more connection shows whether a close with another code was about the new text.
    const mayBeIdle = IDLE_CLOSES.has(code) || (state.hasDelivered && state.attempts === 0);
    if (isRetryable || (mayBeIdle && isIdleForService(state))) {
      return [disconnected(closeEnding(state, code), true)];
    }
    return [disconnected(causeOf(state, closeEnding(state, code)), false)];
  };
}

// The text that the client has just sent may not have reached the service.
function isIdleForService(state: LiveState): boolean {
  const { phase, plan, segments } = state;
  const isUnheard = segments.every((one) => one.state !== 'accepted');
  const isSpeaking = phase === 'speaking' || phase === 'stopping';
  return isIdle(state) || (isUnheard && isSpeaking && plan.mode === 'reliable');
}

// Services and load balancers close idle connections with these codes.
const IDLE_CLOSES: ReadonlySet<number> = new Set([1000, 1001, 1005]);

/** Handles a `finish` message with another reason than `completed`. */
export function stopped(reason: Exclude<FinishReason, 'completed'>): LiveReducer {
  return (state) => {
    switch (reason) {
      case 'server_draining': {
        const ending = errorEnding(state, reason, 'the service is shutting down');
        return [canResume(state) ? disconnected(ending, true) : end(ending)];
      }
      case 'timeout': {
        const ending = timeoutEnding(state, 'the service ended the session: timeout');
        const isHarmless = isIdle(state) || owesNothing(state);
        return [isHarmless ? disconnected(ending, true) : end(ending)];
      }
      case 'error': {
        const problem = 'the session ended with an error';
        const ending = causeOf(state, errorEnding(state, 'internal_error', problem));
        return [owesNothing(state) ? disconnected(ending, false) : end(ending)];
      }
    }
  };
}

// A conversation in `simple` mode can reconnect only before the first audio.
function canResume({ plan, hasDelivered }: LiveState): boolean {
  return plan.mode === 'reliable' || !hasDelivered;
}
