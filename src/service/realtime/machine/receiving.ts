import type { Auth, Input, Flush, Stop, Text } from '../../../contract/realtime/client-messages.ts';
import {
  SIMPLE_INPUT_MAX_CHARACTERS,
  SEGMENT_MAX_CHARACTERS,
} from '../../../contract/realtime/limits.ts';
import type { FrameMessage } from '../../../realtime/frames.ts';
import { countCodePoints } from '../../../text/code-points.ts';
import type { ParsedMessage, StartMessage } from '../client-message.ts';
import { modesOf, readClientMessage } from '../client-message.ts';
import { digestOf } from '../segment-audio.ts';
import { reserve, endWhenDone } from './speaking.ts';
import type { EarlierSegment, OpenRequest, SessionReducer } from './state.ts';
import { emit, fail, patch, patchRequest, reject, replyTo, restartIdle, send } from './state.ts';

/** Handles a client message. Checks the authentication, then the event name, then the fields. */
export function receive(frame: FrameMessage, isRepeated: boolean): SessionReducer {
  return ({ phase, protocol, request }) => {
    const { event, eventId } = frame;
    if (phase === 'authenticating' && event !== 'auth') {
      const message = 'The first event must be auth, with a browser ticket';
      return [fail({ code: 'authentication_required', message }, eventId)];
    }
    if (request !== undefined && modesOf(event)?.includes(request.mode) === false) {
      const message = `${event} is not an event of ${request.mode} mode`;
      return [fail({ code: 'invalid_state', message }, eventId)];
    }
    if (request?.mode === 'reliable' && isRepeated) {
      const message = 'This event id was used before';
      const path = protocol === 'v2' ? 'event_id' : 'eventId';
      return [fail({ code: 'invalid_message', message, path }, eventId)];
    }
    const read = readClientMessage(frame, protocol, request?.mode);
    return [read.kind === 'problem' ? fail(read.problem, eventId) : handle(read.message)];
  };
}

function handle(message: ParsedMessage): SessionReducer {
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
      return ({ request, sessionId }) => [
        send({
          event: 'pong',
          ...replyTo(message.eventId),
          sessionId,
          ...(request === undefined ? {} : { requestId: request.requestId }),
        }),
      ];
  }
}

const AUTH_TIMEOUT_MS = 10_000;
// The server location that clients see.
const SITE = 'embedded';

/** Handles a new connection. @param quota remaining quota; `undefined` if the client sent no API key */
export function opened(quota: number | undefined): SessionReducer {
  return () =>
    quota === undefined
      ? [emit({ type: 'startTimer', name: 'auth', afterMs: AUTH_TIMEOUT_MS })]
      : [greet(quota), restartIdle];
}

function authenticate({ token, eventId }: Auth): SessionReducer {
  return ({ phase }) => {
    if (phase === 'authenticating') {
      return [patch({ pendingEventId: eventId }), emit({ type: 'redeem', token })];
    }
    const message = 'This connection is authenticated already';
    return [fail({ code: 'already_authenticated', message }, eventId)];
  };
}

export const ticketRefused: SessionReducer = ({ pendingEventId, phase }) => {
  if (phase !== 'authenticating') return [];
  const message = 'The ticket is unknown, used, expired, or for another origin or host';
  return [fail({ code: 'authentication_failed', message }, pendingEventId)];
};

export function redeemed(quota: number): SessionReducer {
  return ({ phase }) =>
    phase === 'authenticating'
      ? [emit({ type: 'stopTimer', name: 'auth' }), greet(quota), restartIdle]
      : [];
}

function greet(quota: number): SessionReducer {
  return ({ sessionId, protocol, pendingEventId }) => [
    patch({ phase: 'waiting', pendingEventId: undefined }),
    send({
      event: 'authenticated',
      ...replyTo(pendingEventId),
      sessionId,
      site: SITE,
      protocolVersion: protocol,
      quota,
    }),
  ];
}

// After a failed `start`, the client may send another.
function start(message: StartMessage): SessionReducer {
  return ({ phase }) => {
    const { eventId } = message;
    if (phase !== 'waiting') {
      const problem = 'This connection already has a request; open another connection';
      return [fail({ code: 'invalid_state', message: problem }, eventId)];
    }
    return [
      patch({ phase: 'starting', pendingEventId: eventId }),
      emit({ type: 'start', start: message }),
    ];
  };
}

// A request in `simple` mode has only this segment.
const SIMPLE_SEGMENT_ID = 'input';

function takeInput({ text, commit = true, eventId }: Input): SessionReducer {
  return withInput(eventId, 'The input is committed already', (request) => {
    const characters = request.characters + countCodePoints(text);
    const most = Math.min(SIMPLE_INPUT_MAX_CHARACTERS, request.segmentMaxCharacters);
    if (characters > most) return tooLarge('input', characters, most, eventId);
    const texts = [...request.texts, text];
    const segment = {
      segmentId: SIMPLE_SEGMENT_ID,
      sequences: [],
      text: texts.join(''),
      characters,
    };
    return () => [
      patchRequest({ texts, characters, isStopped: commit }),
      ...(commit ? [reserve(segment, eventId)] : []),
    ];
  });
}

function takeText({ text, sequence, eventId }: Text): SessionReducer {
  return withInput(eventId, 'The request is stopped', (request) => {
    const expected = nextSequence(request, sequence);
    if (sequence !== expected) {
      const message = `sequence is ${sequence}; expected: ${expected}`;
      return fail({ code: 'invalid_state', message, path: 'sequence' }, eventId);
    }
    const accepted = countCodePoints(text);
    const characters = request.characters + accepted;
    const most = Math.min(SEGMENT_MAX_CHARACTERS, request.segmentMaxCharacters);
    if (characters > most) return tooLarge('segment', characters, most, eventId);
    return () => [
      patchRequest({
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
    ];
  });
}

function tooLarge(
  what: 'input' | 'segment',
  characters: number,
  most: number,
  eventId: string | undefined,
): SessionReducer {
  const message = `The ${what} would have ${characters} characters; at most ${most} are allowed`;
  return fail({ code: 'segment_too_large', message, path: 'text' }, eventId);
}

function flush({ segmentId, eventId }: Flush): SessionReducer {
  return withInput(eventId, 'The request is stopped', (request) => {
    const { texts, sequences, characters, earlier, queue } = request;
    if (texts.length === 0) {
      return fail({ code: 'empty_segment', message: 'The segment has no text' }, eventId);
    }
    const text = texts.join('');
    const found = earlier.find(
      (one) =>
        one.segmentId === segmentId || one.sequences.some((number) => sequences.includes(number)),
    );
    const isSame =
      found === undefined ||
      (found.segmentId === segmentId &&
        found.sequences.join() === sequences.join() &&
        found.textDigest === digestOf(text));
    if (queue.includes(segmentId) || !isSame) {
      const message = 'Another segment has this id or this text';
      return reject({ code: 'idempotency_conflict', message }, eventId);
    }
    if (found?.audioBytes !== undefined) return acknowledge(found, found.audioBytes, eventId);
    return reserve({ segmentId, sequences, text, characters }, eventId);
  });
}

// The service sends `finish` after the last segment.
function stop({ eventId }: Stop): SessionReducer {
  return withInput(eventId, 'The request is stopped', ({ earlier, queue, texts }) => {
    const failed = earlier
      .filter(({ audioBytes, segmentId }) => audioBytes === undefined && !queue.includes(segmentId))
      .map(({ segmentId }) => segmentId);
    if (failed.length > 0 || texts.length > 0) {
      const message =
        failed.length > 0
          ? `Failed segments must be sent again before stop: ${failed.join(', ')}`
          : 'Some text was not flushed; send flush before stop';
      return fail({ code: 'invalid_state', message }, eventId);
    }
    return () => [patchRequest({ isStopped: true, stopEventId: eventId }), endWhenDone];
  });
}

// While the service closes, messages are ignored.
function withInput(
  eventId: string | undefined,
  stopped: string,
  reducer: (request: OpenRequest) => SessionReducer,
): SessionReducer {
  return ({ isDraining, phase, request }) => {
    if (request === undefined || request.isStopped || phase !== 'speaking') {
      const message = request === undefined ? 'Send start first' : stopped;
      return [fail({ code: 'invalid_state', message }, eventId)];
    }
    return isDraining ? [] : [reducer(request)];
  };
}

// A client that resumes a request may skip the numbers of completed segments.
function nextSequence({ lastSequence, earlier }: OpenRequest, given: number): number {
  const done = new Set(
    earlier.flatMap(({ audioBytes, sequences }) => (audioBytes === undefined ? [] : sequences)),
  );
  let next = lastSequence + 1;
  while (next < given && done.has(next)) next += 1;
  return next;
}

function acknowledge(
  { segmentId, units }: EarlierSegment,
  audioBytes: number,
  eventId: string,
): SessionReducer {
  return ({ request }) => {
    const { requestId = '', characters = 0 } = request ?? {};
    const ids = { requestId, segmentId };
    return [
      patchRequest({ texts: [], sequences: [], characters: 0 }),
      send({
        event: 'segment_accepted',
        ...replyTo(eventId),
        ...ids,
        segmentCharacters: characters,
        reservedUnits: 0,
      }),
      send({ event: 'segment_completed', ...ids, segmentUnits: units, audioBytes }),
    ];
  };
}
