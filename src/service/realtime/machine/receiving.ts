import type { FrameMessage } from '../../../frames/codec.ts';
import type { ClientMessage } from '../client-message.ts';
import { modesOf, readClientMessage } from '../client-message.ts';
import { authenticate } from './authenticating.ts';
import { takeInput } from './simple.ts';
import { start } from './starting.ts';
import type { Move } from './step.ts';
import { fail, replyTo, run, send } from './step.ts';
import { flush, stop, takeText } from './reliable.ts';

/**
 * Takes a frame of the client. What is checked first counts: who it is, whether the event belongs here,
 * then its fields.
 */
export function receive(frame: FrameMessage, isRepeated: boolean): Move {
  return (state) => {
    const { phase, protocol, request } = state;
    const { event, eventId } = frame;
    if (phase === 'authenticating' && event !== 'auth') {
      const message = 'The first event has to be auth, with a browser ticket';
      return run(state, fail({ code: 'authentication_required', message }, eventId));
    }
    if (request !== undefined && modesOf(event)?.includes(request.mode) === false) {
      const message = `${event} is no event of ${request.mode} mode`;
      return run(state, fail({ code: 'invalid_state', message }, eventId));
    }
    if (request?.mode === 'reliable' && isRepeated) {
      const message = 'This event id was used before';
      return run(
        state,
        fail({ code: 'invalid_message', message, path: EVENT_ID[protocol] }, eventId),
      );
    }
    const read = readClientMessage(frame, protocol, request?.mode);
    if (read.kind === 'problem') return run(state, fail(read.problem, eventId));
    return run(state, handle(read.message));
  };
}

const EVENT_ID = { v2: 'event_id', v3: 'eventId' } as const;

function handle(message: ClientMessage): Move {
  switch (message.event) {
    case 'auth':
      return authenticate(message);
    case 'start':
      return start(message);
    case 'input':
      return takeInput(message);
    case 'text':
      return takeText(message);
    case 'flush':
      return flush(message);
    case 'stop':
      return stop(message);
    case 'ping':
      return pong(message.eventId);
  }
}

function pong(eventId: string | undefined): Move {
  return (state) => {
    const { request, sessionId } = state;
    const requestId = request === undefined ? {} : { requestId: request.requestId };
    return run(state, send({ event: 'pong', ...replyTo(eventId), sessionId, ...requestId }));
  };
}
