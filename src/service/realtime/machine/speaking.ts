import { FRAME_LIMITS, SESSION_MAX_UNITS } from '../../../contract/realtime/limits.ts';
import { UNSPOKEN_TEXT } from '../../../contract/unspoken.ts';
import type { Problem } from '../client-message.ts';
import { digestOf } from '../segment-audio.ts';
import {
  CLOSE,
  abandon,
  emit,
  fail,
  finish,
  patch,
  patchRequest,
  replyTo,
  restartIdle,
  send,
  unitsWithout,
} from './state.ts';
import type { CommittedSegment, OpenRequest, SessionReducer, SessionEvent } from './state.ts';

const MAX_STATUS_SEGMENTS = FRAME_LIMITS.arrayItems;

/**
 * Emits the effect that reserves a segment's credits. Sends the error `session_limit_exceeded` if the session would
 * exceed its limit of units or segments.
 */
export function reserve(segment: CommittedSegment, eventId: string | undefined): SessionReducer {
  return ({ request }) => {
    const { units = 0, earlier = [] } = request ?? {};
    const isTooLong = units + segment.characters > SESSION_MAX_UNITS;
    if (isTooLong || earlier.length >= MAX_STATUS_SEGMENTS) {
      const most = isTooLong ? `${SESSION_MAX_UNITS} units` : `${MAX_STATUS_SEGMENTS} segments`;
      const message = `The session would exceed ${most}`;
      return [fail({ code: 'session_limit_exceeded', message }, eventId)];
    }
    return [
      patch({ reserving: segment, pendingEventId: eventId }),
      emit({ type: 'reserve', segment }),
    ];
  };
}

/** Handles the reservation of a segment's credits: accepts the segment and adds it to the queue. */
export function reserved({
  segmentId,
  units: reservedUnits,
}: Extract<SessionEvent, { type: 'reserved' }>): SessionReducer {
  return ({ request, reserving, pendingEventId }) => {
    if (request === undefined || reserving?.segmentId !== segmentId) return [];
    const { characters, sequences, text } = reserving;
    const segment = {
      segmentId,
      sequences,
      textDigest: digestOf(text),
      units: characters,
      audioBytes: undefined,
    };
    const others = request.earlier.filter((one) => one.segmentId !== segmentId);
    const accepted = send({
      event: 'segment_accepted',
      ...replyTo(pendingEventId),
      requestId: request.requestId,
      segmentId,
      segmentCharacters: characters,
      reservedUnits,
    });
    return [
      patch({ reserving: undefined, pendingEventId: undefined }),
      patchRequest({
        texts: [],
        sequences: [],
        characters: 0,
        units: request.units + characters,
        queue: [...request.queue, segmentId],
        earlier: [...others, segment],
      }),
      ...(request.mode === 'reliable' ? [accepted] : []),
      ...(request.queue.length === 0 ? [emit({ type: 'speak', segmentId })] : []),
    ];
  };
}

/** Handles a refused reservation: sends an error, because the account has too few credits. */
export function notReserved(problem: Problem): SessionReducer {
  return ({ reserving, pendingEventId }) =>
    reserving === undefined ? [] : [fail(problem, pendingEventId)];
}

/** Handles audio of the current segment, or the end of the segment. */
export function takeSpeech(
  event: Extract<SessionEvent, { type: 'audio' | 'spoken' | 'unspeakable' }>,
): SessionReducer {
  return ({ protocol, request }) => {
    if (request === undefined || request.queue[0] !== event.segmentId) return [];
    switch (event.type) {
      case 'audio':
        return [sendAudio(request, event.bytes)];
      case 'spoken':
        return [completed(request, event, protocol === 'v3'), restartIdle, speakNext];
      case 'unspeakable':
        return [nothingToSay(request, event), restartIdle, speakNext];
    }
  };
}

function sendAudio(request: OpenRequest, audio: Uint8Array): SessionReducer {
  return ({ sessionId }) => {
    const { requestId, nextAudio, queue, audioFormat } = request;
    const [segmentId = ''] = queue;
    return [
      patchRequest({ nextAudio: nextAudio + 1 }),
      send({
        event: 'audio',
        requestId,
        sessionId,
        segmentId,
        sequence: nextAudio,
        audio,
        ...audioFormat,
      }),
    ];
  };
}

function completed(
  request: OpenRequest,
  { segmentId, outcome, unspoken }: Extract<SessionEvent, { type: 'spoken' }>,
  hasCredits: boolean,
): SessionReducer {
  const { requestId, mode, queue } = request;
  const { units: segmentUnits, audioBytes, quotaRemaining, creditsUsed } = outcome;
  const isReliable = mode === 'reliable';
  return () => [
    endSegment(request, segmentId, { audioBytes }),
    ...unspokenWarning(request, segmentId, unspoken),
    send({
      event: 'usage',
      requestId,
      segmentId,
      segmentUnits,
      // The rest of the queue is not spoken yet.
      sessionUnits: unitsWithout(request, queue.slice(1)),
      quotaRemaining,
      audioBytes,
      ...(hasCredits ? { creditsUsed } : {}),
    }),
    ...(isReliable
      ? [send({ event: 'segment_completed', requestId, segmentId, segmentUnits, audioBytes })]
      : []),
  ];
}

// The segment has no words and is not charged. In `simple` mode, the client may send another input.
function nothingToSay(
  request: OpenRequest,
  { segmentId, unspoken }: Extract<SessionEvent, { type: 'unspeakable' }>,
): SessionReducer {
  const { requestId, mode, units } = request;
  const refunded = request.earlier.find((one) => one.segmentId === segmentId)?.units ?? 0;
  const refund = patchRequest({ units: units - refunded });
  const message = 'The text contains nothing that this voice can speak';
  if (mode === 'simple') {
    const reopen = patchRequest({ isStopped: false, queue: [], earlier: [] });
    return () => [refund, reopen, fail({ code: 'empty_segment', message })];
  }
  const code = 'nothing_to_say';
  return () => [
    refund,
    endSegment(request, segmentId, { audioBytes: 0, units: 0 }),
    send({
      event: 'warning',
      requestId,
      code,
      message: `Segment ${segmentId} contains nothing that this voice can speak`,
    }),
    ...unspokenWarning(request, segmentId, unspoken),
    send({ event: 'segment_completed', requestId, segmentId, segmentUnits: 0, audioBytes: 0 }),
  ];
}

function unspokenWarning(
  { requestId, mode }: OpenRequest,
  segmentId: string,
  unspoken: string | undefined,
): readonly SessionReducer[] {
  if (unspoken === undefined) return [];
  const message =
    'The voice cannot speak some words of the text; `unspoken` has the positions that the audio leaves out';
  const segment = mode === 'reliable' ? { segmentId } : {};
  return [
    send({ event: 'warning', requestId, code: UNSPOKEN_TEXT, message, ...segment, unspoken }),
  ];
}

function endSegment(
  { queue, earlier }: OpenRequest,
  segmentId: string,
  result: { readonly audioBytes: number; readonly units?: number },
): SessionReducer {
  return patchRequest({
    queue: queue.slice(1),
    earlier: earlier.map((one) => (one.segmentId === segmentId ? { ...one, ...result } : one)),
  });
}

const speakNext: SessionReducer = ({ request }) => {
  const [segmentId] = request?.queue ?? [];
  return [segmentId === undefined ? endWhenDone : emit({ type: 'speak', segmentId })];
};

/** Ends the request if all segments are spoken and no more input is expected. */
export const endWhenDone: SessionReducer = ({ request, reserving, isDraining }) => {
  if (request === undefined || request.queue.length > 0) return [];
  if (request.isStopped && reserving === undefined) {
    return [patch({ phase: 'settling' }), emit({ type: 'complete' })];
  }
  return isDraining ? [abandon(), finish('server_draining', CLOSE.restarts)] : [];
};
