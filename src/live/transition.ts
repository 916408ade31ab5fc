import { closeCodeFacts } from '../contract/realtime/errors.ts';
import { afterTheLine, closeEnding, silent, violation } from './endings.ts';
import type { Ending, LiveEvent, TimerName, LiveState, Move, Step } from './state.ts';
import { change, end, inTurn, isConnected, run, send, startTimer, stopTimers } from './state.ts';
import { takeNextAudio, takeStored } from './settle.ts';
import { opened, receive } from './receiving.ts';
import { ask, broken, connect, proceed, takeStatus } from './resuming.ts';
import { sendMore, takeText } from './sending.ts';

/**
 * The client of a realtime conversation (docs/api/realtime.md) as a pure function: what
 * happened in, the next state and what is to be done out. After `ended` nothing changes any more. Sockets,
 * timers, chance and HTTP are the driver's; docs/protocol.md has the states.
 */
export function transition(state: LiveState, event: LiveEvent): Step {
  return takeNextAudio(state, event) ?? run({ ...state, fraction: event.fraction }, moveFor(event));
}

function moveFor(event: LiveEvent): Move {
  switch (event.type) {
    case 'begin':
      return begin;
    case 'opened':
    case 'refused':
    case 'message':
    case 'unreadable':
    case 'closed':
      return onConnection(event);
    case 'text':
      return inTurn(takeText(event.text), goOnWithText);
    case 'end':
      return inTurn(change({ isInputOver: true }), expectText, goOnWithText);
    case 'timer':
      return ranOut(event.name);
    case 'held':
      return inTurn(change({ isHeld: true }), stopTimers('silence', 'progress'));
    case 'released':
      return released;
    case 'status':
      return whenAsking(takeStatus(event.facts));
    case 'stored':
      return inTurn(takeStored(event.segmentId, event.audio), afterFetch);
    case 'failed':
      return questionFailed(event.ending);
    case 'cancel':
      return end({ exit: 'interrupted', code: 'cancelled', message: 'stopped', billed: 'unknown' });
  }
}

type ConnectionEvent = Extract<LiveEvent, { connection: number }>;

/** What an older connection still says is not looked at. */
function onConnection(event: ConnectionEvent): Move {
  return (state) => {
    if (event.connection !== state.connection || !isConnected(state)) return run(state);
    switch (event.type) {
      case 'opened':
        return run(state, ...(state.phase === 'connecting' ? [opened] : []));
      case 'refused':
        return run(state, broken(event.ending, event.isRetryable, event.retryAfterMs));
      case 'message':
        return run(state, receive(event.message));
      case 'unreadable':
        return run(state, end(violation(state, event.problem)));
      case 'closed': {
        const ending = closeEnding(state, event.code);
        return run(state, broken(ending, closeCodeFacts(event.code)?.retryable === true));
      }
    }
  };
}

const begin: Move = (state) => run(state, ...(state.phase === 'idle' ? [connect] : []));

const expectText: Move = (state) => {
  if (state.segmentCount > 0) return run(state);
  const message = 'there is no text to speak';
  return run(state, end({ exit: 'usage', code: 'usage', message, billed: 'no' }));
};

const goOnWithText: Move = (state) => run(state, state.phase === 'expecting' ? proceed : sendMore);

const released: Move = (state) =>
  run(
    state,
    change({ isHeld: false }),
    ...(isConnected(state) && state.phase !== 'connecting'
      ? [startTimer('silence', state.plan.waits.silenceMs), sendMore]
      : []),
  );

/** A question that was given up in the meantime may fail as it likes. */
function questionFailed(ending: Ending): Move {
  return (state) =>
    state.phase === 'asking' || state.isFetching
      ? run(state, end(afterTheLine(state, ending)))
      : run(state);
}

function whenAsking(move: Move): Move {
  return (state) => run(state, ...(state.phase === 'asking' ? [move] : []));
}

const afterFetch: Move = (state) => run(state, state.phase === 'fetching' ? proceed : sendMore);

/** A timer that was stopped in the meantime says nothing. */
function ranOut(name: TimerName): Move {
  return (state) => {
    if (!state.timers.includes(name)) return run(state);
    return run(
      state,
      change({ timers: state.timers.filter((one) => one !== name) }),
      TIMEOUTS[name],
    );
  };
}

const TIMEOUTS: Readonly<Record<TimerName, Move>> = {
  reply: (state) => run(state, broken(silent(state, `no answer while ${state.phase}`), true)),
  silence: (state) => run(state, broken(silent(state, 'the line is dead'), true)),
  progress: (state) => run(state, broken(silent(state, 'the service makes no progress'), true)),
  ping: (state) => run(state, send({ event: 'ping' }), startTimer('ping', state.plan.waits.pingMs)),
  backoff: ask,
  poll: ask,
};
