import type { Auth } from '../../../contract/realtime/client-messages.ts';
import type { Move } from './step.ts';
import { beginIdle, change, emit, fail, replyTo, run, send } from './step.ts';

/** How long the service waits for a browser ticket. */
export const AUTH_MS = 10_000;
/** The one site that this service is. */
const SITE = 'embedded';

/** The connection is there, with a key or without one (spec section 5). */
export function opened(quota: number | undefined): Move {
  return (state) => {
    if (quota !== undefined) return run(state, greet(quota), beginIdle);
    return run(state, emit({ type: 'startTimer', name: 'auth', afterMs: AUTH_MS }));
  };
}

/** The first frame of a browser. A ticket is good once, and only before anything else. */
export function authenticate({ token, eventId }: Auth): Move {
  return (state) => {
    if (state.phase === 'authenticating') {
      return run(state, change({ pendingEventId: eventId }), emit({ type: 'redeem', token }));
    }
    const message = 'This connection is authenticated';
    return run(state, fail({ code: 'already_authenticated', message }, eventId));
  };
}

export const ticketRefused: Move = (state) => {
  if (state.phase !== 'authenticating') return run(state);
  const message = 'The ticket is unknown, was used, has expired, or is for another origin or host';
  return run(state, fail({ code: 'authentication_failed', message }, state.pendingEventId));
};

export function redeemed(quota: number): Move {
  return (state) =>
    state.phase === 'authenticating'
      ? run(state, emit({ type: 'stopTimer', name: 'auth' }), greet(quota), beginIdle)
      : run(state);
}

function greet(quota: number): Move {
  return (state) => {
    const { sessionId, protocol, pendingEventId } = state;
    return run(
      state,
      change({ phase: 'waiting', pendingEventId: undefined }),
      send({
        event: 'authenticated',
        ...replyTo(pendingEventId),
        sessionId,
        site: SITE,
        protocolVersion: protocol,
        quota,
      }),
    );
  };
}
