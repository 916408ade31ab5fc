import { FRAME_LIMITS, SESSION_MAX_UNITS } from '../../../contract/realtime/limits.ts';
import type { RealtimeProtocol } from '../../../contract/realtime/protocols.ts';
import type { Problem } from '../client-message.ts';
import { digestOf } from '../segment-audio.ts';
import {
  CLOSE,
  abandon,
  beginIdle,
  change,
  changeRequest,
  emit,
  fail,
  finish,
  inTurn,
  replyTo,
  run,
  send,
  unitsWithout,
} from './state.ts';
import type { SessionEvent, EarlierSegment, KnownSegment, OpenRequest, Move } from './state.ts';

/** So many can be told of in one message (`request_status`). */
const MOST_SEGMENTS = FRAME_LIMITS.arrayItems;

/** Asks for what a segment costs to be set aside, unless the session would become too long. */
export function reserve(segment: KnownSegment, eventId: string | undefined): Move {
  return (state) => {
    const { units = 0, earlier = [] } = state.request ?? {};
    const isTooLong = units + segment.characters > SESSION_MAX_UNITS;
    if (isTooLong || earlier.length >= MOST_SEGMENTS) {
      const most = isTooLong ? `${SESSION_MAX_UNITS} units` : `${MOST_SEGMENTS} segments`;
      const message = `The session would have more than ${most}`;
      return run(state, fail({ code: 'session_limit_exceeded', message }, eventId));
    }
    return run(
      state,
      change({ reserving: segment, pendingEventId: eventId }),
      emit({ type: 'reserve', segment }),
    );
  };
}

/** What the segment costs is set aside: it will be spoken. */
export function reserved({ segmentId, units }: Extract<SessionEvent, { type: 'reserved' }>): Move {
  return (state) => {
    const { request, reserving, pendingEventId } = state;
    if (request === undefined || reserving?.segmentId !== segmentId) return run(state);
    const wasIdle = request.queue.length === 0;
    const { characters } = reserving;
    const accepted = send({
      event: 'segment_accepted',
      ...replyTo(pendingEventId),
      requestId: request.requestId,
      segmentId,
      segmentCharacters: characters,
      reservedUnits: units,
    });
    return run(
      state,
      change({ reserving: undefined, pendingEventId: undefined }),
      changeRequest({
        texts: [],
        sequences: [],
        characters: 0,
        units: request.units + characters,
        queue: [...request.queue, segmentId],
        earlier: remember(request, { ...reserving, units: characters }),
      }),
      ...(request.mode === 'reliable' ? [accepted] : []),
      ...(wasIdle ? [emit({ type: 'speak', segmentId })] : []),
    );
  };
}

/** There is too little to pay for it. */
export function notReserved(problem: Problem): Move {
  return (state) =>
    state.reserving === undefined ? run(state) : run(state, fail(problem, state.pendingEventId));
}

function remember(
  { earlier }: OpenRequest,
  { segmentId, sequences, text, units }: KnownSegment & { readonly units: number },
): readonly EarlierSegment[] {
  const others = earlier.filter((one) => one.segmentId !== segmentId);
  const textDigest = digestOf(text);
  return [...others, { segmentId, sequences, textDigest, units, audioBytes: undefined }];
}

type Spoke = Extract<SessionEvent, { type: 'audio' | 'spoken' | 'unspeakable' }>;

/** Audio of the segment that is being spoken, or its end. */
export function spoke(event: Spoke): Move {
  return (state) => {
    const { request } = state;
    if (request === undefined || request.queue[0] !== event.segmentId) return run(state);
    switch (event.type) {
      case 'audio':
        return run(state, sendAudio(request, event.bytes));
      case 'spoken':
        return run(state, completed(request, event, state.protocol), beginIdle, speakNext);
      case 'unspeakable':
        return run(state, nothingToSay(request, event.segmentId), beginIdle, speakNext);
    }
  };
}

function sendAudio(request: OpenRequest, audio: Uint8Array): Move {
  return (state) => {
    const { requestId, nextAudio, mode, queue, sound } = request;
    const [segmentId] = queue;
    const { modelId: _model, voiceId: _voice, ...shape } = sound;
    return run(
      state,
      changeRequest({ nextAudio: nextAudio + 1 }),
      send({
        event: 'audio',
        requestId,
        sessionId: state.sessionId,
        ...(mode === 'reliable' && segmentId !== undefined ? { segmentId } : {}),
        sequence: nextAudio,
        audio,
        ...shape,
      }),
    );
  };
}

function completed(
  request: OpenRequest,
  { segmentId, outcome }: Extract<SessionEvent, { type: 'spoken' }>,
  protocol: RealtimeProtocol,
): Move {
  const { requestId, mode, queue } = request;
  const { units: segmentUnits, audioBytes, quotaRemaining, creditsUsed } = outcome;
  const isReliable = mode === 'reliable';
  const whose = { requestId, ...(isReliable ? { segmentId } : {}) };
  // What waits behind it is not spoken yet.
  const sessionUnits = unitsWithout(request, queue.slice(1));
  const ended = {
    event: 'segment_completed',
    requestId,
    segmentId,
    segmentUnits,
    audioBytes,
  } as const;
  return inTurn(
    hasEnded(request, segmentId, { audioBytes }),
    send({
      event: 'usage',
      ...whose,
      segmentUnits,
      sessionUnits,
      quotaRemaining,
      audioBytes,
      ...(protocol === 'v3' ? { creditsUsed } : {}),
    }),
    ...(isReliable ? [send(ended)] : []),
  );
}

/** A segment without a word is over at once, and costs nothing; a simple input can be corrected. */
function nothingToSay(request: OpenRequest, segmentId: string): Move {
  const { requestId, mode, units } = request;
  const own = request.earlier.find((one) => one.segmentId === segmentId)?.units ?? 0;
  const given = changeRequest({ units: units - own });
  const message = 'The text has nothing that this voice can say';
  if (mode === 'simple') {
    const again = changeRequest({ isStopped: false, queue: [], earlier: [] });
    return inTurn(given, again, fail({ code: 'empty_segment', message }));
  }
  return inTurn(
    given,
    hasEnded(request, segmentId, { audioBytes: 0, units: 0 }),
    send({
      event: 'warning',
      requestId,
      code: 'nothing_to_say',
      message: `${message}: ${segmentId}`,
    }),
    send({ event: 'segment_completed', requestId, segmentId, segmentUnits: 0, audioBytes: 0 }),
  );
}

function hasEnded(
  { queue, earlier }: OpenRequest,
  segmentId: string,
  end: { readonly audioBytes: number; readonly units?: number },
): Move {
  return changeRequest({
    queue: queue.slice(1),
    earlier: earlier.map((one) => (one.segmentId === segmentId ? { ...one, ...end } : one)),
  });
}

/** The next segment that waits, or the end. */
const speakNext: Move = (state) => {
  const [segmentId] = state.request?.queue ?? [];
  return run(
    state,
    ...(segmentId === undefined ? [endWhenDone] : [emit({ type: 'speak', segmentId })]),
  );
};

/** Ends the request when nothing is left to be spoken and nothing more is to come. */
export const endWhenDone: Move = (state) => {
  const { request, isDraining } = state;
  if (request === undefined || request.queue.length > 0) return run(state);
  if (request.isStopped && state.reserving === undefined) {
    return run(state, change({ phase: 'settling' }), emit({ type: 'complete' }));
  }
  return run(state, ...(isDraining ? [abandon(), finish('server_draining', CLOSE.restarts)] : []));
};
