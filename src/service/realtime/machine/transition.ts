import { opened, receive, redeemed, ticketRefused } from './receiving.ts';
import { endWhenDone, notReserved, reserved, takeSpeech } from './speaking.ts';
import type {
  SessionReducer,
  SessionEvent,
  SessionState,
  SessionTimer,
  StartedRequest,
  SessionStep,
} from './state.ts';
import {
  CLOSE,
  abandon,
  end,
  fail,
  failTerminally,
  finish,
  hasRequest,
  patch,
  replyTo,
  restartIdle,
  run,
  send,
} from './state.ts';

/**
 * Returns the next state of a realtime connection, and the side effects to perform (docs/api/realtime.md). This
 * function is pure. In the phase `ended`, events have no effect.
 */
export function transition(state: SessionState, event: SessionEvent): SessionStep {
  return run(state, [reducerFor(event)]);
}

function reducerFor(event: SessionEvent): SessionReducer {
  switch (event.type) {
    case 'opened':
      return opened(event.quota);
    case 'frame':
      return ({ phase }) => [
        ...(phase === 'authenticating' ? [] : [restartIdle]),
        receive(event.message, event.isRepeated),
      ];
    case 'unreadable':
      return unreadable(event.isText, event.problem);
    case 'timer':
      return timedOut(event.name);
    case 'stalled':
      return fail({
        code: 'client_backpressure',
        message: 'The client does not read the messages of the service',
      });
    case 'drain':
      return event.isForced ? closeNow : drain;
    case 'failed':
      return fail(event.problem);
    case 'closed':
      return () => [abandon(), end(CLOSE.done)];
    case 'audio':
    case 'spoken':
    case 'unspeakable':
      return takeSpeech(event);
    case 'redeemed':
      return redeemed(event.quota);
    case 'ticketRefused':
      return ticketRefused;
    case 'started':
    case 'known':
    case 'notStarted':
      return startResult(event);
    case 'reserved':
      return reserved(event);
    case 'notReserved':
      return notReserved(event.problem);
    case 'settled':
      return ({ phase }) => (phase === 'settling' ? [finish('completed', CLOSE.done)] : []);
  }
}

function startResult(
  event: Extract<SessionEvent, { type: 'started' | 'known' | 'notStarted' }>,
): SessionReducer {
  return ({ pendingEventId, phase }) => {
    if (phase !== 'starting') return [];
    switch (event.type) {
      case 'started':
        return [started(event.request)];
      case 'known': {
        const reply = replyTo(pendingEventId);
        return [send({ event: 'request_status', ...reply, ...event.status }), end(CLOSE.done)];
      }
      case 'notStarted':
        // The client may send another `start`.
        return [patch({ phase: 'waiting' }), fail(event.problem, pendingEventId)];
    }
  };
}

function started(request: StartedRequest): SessionReducer {
  return ({ pendingEventId, sessionId }) => {
    const { audioFormat, mode, modelId, ready, requestId, voiceId, warnings } = request;
    const fields = { modelId, voiceId, ...audioFormat, ...ready, mode, requestId, sessionId };
    return [
      patch({ phase: 'speaking', request: { ...request, ...NO_INPUT } }),
      send({ event: 'ready', ...replyTo(pendingEventId), ...fields }),
      ...warnings.map((warning) => send({ event: 'warning', requestId, ...warning })),
    ];
  };
}

const NO_INPUT = {
  texts: [],
  sequences: [],
  characters: 0,
  lastSequence: 0,
  queue: [],
  isStopped: false,
  stopEventId: undefined,
} as const;

function unreadable(isText: boolean, problem: string): SessionReducer {
  const code = isText ? 'invalid_message' : 'invalid_messagepack';
  const message = `Invalid message: ${problem}`;
  return failTerminally({ code, message }, isText ? CLOSE.textFrame : CLOSE.unreadable);
}

function timedOut(name: SessionTimer): SessionReducer {
  return (state) => {
    if (name === 'auth') {
      if (state.phase !== 'authenticating') return [];
      const message = 'No browser ticket arrived in time';
      return [fail({ code: 'authentication_required', message })];
    }
    if ((state.request?.queue.length ?? 0) > 0) return [restartIdle];
    if (hasRequest(state)) return [abandon(), finish('timeout', CLOSE.done)];
    return [fail({ code: 'connection_closed', message: 'No `start` message arrived in time' })];
  };
}

const drain: SessionReducer = (state) =>
  hasRequest(state) ? [patch({ isDraining: true }), endWhenDone] : [end(CLOSE.restarts)];

const closeNow: SessionReducer = () => [abandon(), finish('server_draining', CLOSE.tooBusy)];
