import type { ClientMessage } from '../contract/realtime/client-messages.ts';
import * as machine from '../moves/moves.ts';
import type { Effect, Ending, TimerName } from './events.ts';
import type { LiveState, Phase, Segment } from './state.ts';

/** What comes of an event. */
export type Step = machine.Step<LiveState, Effect>;

/** A part of a transition. */
export type Move = machine.Move<LiveState, Effect>;

export const { change, emit, inTurn, run } = machine.movesOf<LiveState, Effect>();

/** Sends a message with an `eventId` that no other of the conversation has. */
export function send(message: ClientMessage): Move {
  return (state) => {
    const eventId = `e${state.eventCount + 1}`;
    return run(
      state,
      change({ eventCount: state.eventCount + 1 }),
      emit({ type: 'send', message: { ...message, eventId } }),
    );
  };
}

export function startTimer(name: TimerName, afterMs: number): Move {
  return (state) => ({
    state: state.timers.includes(name) ? state : { ...state, timers: [...state.timers, name] },
    effects: [{ type: 'startTimer', name, afterMs }],
  });
}

export function stopTimers(...names: readonly TimerName[]): Move {
  return (state) => {
    const running = state.timers.filter((name) => names.includes(name));
    return {
      state: { ...state, timers: state.timers.filter((name) => !names.includes(name)) },
      effects: running.map((name) => ({ type: 'stopTimer', name })),
    };
  };
}

const stopAllTimers: Move = (state) => run(state, stopTimers(...state.timers));

const CONNECTED: ReadonlySet<Phase> = new Set([
  'connecting',
  'authenticating',
  'starting',
  'speaking',
  'stopping',
]);

/** Whether there is a socket, or one that is being opened. */
export function isConnected({ phase }: LiveState): boolean {
  return CONNECTED.has(phase);
}

/** Leaves the connection, politely when it still works; timers and what waited for its turn go with it. */
export function leave(phase: Phase, code?: number): Move {
  return (state) =>
    run(
      state,
      stopAllTimers,
      emit(
        ...(isConnected(state)
          ? [code === undefined ? ({ type: 'abort' } as const) : ({ type: 'close', code } as const)]
          : []),
      ),
      change({ held: [], isHeld: false, phase }),
    );
}

/** The end: every timer is stopped and the socket closed. */
export function end(ending: Ending): Move {
  return (state) => {
    const left = run(state, leave('ended', ending.exit === 'badAnswer' ? 1002 : 1000));
    return {
      state: { ...left.state, ending, segments: [], manifest: [] },
      effects: [...left.effects, { type: 'ended', ending }],
    };
  };
}

export function changeSegment(id: string, part: Partial<Segment>): Move {
  return (state) =>
    run(
      state,
      change({
        segments: state.segments.map((one) => (one.id === id ? { ...one, ...part } : one)),
      }),
    );
}
