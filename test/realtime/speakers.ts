import { LIMITS } from './messages.ts';
import { segmentAudio } from './request-book.ts';
import type { Segment, SpokenRequest, RequestBook } from './request-book.ts';
import type { Message } from './wire-names.ts';
import { PCM } from './segment-audio.ts';

/** Handles the events of one started request, and returns the replies. */
export interface Speaker {
  receive(message: Message): Message[];
}

interface Text {
  readonly sequence: number;
  readonly text: string;
}

/** Reliable mode: numbered texts, segments, and replays. */
export class ReliableSpeaker implements Speaker {
  readonly #speaking: Speaking;
  readonly #request: SpokenRequest;
  readonly #eventIds = new Set<unknown>();
  #buffer: Text[] = [];
  #last = 0;

  constructor(speaking: Speaking) {
    this.#speaking = speaking;
    this.#request = speaking.request;
  }

  receive(message: Message): Message[] {
    const { event, eventId: inReplyTo } = message;
    if (this.#eventIds.has(inReplyTo)) {
      return [fault('invalid_message', { inReplyTo, message: 'eventId was used before.' })];
    }
    this.#eventIds.add(inReplyTo);
    if (event === 'text') {
      const { sequence, text } = message;
      return this.#take({ sequence: Number(sequence), text: String(text) }, inReplyTo);
    }
    if (event === 'flush') {
      return this.#flush(String(message['segmentId']), inReplyTo);
    }
    return this.#stop(inReplyTo);
  }

  #take(text: Text, inReplyTo: unknown): Message[] {
    if (!this.#isNext(text.sequence)) {
      const message = `Expected a sequence after ${this.#last}, not ${text.sequence}.`;
      return [fault('invalid_state', { inReplyTo, message, path: 'sequence' })];
    }
    const buffered = this.#buffered() + Array.from(text.text).length;
    if (buffered > LIMITS.segment) {
      return [fault('segment_too_large', { inReplyTo })];
    }
    this.#last = text.sequence;
    this.#buffer.push(text);
    const { requestId } = this.#request;
    return [
      reply('input_ack', {
        inReplyTo,
        requestId,
        acceptedSequence: text.sequence,
        acceptedCharacters: Array.from(text.text).length,
        bufferedCharacters: buffered,
        remainingCapacity: LIMITS.segment - buffered,
      }),
    ];
  }

  /** Accepts the next number, or one after numbers of completed segments only. */
  #isNext(sequence: number): boolean {
    const completed = new Set(
      this.#request.segments.flatMap(({ state, sequences }) =>
        state === 'completed' ? sequences : [],
      ),
    );
    let next = this.#last + 1;
    while (next < sequence && completed.has(next)) {
      next += 1;
    }
    return next === sequence;
  }

  #buffered(): number {
    return this.#buffer.reduce((sum, { text }) => sum + Array.from(text).length, 0);
  }

  #flush(segmentId: string, inReplyTo: unknown): Message[] {
    if (this.#buffer.length === 0) {
      return [fault('empty_segment', { inReplyTo })];
    }
    const { requestId } = this.#request;
    const text = this.#buffer.map((part) => part.text).join('');
    const sequences = this.#buffer.map(({ sequence }) => sequence);
    const known = this.#known(segmentId, sequences);
    if (known !== undefined && !isSame(known, { segmentId, text, sequences })) {
      return [fault('idempotency_conflict', { inReplyTo, terminal: true, requestId })];
    }
    this.#buffer = [];
    const segment =
      known ?? this.#speaking.book.accept(this.#request, { segmentId, text, sequences });
    return this.#spoken(segment, inReplyTo);
  }

  /** Returns the segment with this id or with some of these texts. */
  #known(segmentId: string, sequences: readonly number[]): Segment | undefined {
    return this.#request.segments.find(
      (segment) =>
        segment.segmentId === segmentId ||
        segment.sequences.some((sequence) => sequences.includes(sequence)),
    );
  }

  /** Skips a completed segment. */
  #spoken(segment: Segment, inReplyTo: unknown): Message[] {
    const { request, sessionId, quota } = this.#speaking;
    const { requestId } = request;
    const { segmentId, units } = segment;
    const audioBytes = segmentAudio(segment).byteLength;
    const all = { requestId, segmentId };
    const accepted = { inReplyTo, ...all, segmentCharacters: units, reservedUnits: units };
    const completed = reply('segment_completed', { ...all, segmentUnits: units, audioBytes });
    if (segment.state === 'completed') {
      return [reply('segment_accepted', { ...accepted, reservedUnits: 0 }), completed];
    }
    segment.state = 'accepted';
    const sessionUnits = this.#unitsUpTo(segment);
    const quotaRemaining = quota() - (segment.isCharged ? 0 : units);
    return [
      reply('segment_accepted', accepted),
      ...audioMessages(request, segment, sessionId),
      reply('usage', { ...all, segmentUnits: units, sessionUnits, quotaRemaining, audioBytes }),
      completed,
    ];
  }

  #unitsUpTo({ ordinal }: Segment): number {
    return this.#request.segments.slice(0, ordinal).reduce((sum, { units }) => sum + units, 0);
  }

  #stop(inReplyTo: unknown): Message[] {
    if (this.#buffer.length > 0) {
      return [fault('invalid_state', { inReplyTo, message: 'Text waits for its flush.' })];
    }
    const { requestId, segments } = this.#request;
    const units = segments.reduce((sum, segment) => sum + segment.units, 0);
    const { sessionId } = this.#speaking;
    return [reply('finish', { inReplyTo, requestId, sessionId, reason: 'completed', units })];
  }
}

type Identity = Pick<Segment, 'segmentId' | 'text' | 'sequences'>;

function isSame(known: Identity, given: Identity): boolean {
  return (
    known.segmentId === given.segmentId &&
    known.text === given.text &&
    known.sequences.join() === given.sequences.join()
  );
}

/** The parameters of a spoken request. */
interface Speaking {
  readonly request: SpokenRequest;
  readonly sessionId: string;
  readonly book: RequestBook;
  readonly quota: () => number;
}

/** Simple mode: collects inputs until one commits, and speaks them as one segment. */
export function speakSimple({ request, sessionId, book }: Speaking): Speaker {
  let text = '';
  let isCommitted = false;
  return { receive };

  function receive(message: Message): Message[] {
    const { event, commit, eventId: inReplyTo } = message;
    if (event !== 'input' || isCommitted) {
      return [fault('invalid_state', { inReplyTo })];
    }
    text += String(message['text']);
    if (Array.from(text).length > LIMITS.simpleInput) {
      return [fault('session_limit_exceeded', { inReplyTo, terminal: true })];
    }
    isCommitted = commit !== false;
    return isCommitted ? spoken() : [];
  }

  function spoken(): Message[] {
    const segment = book.accept(request, { segmentId: 'segment-1', text, sequences: [] });
    const { requestId } = request;
    const units = segment.units;
    const finish = reply('finish', { requestId, sessionId, reason: 'completed', units });
    return [...audioMessages(request, segment, sessionId), finish];
  }
}

type ReplyFields = Readonly<Record<string, unknown>>;

/** Returns a server event with v3 names, without undefined fields. */
export function reply(event: string, fields: ReplyFields = {}): Message {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), event };
}

/** Returns an `error` event; by default neither terminal nor retryable. */
export function fault(code: string, fields: ReplyFields = {}): Message {
  return reply('error', {
    code,
    message: `The script answers ${code}.`,
    retryable: false,
    terminal: false,
    ...fields,
  });
}

/** Returns the additional fields of `ready` and `audio` for pcm. */
export function pcmFields(format: string): ReplyFields {
  return format === 'pcm' ? PCM : {};
}

/** Returns the audio messages of a segment, one per frame. */
export function audioMessages(
  { requestId, format }: SpokenRequest,
  segment: Segment,
  sessionId: string,
): Message[] {
  const { segmentId } = segment;
  const all = { requestId, sessionId, segmentId, format, ...pcmFields(format) };
  return segment.frames.map(({ sequence, audio }) => reply('audio', { ...all, sequence, audio }));
}
