import type { Auth, Input, Flush, Stop, Text } from '../../../contract/realtime/client-messages.ts';
import {
  SIMPLE_INPUT_MAX_CHARACTERS,
  SEGMENT_MAX_CHARACTERS,
} from '../../../contract/realtime/limits.ts';
import type { FrameMessage } from '../../../realtime/frames.ts';
import { countCodePoints } from '../../../text/code-points.ts';
import type { ClientMessage } from '../client-message.ts';
import { modesOf, readClientMessage } from '../client-message.ts';
import { digestOf } from '../segment-audio.ts';
import { reserve, endWhenDone } from './speaking.ts';
import { start } from './starting.ts';
import type { Move, EarlierSegment, OpenRequest } from './state.ts';
import {
  fail,
  replyTo,
  run,
  send,
  beginIdle,
  change,
  emit,
  changeRequest,
  reject,
} from './state.ts';

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

/** How long the service waits for a browser ticket. */
const AUTH_MS = 10_000;
/** The one site that this service is. */
const SITE = 'embedded';

/** The connection is there, with a key or without one (docs/api/authentication.md). */
export function opened(quota: number | undefined): Move {
  return (state) => {
    if (quota !== undefined) return run(state, greet(quota), beginIdle);
    return run(state, emit({ type: 'startTimer', name: 'auth', afterMs: AUTH_MS }));
  };
}

/** The first frame of a browser. A ticket is good once, and only before anything else. */
function authenticate({ token, eventId }: Auth): Move {
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

/** What the one segment of a simple request is called in the books. */
const SIMPLE_SEGMENT_ID = 'input';

/** Inputs are gathered until one commits, and then spoken as one (docs/api/realtime.md). */
function takeInput({ text, commit = true, eventId }: Input): Move {
  return (state) => {
    const { request } = state;
    if (request === undefined || request.isStopped || state.phase !== 'speaking') {
      const message = request === undefined ? 'There is no request yet' : 'The input is committed';
      return run(state, fail({ code: 'invalid_state', message }, eventId));
    }
    if (state.isDraining) return run(state);
    const characters = request.characters + countCodePoints(text);
    const most = Math.min(SIMPLE_INPUT_MAX_CHARACTERS, request.segmentMaxCharacters);
    if (characters > most) {
      const message = `The input would have ${characters} characters; allowed are ${most}`;
      return run(state, fail({ code: 'segment_too_large', message, path: 'text' }, eventId));
    }
    const gathered = changeRequest({ texts: [...request.texts, text], characters });
    return run(state, gathered, ...(commit ? [commitInput(eventId)] : []));
  };
}

function commitInput(eventId: string | undefined): Move {
  return (state) => {
    const { texts = [], characters = 0 } = state.request ?? {};
    const text = texts.join('');
    const segment = { segmentId: SIMPLE_SEGMENT_ID, sequences: [], text, characters };
    return run(state, changeRequest({ isStopped: true }), reserve(segment, eventId));
  };
}

/** A numbered piece of text; it waits for its `flush`. */
function takeText({ text, sequence, eventId }: Text): Move {
  return inRequest(eventId, (request) => {
    const expected = nextSequence(request, sequence);
    if (sequence !== expected) {
      const message = `sequence is ${sequence}; expected is ${expected}`;
      return fail({ code: 'invalid_state', message, path: 'sequence' }, eventId);
    }
    const accepted = countCodePoints(text);
    const characters = request.characters + accepted;
    const most = capacityOf(request);
    if (characters > most) {
      const message = `The segment would have ${characters} characters; allowed are ${most}`;
      return fail({ code: 'segment_too_large', message, path: 'text' }, eventId);
    }
    return (state) =>
      run(
        state,
        changeRequest({
          texts: [...request.texts, text],
          sequences: [...request.sequences, sequence],
          characters,
          lastSequence: sequence,
        }),
        send({
          event: 'input_ack',
          ...replyTo(eventId),
          requestId: request.requestId,
          acceptedSequence: sequence,
          acceptedCharacters: accepted,
          bufferedCharacters: characters,
          remainingCapacity: most - characters,
        }),
      );
  });
}

/** Commits the text that waits as a segment: a new one, or exactly one of an earlier connection. */
function flush({ segmentId, eventId }: Flush): Move {
  return inRequest(eventId, (request) => {
    const { texts, sequences, characters, earlier, queue } = request;
    if (texts.length === 0) {
      return fail({ code: 'empty_segment', message: 'There is no text to speak' }, eventId);
    }
    const text = texts.join('');
    const isSame = (one: EarlierSegment): boolean =>
      one.segmentId === segmentId &&
      one.sequences.join() === sequences.join() &&
      one.textDigest === digestOf(text);
    const found = earlier.find((one) => touches(one, segmentId, sequences));
    if (queue.includes(segmentId) || (found !== undefined && !isSame(found))) {
      const message = 'A segment of this id, or with this text, was another one';
      return reject({ code: 'idempotency_conflict', message }, eventId);
    }
    if (found?.audioBytes !== undefined) return repeat(found, found.audioBytes, eventId);
    return reserve({ segmentId, sequences, text, characters }, eventId);
  });
}

/** No more text comes; `finish` follows the last segment. */
function stop({ eventId }: Stop): Move {
  return inRequest(eventId, (request) => {
    const left = request.earlier.filter(
      ({ audioBytes, segmentId }) => audioBytes === undefined && !request.queue.includes(segmentId),
    );
    if (request.texts.length > 0 || left.length > 0) {
      const names = left.map(({ segmentId }) => segmentId).join(', ');
      const message =
        left.length > 0
          ? `Segments that failed have to be sent again first: ${names}`
          : 'There is text that waits for its flush';
      return fail({ code: 'invalid_state', message }, eventId);
    }
    return (state) =>
      run(state, changeRequest({ isStopped: true, stopEventId: eventId }), endWhenDone);
  });
}

/** Text of a request that is stopped comes too late; while the service closes it is left for the next. */
function inRequest(eventId: string, moveFor: (request: OpenRequest) => Move): Move {
  return (state) => {
    const { request } = state;
    if (request === undefined || request.isStopped || state.phase !== 'speaking') {
      const message = request === undefined ? 'There is no request yet' : 'The request is stopped';
      return run(state, fail({ code: 'invalid_state', message }, eventId));
    }
    return run(state, ...(state.isDraining ? [] : [moveFor(request)]));
  };
}

/** Numbers of segments that an earlier connection completed may be left out. */
function nextSequence({ lastSequence, earlier }: OpenRequest, given: number): number {
  const done = new Set(
    earlier.flatMap(({ audioBytes, sequences }) => (audioBytes === undefined ? [] : sequences)),
  );
  let next = lastSequence + 1;
  while (next < given && done.has(next)) next += 1;
  return next;
}

function touches(one: EarlierSegment, segmentId: string, sequences: readonly number[]): boolean {
  return one.segmentId === segmentId || one.sequences.some((number) => sequences.includes(number));
}

function capacityOf({ segmentMaxCharacters }: OpenRequest): number {
  return Math.min(SEGMENT_MAX_CHARACTERS, segmentMaxCharacters);
}

/** It was spoken, sent and paid for before. */
function repeat({ segmentId, units }: EarlierSegment, audioBytes: number, eventId: string): Move {
  return (state) => {
    const { requestId = '', characters = 0 } = state.request ?? {};
    const whose = { requestId, segmentId };
    return run(
      state,
      changeRequest({ texts: [], sequences: [], characters: 0 }),
      send({
        event: 'segment_accepted',
        ...replyTo(eventId),
        ...whose,
        segmentCharacters: characters,
        reservedUnits: 0,
      }),
      send({ event: 'segment_completed', ...whose, segmentUnits: units, audioBytes }),
    );
  };
}
