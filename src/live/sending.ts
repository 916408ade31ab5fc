import {
  SEGMENT_MAX_CHARACTERS,
  SIMPLE_INPUT_MAX_CHARACTERS,
  TEXT_EVENT_MAX_CHARACTERS,
} from '../contract/realtime/limits.ts';
import { countCodePoints, sliceCodePoints } from '../text/code-points.ts';
import { errorEnding, lost } from './endings.ts';
import type { RequestFacts, SegmentFacts } from './server-message.ts';
import { miss } from './settle.ts';
import type { LiveState, Segment, Move } from './state.ts';
import {
  change,
  changeSegment,
  emit,
  end,
  run,
  send,
  startTimer,
  stopTimers,
  inTurn,
} from './state.ts';

/** Text that waits or is on its way: above this no more is read, at half of it again. */
const QUEUE_MAX_BYTES = 256 * 1024;
/** The same of segments, which may be short: they are looked through with every message. */
const QUEUE_MAX_SEGMENTS = 128;
/** Segments whose text was sent and not yet accepted. */
const IN_FLIGHT_MAX = 8;

/** Takes text to be spoken: in reliable mode as a segment, or more where one may not hold it. */
export function takeText(text: string): Move {
  return (state) => {
    if (text === '' || state.isInputOver) return run(state);
    if (state.plan.mode === 'simple') return run(state, addInput(text));
    return run(state, ...pieces(text, SEGMENT_MAX_CHARACTERS).map((piece) => addSegment(piece)));
  };
}

function addSegment(text: string): Move {
  return (state) => {
    const texts = pieces(text, TEXT_EVENT_MAX_CHARACTERS);
    const id = `s${state.segmentCount + 1}`;
    const segment: Segment = { ...newSegment(id, texts), sequence: state.nextSequence };
    return run(
      state,
      change({
        segments: [...state.segments, segment],
        segmentCount: state.segmentCount + 1,
        nextSequence: state.nextSequence + texts.length,
      }),
      recognize([id]),
    );
  };
}

function addInput(text: string): Move {
  return (state) => {
    const [before] = state.segments;
    const segment = newSegment('s1', [...(before?.texts ?? []), text]);
    if (segment.characters > SIMPLE_INPUT_MAX_CHARACTERS) {
      const message = `the simple mode takes ${SIMPLE_INPUT_MAX_CHARACTERS} characters`;
      return run(state, end({ exit: 'usage', code: 'usage', message, billed: 'no' }));
    }
    const part = before === undefined ? {} : { state: before.state };
    return run(state, change({ segments: [{ ...segment, ...part }], segmentCount: 1 }));
  };
}

function newSegment(id: string, texts: readonly string[]): Segment {
  const all = texts.join('');
  return {
    id,
    texts,
    sequence: 1,
    characters: countCodePoints(all),
    bytes: Buffer.byteLength(all),
    state: 'waiting',
    heardBytes: 0,
    runBytes: 0,
    audio: undefined,
    completed: undefined,
    isStored: false,
  };
}

function pieces(text: string, characters: number): readonly string[] {
  const count = Math.ceil(countCodePoints(text) / characters);
  return Array.from({ length: count }, (_none, index) =>
    sliceCodePoints(text, index * characters, (index + 1) * characters),
  );
}

/** Sends what may be sent now, has no more text read than fits, and watches for answers. */
export const sendMore: Move = (state) =>
  run(state, state.plan.mode === 'simple' ? sendInputs : sendSegments, boundInput, watch);

const sendInputs: Move = (state) => {
  const [input] = state.segments;
  const text = input?.texts[state.sentInputs];
  if (state.phase !== 'speaking' || input === undefined || text === undefined) return run(state);
  const isLast = state.sentInputs === input.texts.length - 1;
  // The last part is known to be the last only when the text is over.
  if (isLast && !state.isInputOver) return run(state);
  return run(
    state,
    send({ event: 'input', text, commit: isLast }),
    change({
      sentInputs: state.sentInputs + 1,
      phase: isLast ? 'stopping' : 'speaking',
      hasAsked: state.hasAsked || isLast,
    }),
    changeSegment(input.id, { state: 'sent' }),
    sendInputs,
  );
};

const sendSegments: Move = (state) => {
  if (state.phase !== 'speaking') return run(state);
  const next = state.segments.find((one) => one.state === 'waiting' || one.isStored);
  if (next === undefined) return state.isInputOver ? run(state, stop) : run(state);
  const inFlight = state.segments.filter((one) => one.state === 'sent').length;
  // Nothing is sent beyond what has to be fetched first: its audio would come too early.
  if (next.isStored || inFlight >= IN_FLIGHT_MAX) return run(state);
  if (isOverTheSession(state, next)) return run(state, stop);
  return run(state, sendSegment(next), sendSegments);
};

function sendSegment({ id, texts, sequence }: Segment): Move {
  return (state) =>
    run(
      state,
      ...texts.map((text, index) =>
        send({ event: 'text', eventId: '', sequence: sequence + index, text }),
      ),
      send({ event: 'flush', eventId: '', segmentId: id }),
      changeSegment(id, { state: 'sent' }),
      change({ hasAsked: true }),
    );
}

const stop: Move = (state) =>
  run(state, send({ event: 'stop', eventId: '' }), change({ phase: 'stopping' }));

/** A session takes so many units; the first segment of a session is sent whatever it costs. */
function isOverTheSession(state: LiveState, next: Segment): boolean {
  const { segments, unitsPerCharacter, sessionUnits, plan } = state;
  const sent = segments.filter((one) => one.state === 'sent');
  const open = sent.reduce((sum, { characters }) => sum + characters, 0);
  const units = sessionUnits + (open + next.characters) * unitsPerCharacter;
  return (sessionUnits > 0 || sent.length > 0) && units > (plan.sessionMaxUnits ?? Infinity);
}

/** Has no more text read than may wait. */
export const boundInput: Move = (state) => {
  const bytes = state.segments.reduce((sum, one) => sum + one.bytes, 0);
  const count = state.segments.length;
  if (!state.isInputPaused && (bytes > QUEUE_MAX_BYTES || count > QUEUE_MAX_SEGMENTS)) {
    return run(state, change({ isInputPaused: true }), emit({ type: 'pauseInput' }));
  }
  const hasRoom = bytes <= QUEUE_MAX_BYTES / 2 && count <= QUEUE_MAX_SEGMENTS / 2;
  if (state.isInputPaused && hasRoom) {
    return run(state, change({ isInputPaused: false }), emit({ type: 'resumeInput' }));
  }
  return run(state);
};

/** While something is asked for, something has to come; a service that only lives is not enough. */
const watch: Move = (state) => {
  const isAsked =
    state.phase === 'stopping' ||
    (state.phase === 'speaking' && state.segments.some((one) => one.state !== 'waiting'));
  if (!isAsked || state.isHeld) return run(state, stopTimers('progress'));
  return run(state, startTimer('progress', state.plan.waits.progressMs));
};

/** Takes over what the service has stored; what it has not is spoken again. */
export function adopt({ segments: manifest }: RequestFacts): Move {
  return (state) => run(state, change({ manifest }), recognize(state.segments.map(({ id }) => id)));
}

/**
 * Compares segments with what the service has of the request: what is stored is fetched, but for what was
 * heard to its end. All that is told of a text is its length.
 */
function recognize(ids: readonly string[]): Move {
  return (state) => {
    const known = state.segments.flatMap((segment) => {
      const facts = ids.includes(segment.id) ? storedOf(state, segment.id) : undefined;
      return facts === undefined ? [] : [{ facts, segment }];
    });
    if (known.some(isOther)) {
      const message = 'the request was made before with another text';
      return run(state, end(errorEnding(state, 'idempotency_conflict', message)));
    }
    const missing = known.filter((one) => !isHeard(one)).map(({ segment }) => segment.id);
    const over = known
      .filter(isHeard)
      .map(({ facts: { audioBytes }, segment }) =>
        changeSegment(segment.id, { completed: { audioBytes } }),
      );
    return run(state, inTurn(...over), miss(missing));
  };
}

/**
 * All of the request was spoken and paid for: what was asked for and is not stored is lost, and so is
 * everything when nothing is stored of a request that this conversation only asked after.
 */
export const missWhatIsGone: Move = (state) => {
  const gone = state.segments.filter(
    (one) => one.state !== 'waiting' && one.completed === undefined && !one.isStored,
  );
  if (gone.length > 0) return run(state, end(lost(gone.map(({ id }) => id))));
  const hasNothing = !state.hasAsked && !state.manifest.some(({ isStored }) => isStored);
  return run(state, ...(hasNothing ? [end(lost())] : []));
};

interface Known {
  readonly facts: SegmentFacts;
  readonly segment: Segment;
}

function storedOf({ manifest }: LiveState, id: string): SegmentFacts | undefined {
  return manifest.find(({ isStored, segmentId }) => isStored && segmentId === id);
}

function isOther({ facts: { characters }, segment }: Known): boolean {
  return characters !== undefined && characters !== segment.characters;
}

function isHeard({ facts: { audioBytes }, segment }: Known): boolean {
  return audioBytes !== undefined && segment.heardBytes >= audioBytes;
}
