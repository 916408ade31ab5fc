import type { Flush, Stop, Text } from '../../../contract/realtime/client-messages.ts';
import { SEGMENT_MAX_CHARACTERS } from '../../../contract/realtime/limits.ts';
import { countCodePoints } from '../../../text/code-points.ts';
import { digestOf } from '../text-digest.ts';
import { endWhenDone, reserve } from './speaking.ts';
import type { EarlierSegment, OpenRequest } from './state.ts';
import type { Move } from './step.ts';
import { changeRequest, fail, reject, replyTo, run, send } from './step.ts';

/** A numbered piece of text; it waits for its `flush`. */
export function takeText({ text, sequence, eventId }: Text): Move {
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
export function flush({ segmentId, eventId }: Flush): Move {
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
export function stop({ eventId }: Stop): Move {
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
