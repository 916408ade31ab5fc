import {
  SEGMENT_MAX_CHARACTERS,
  SIMPLE_INPUT_MAX_CHARACTERS,
  TEXT_EVENT_MAX_CHARACTERS,
} from '../contract/realtime/limits.ts';
import { countCodePoints, sliceCodePoints } from '../text/code-points.ts';
import { markMissing } from './audio-order.ts';
import { errorEnding, lost } from './endings.ts';
import type { RequestStatus } from './server-message.ts';
import type { LiveState, LiveReducer, Segment } from './state.ts';
import { emit, end, patch, patchSegment, send, startTimer, stopTimers } from './state.ts';

// The input pauses above this size of undelivered text, and resumes at half of it.
const QUEUE_MAX_BYTES = 256 * 1024;
// The input also pauses above this number of segments, because each message searches all of them.
const QUEUE_MAX_SEGMENTS = 128;
// Maximum number of segments that were sent but not yet accepted by the service.
const IN_FLIGHT_MAX = 8;

/**
 * Adds text from the input to the text to send. In `reliable` mode, creates a segment for it, or several for a long
 * text.
 */
export function takeText(text: string): LiveReducer {
  return ({ isInputOver, plan }) => {
    if (text === '' || isInputOver) return [];
    if (plan.mode === 'simple') return [addInput(text)];
    return pieces(text, SEGMENT_MAX_CHARACTERS).map((piece) => addSegment(piece));
  };
}

function addSegment(text: string): LiveReducer {
  return ({ nextSequence, segmentCount, segments }) => {
    const id = `s${segmentCount + 1}`;
    const segment = newSegment(id, pieces(text, TEXT_EVENT_MAX_CHARACTERS), nextSequence);
    return [
      patch({
        segments: [...segments, segment],
        segmentCount: segmentCount + 1,
        nextSequence: nextSequence + segment.texts.length,
      }),
      matchStored([id]),
    ];
  };
}

function addInput(text: string): LiveReducer {
  return ({ segments: [before] }) => {
    const segment = newSegment('s1', [...(before?.texts ?? []), text], 1);
    if (segment.characters > SIMPLE_INPUT_MAX_CHARACTERS) {
      const message = `the text is too long for simple mode: use at most ${SIMPLE_INPUT_MAX_CHARACTERS} characters`;
      return [end({ exit: 'usage', code: 'usage', message, billed: 'no' })];
    }
    const { state } = before ?? segment;
    return [patch({ segments: [{ ...segment, state }], segmentCount: 1 })];
  };
}

function newSegment(id: string, texts: readonly string[], sequence: number): Segment {
  const all = texts.join('');
  return {
    id,
    texts,
    sequence,
    characters: countCodePoints(all),
    bytes: Buffer.byteLength(all),
    state: 'waiting',
    deliveredBytes: 0,
    receivedBytes: 0,
    audio: undefined,
    completed: undefined,
    isStored: false,
    hasSkipped: false,
  };
}

function pieces(text: string, characters: number): readonly string[] {
  const count = Math.ceil(countCodePoints(text) / characters);
  return Array.from({ length: count }, (_none, index) =>
    sliceCodePoints(text, index * characters, (index + 1) * characters),
  );
}

/** Sends as much text as the limits of the service allow, and then pauses or resumes the input. */
export const sendMore: LiveReducer = ({ plan }) => [
  plan.mode === 'simple' ? sendInputs : sendSegments,
  boundInput,
  timeProgress,
];

const sendInputs: LiveReducer = (state) => {
  const [input] = state.segments;
  const text = input?.texts[state.sentInputs];
  if (state.phase !== 'speaking' || input === undefined || text === undefined) return [];
  const isLast = state.sentInputs === input.texts.length - 1;
  // The last part is marked as such, so it must wait for the end of the input.
  if (isLast && !state.isInputOver) return [];
  return [
    send({ event: 'input', text, commit: isLast }),
    patch({
      sentInputs: state.sentInputs + 1,
      phase: isLast ? 'stopping' : 'speaking',
      isBillable: state.isBillable || isLast,
    }),
    patchSegment(input.id, { state: 'sent' }),
    sendInputs,
  ];
};

const sendSegments: LiveReducer = (state) => {
  if (state.phase !== 'speaking') return [];
  const next = state.segments.find((one) => one.state === 'waiting' || one.isStored);
  if (next === undefined) return state.isInputOver ? [stop] : [];
  const inFlight = state.segments.filter((one) => one.state === 'sent').length;
  // Text must wait while the audio of an earlier segment is fetched, because its audio would arrive too early.
  if (next.isStored || inFlight >= IN_FLIGHT_MAX) return [];
  if (exceedsSession(state, next)) return [stop];
  return [sendSegment(next), sendSegments];
};

function sendSegment({ id, texts, sequence }: Segment): LiveReducer {
  return () => [
    ...texts.map((text, index) =>
      send({ event: 'text', eventId: '', sequence: sequence + index, text }),
    ),
    send({ event: 'flush', eventId: '', segmentId: id }),
    patchSegment(id, { state: 'sent' }),
    patch({ isBillable: true }),
  ];
}

const stop: LiveReducer = () => [
  send({ event: 'stop', eventId: '' }),
  patch({ phase: 'stopping' }),
];

// The first segment is always allowed.
function exceedsSession(state: LiveState, next: Segment): boolean {
  const { segments, unitsPerCharacter, sessionUnits, plan } = state;
  const sent = segments.filter((one) => one.state === 'sent');
  const characters = sent.reduce((sum, one) => sum + one.characters, next.characters);
  const units = sessionUnits + characters * unitsPerCharacter;
  return (sessionUnits > 0 || sent.length > 0) && units > (plan.sessionMaxUnits ?? Infinity);
}

/** Pauses the input when the queue of undelivered text is full. Resumes the input when half of the queue is empty. */
export const boundInput: LiveReducer = ({ isInputPaused, segments }) => {
  const bytes = segments.reduce((sum, one) => sum + one.bytes, 0);
  const count = segments.length;
  if (!isInputPaused && (bytes > QUEUE_MAX_BYTES || count > QUEUE_MAX_SEGMENTS)) {
    return [patch({ isInputPaused: true }), emit({ type: 'pauseInput' })];
  }
  if (isInputPaused && bytes <= QUEUE_MAX_BYTES / 2 && count <= QUEUE_MAX_SEGMENTS / 2) {
    return [patch({ isInputPaused: false }), emit({ type: 'resumeInput' })];
  }
  return [];
};

// The timer runs only while the service has text to speak.
const timeProgress: LiveReducer = ({ isPaused, phase, plan, segments }) => {
  const hasWork =
    phase === 'stopping' ||
    (phase === 'speaking' && segments.some((one) => one.state !== 'waiting'));
  const isTimed = hasWork && !isPaused;
  return [isTimed ? startTimer('progress', plan.timeouts.progressMs) : stopTimers('progress')];
};

/**
 * Applies the status of a request after a reconnection. Downloads the segments that the service has stored, and sends
 * all others again.
 */
export function takeManifest({ segments: manifest }: RequestStatus): LiveReducer {
  return ({ segments }) => [patch({ manifest }), matchStored(segments.map(({ id }) => id))];
}

// Delivered segments are completed, the others must be fetched. The text of a segment can only be compared by its
// length: the service reports nothing else about it.
function matchStored(ids: readonly string[]): LiveReducer {
  return (state) => {
    const known = state.segments.flatMap((segment) => {
      const { id } = segment;
      const stored = state.manifest.find(({ isStored, segmentId }) => isStored && segmentId === id);
      return stored === undefined || !ids.includes(id) ? [] : [{ stored, segment }];
    });
    const hasOtherText = known.some(
      ({ segment, stored }) => (stored.characters ?? segment.characters) !== segment.characters,
    );
    if (hasOtherText) {
      const message = 'this request id was used for another text';
      return [end(errorEnding(state, 'idempotency_conflict', message))];
    }
    const missing = known.filter(
      ({ stored: { audioBytes = Infinity }, segment }) => segment.deliveredBytes < audioBytes,
    );
    return [
      ...known
        .filter((one) => !missing.includes(one))
        .map(({ stored: { audioBytes }, segment }) =>
          patchSegment(segment.id, { completed: { audioBytes } }),
        ),
      markMissing(missing.map(({ segment }) => segment.id)),
    ];
  };
}

/**
 * Ends the conversation if audio of a completed request is lost. Audio is lost if the client did not receive it and the
 * service did not store it.
 */
export const endIfLost: LiveReducer = ({ hasDelivered, isBillable, manifest, segments }) => {
  const missing = segments.filter(
    (one) => one.state !== 'waiting' && one.completed === undefined && !one.isStored,
  );
  if (missing.length > 0) return [end(lost(missing.map(({ id }) => id)))];
  const isKnown = isBillable || hasDelivered || manifest.some(({ isStored }) => isStored);
  return isKnown ? [] : [end(lost())];
};
