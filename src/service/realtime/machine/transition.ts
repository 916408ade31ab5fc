import { opened, redeemed, ticketRefused, receive } from './receiving.ts';
import {
  CLOSE,
  abandon,
  beginIdle,
  change,
  end,
  fail,
  failTerminally,
  finish,
  hasRequest,
  inTurn,
  run,
} from './state.ts';
import type { SessionEvent, SessionTimer, SessionState, Move, Step } from './state.ts';
import { endWhenDone, notReserved, reserved, spoke } from './speaking.ts';
import { begun, known, notBegun } from './starting.ts';

/**
 * The service's side of a realtime connection (docs/api/realtime.md, docs/api/authentication.md and docs/api/realtime.md#errors) as a pure function: what
 * happened in, the next state and what is to be done out. After `ended` nothing changes any more. Sockets,
 * timers, money and speech are the driver's.
 */
export function transition(state: SessionState, event: SessionEvent): Step {
  return run(state, moveFor(event));
}

function moveFor(event: SessionEvent): Move {
  switch (event.type) {
    case 'opened':
      return opened(event.quota);
    case 'frame':
      return inTurn(whenOpen(beginIdle), receive(event.message, event.isRepeated));
    case 'unreadable':
      return unreadable(event.isText, event.problem);
    case 'timer':
      return timedOut(event.name);
    case 'stalled':
      return fail({ code: 'client_backpressure', message: 'What is sent is not read' });
    case 'drain':
      return event.isHurried ? cut : drain;
    case 'failed':
      return fail(event.problem);
    case 'closed':
      return inTurn(abandon(), end(CLOSE.done));
    case 'audio':
    case 'spoken':
    case 'unspeakable':
      return spoke(event);
    case 'redeemed':
    case 'ticketRefused':
    case 'begun':
    case 'known':
    case 'notBegun':
    case 'reserved':
    case 'notReserved':
    case 'settled':
      return answered(event);
  }
}

type Answer = Extract<
  SessionEvent,
  {
    type:
      | 'redeemed'
      | 'ticketRefused'
      | 'begun'
      | 'known'
      | 'notBegun'
      | 'reserved'
      | 'notReserved'
      | 'settled';
  }
>;

/** What the driver found out for the machine. */
function answered(event: Answer): Move {
  switch (event.type) {
    case 'redeemed':
      return redeemed(event.quota);
    case 'ticketRefused':
      return ticketRefused;
    case 'begun':
      return begun(event.request);
    case 'known':
      return known(event.status);
    case 'notBegun':
      return notBegun(event.problem);
    case 'reserved':
      return reserved(event);
    case 'notReserved':
      return notReserved(event.problem);
    case 'settled':
      return settled;
  }
}

const settled: Move = (state) =>
  state.phase === 'settling' ? run(state, finish('completed', CLOSE.done)) : run(state);

function whenOpen(move: Move): Move {
  return (state) => (state.phase === 'authenticating' ? run(state) : run(state, move));
}

function unreadable(isText: boolean, problem: string): Move {
  const code = isText ? 'invalid_message' : 'invalid_messagepack';
  const closeCode = isText ? CLOSE.textFrame : CLOSE.unreadable;
  return failTerminally(
    { code, message: `The frame cannot be read: ${problem}` },
    undefined,
    closeCode,
  );
}

function timedOut(name: SessionTimer): Move {
  return (state) => {
    if (name === 'auth') {
      if (state.phase !== 'authenticating') return run(state);
      const message = 'No browser ticket came in time';
      return run(state, fail({ code: 'authentication_required', message }));
    }
    if ((state.request?.queue.length ?? 0) > 0) return run(state, beginIdle);
    if (hasRequest(state)) return run(state, abandon(), finish('timeout', CLOSE.done));
    return run(state, fail({ code: 'connection_closed', message: 'Nothing was asked for' }));
  };
}

/** What was accepted is spoken; without that there is nothing to wait for. */
const drain: Move = (state) => {
  if (!hasRequest(state)) return run(state, end(CLOSE.restarts));
  return run(state, change({ isDraining: true }), endWhenDone);
};

const cut: Move = (state) => run(state, abandon(), finish('server_draining', CLOSE.tooBusy));
