import { REALTIME_ERRORS } from '../../../contract/realtime/error-codes.ts';
import type { FinishReason } from '../../../contract/realtime/protocols.ts';
import * as machine from '../../../moves/moves.ts';
import { closeCodeOf } from './close-code-of.ts';
import type { Outgoing, Problem, SessionEffect } from './events.ts';
import type { OpenRequest, SessionState } from './state.ts';

/** What comes of an event. */
export type Step = machine.Step<SessionState, SessionEffect>;

/** A part of a transition. */
export type Move = machine.Move<SessionState, SessionEffect>;

export const { change, emit, inTurn, run } = machine.movesOf<SessionState, SessionEffect>();

export function changeRequest(part: Partial<OpenRequest>): Move {
  return (state) => ({
    state:
      state.request === undefined ? state : { ...state, request: { ...state.request, ...part } },
    effects: [],
  });
}

export function send(message: Outgoing): Move {
  return emit({ type: 'send', message });
}

/** How long nothing may come of a client that has nothing to wait for. */
export const IDLE_MS = 120_000;

/** The client has shown that it is there, or the service was at work until now. */
export const beginIdle: Move = emit({ type: 'startTimer', name: 'idle', afterMs: IDLE_MS });

/**
 * Tells of a problem (spec section 7.4). A terminal one ends the request, and the connection behind the
 * event; `abandon` gives back what was set aside for it.
 */
export function fail(problem: Problem, eventId?: unknown): Move {
  const { terminal } = REALTIME_ERRORS[problem.code];
  return inTurn(tell(problem, eventId, terminal), ...(terminal ? [leaveFor(problem)] : []));
}

/** Reports a problem of one event, whatever its code: what was accepted before is spoken. */
export function reject(problem: Problem, eventId?: unknown): Move {
  return tell(problem, eventId, false);
}

/** The same for a client that can go on neither here nor on another connection. */
export function failTerminally(problem: Problem, eventId?: unknown, closeCode?: number): Move {
  return inTurn(tell(problem, eventId, true), leaveFor(problem, closeCode));
}

function tell({ code, message, path, stage }: Problem, eventId: unknown, terminal: boolean): Move {
  return (state) => {
    const { request, sessionId } = state;
    const error = send({
      event: 'error',
      ...replyTo(eventId),
      ...(request === undefined ? {} : { requestId: request.requestId }),
      sessionId,
      code,
      message,
      retryable: REALTIME_ERRORS[code].retryable,
      terminal,
      ...(stage === undefined ? {} : { stage }),
      ...(path === undefined ? {} : { path }),
    });
    return run(state, error);
  };
}

/** A request that became too long can never be spoken whole; any other can be tried again. */
function leaveFor({ code }: Problem, closeCode = closeCodeOf(code)): Move {
  return inTurn(abandon(code === 'session_limit_exceeded'), end(closeCode));
}

/** Gives the request of the connection up, if it has one. */
export function abandon(isForGood = false): Move {
  return (state) =>
    run(state, ...(hasRequest(state) ? [emit({ type: 'abandon', isForGood })] : []));
}

/** Whether a request is the connection's to end. */
export function hasRequest({ phase }: SessionState): boolean {
  return phase === 'speaking' || phase === 'settling';
}

/** The last message of a session that says itself why it is over (spec section 3.3). */
export function finish(reason: FinishReason, code: number): Move {
  return (state) => {
    const { request, sessionId } = state;
    if (request === undefined) return run(state, end(code));
    const { requestId, stopEventId } = request;
    const units = unitsWithout(request, request.queue);
    const reply = reason === 'completed' ? replyTo(stopEventId) : {};
    return run(
      state,
      send({ event: 'finish', ...reply, requestId, sessionId, reason, units }),
      end(code),
    );
  };
}

/** Units of a request but for some of its segments. */
export function unitsWithout({ earlier, units }: OpenRequest, left: readonly string[]): number {
  const others = earlier.filter(({ segmentId }) => left.includes(segmentId));
  return units - others.reduce((sum, one) => sum + one.units, 0);
}

/** The end: the connection is closed, and no timer left. */
export function end(code: number): Move {
  return (state) => ({
    state: { ...state, phase: 'ended', request: undefined, reserving: undefined },
    effects: [
      { type: 'stopTimer', name: 'auth' },
      { type: 'stopTimer', name: 'idle' },
      { type: 'close', code },
    ],
  });
}

export function replyTo(eventId: unknown): { readonly inReplyTo?: string } {
  return typeof eventId === 'string' ? { inReplyTo: eventId } : {};
}
