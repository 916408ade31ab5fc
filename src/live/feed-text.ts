import { SEGMENT_MAX_CHARACTERS } from '../contract/realtime/limits.ts';
import type { Clock } from '../effects/clock.ts';
import { usageFailure } from '../errors/failure.ts';
import { hasMoreCodePointsThan } from '../text/code-points.ts';
import { cutWithin, splitParts } from '../text/parts.ts';
import { endsClearly, firstSentence } from '../text/sentences.ts';
import type { Conversation } from './conversation.ts';

/** Where text goes. */
type Listener = Pick<Conversation, 'finish' | 'say'>;

export interface FeedOptions {
  /** Cuts what is to be spoken; without one every piece goes on as it is, as simple mode takes it. */
  readonly cutter: SegmentCutter | undefined;
  /** So long after a piece what is left of it is spoken, complete or not; in milliseconds. */
  readonly flushAfterMs: number | undefined;
  readonly clock: Clock;
}

/** The same where what is left most likely is a whole sentence. */
const CLEAR_END_MS = 120;

/**
 * Has text spoken as it comes, no faster than it is taken.
 * @throws Failure (usage) when there is nothing but white space, and what the pieces throw
 */
export async function feedText(
  pieces: AsyncIterable<string>,
  listener: Listener,
  { clock, cutter = wholePieces(), flushAfterMs }: FeedOptions,
): Promise<void> {
  let isEmpty = true;
  let stopWaiting = ignore;
  let before = Promise.resolve();
  const sayAll = async (segments: readonly string[], turn: Promise<void>): Promise<void> => {
    await turn;
    for (const segment of segments) await listener.say(segment);
  };
  const say = (segments: readonly string[]): Promise<void> => {
    isEmpty &&= segments.length === 0;
    // What was left at a pause may still wait for room when more comes.
    before = sayAll(segments, before);
    return before;
  };
  try {
    for await (const piece of pieces) {
      stopWaiting();
      await say(cutter.write(piece));
      if (flushAfterMs === undefined || !cutter.hasRest) continue;
      const waitMs = cutter.endsClearly ? Math.min(CLEAR_END_MS, flushAfterMs) : flushAfterMs;
      stopWaiting = clock.after(waitMs, () => void say(cutter.flush()));
    }
  } finally {
    stopWaiting();
  }
  await say(cutter.flush());
  if (isEmpty)
    throw usageFailure(
      'the text is empty',
      'Give some text: foley live "Hello", -f FILE, or a pipe.',
    );
  listener.finish();
}

/** White space that is the beginning waits for what follows: alone it is no text. */
function wholePieces(): SegmentCutter {
  let held = '';
  let hasBegun = false;
  return {
    write(piece) {
      held += piece;
      hasBegun ||= held.trim() !== '';
      return hasBegun ? this.flush() : [];
    },
    flush() {
      const pieces = hasBegun && held !== '' ? [held] : [];
      held = hasBegun ? '' : held;
      return pieces;
    },
    hasRest: false,
    endsClearly: false,
  };
}

function ignore(): void {}

/** What is spoken as one (`--segment-by`). */
export const SEGMENT_NAMES = ['sentence', 'line', 'input'] as const;
export type SegmentName = (typeof SEGMENT_NAMES)[number];

/** Cuts text that comes in pieces into segments; how it comes has no say in where it is cut. */
interface SegmentCutter {
  /** The segments that are complete with this piece. None has nothing but white space. */
  write(text: string): readonly string[];
  /** What is left, complete or not, so that more text begins anew. */
  flush(): readonly string[];
  /** Something is left that is not white space. */
  readonly hasRest: boolean;
  /** What is left most likely ends with a whole sentence, though more text could go on with it. */
  readonly endsClearly: boolean;
}

/** Cuts at the ends of sentences or lines, or only where no segment may be longer. */
export function createSegmentCutter(by: SegmentName): SegmentCutter {
  let rest = '';
  let isFirst = true;

  function* complete(isOpen: boolean): Generator<string> {
    for (;;) {
      // White space costs, and is not heard.
      rest = rest.trimStart();
      const end = nextEnd(rest, { by, isFirst, isOpen });
      if (end === undefined) return;
      yield rest.slice(0, end).trimEnd();
      isFirst = false;
      rest = rest.slice(end);
    }
  }

  return {
    write(text) {
      rest += text;
      return [...complete(true)];
    },
    flush() {
      const last = [...complete(false), rest.trimEnd()].filter((segment) => segment !== '');
      isFirst &&= last.length === 0;
      rest = '';
      return last;
    },
    get hasRest() {
      return rest.trim() !== '';
    },
    get endsClearly() {
      return by === 'sentence' && endsClearly(rest);
    },
  };
}

interface Cut {
  readonly by: SegmentName;
  /** Nothing was spoken yet. */
  readonly isFirst: boolean;
  /** More text may follow. */
  readonly isOpen: boolean;
}

/** Where the first segment of a text ends that begins with a word; undefined while it may go on. */
function nextEnd(text: string, { by, isFirst, isOpen }: Cut): number | undefined {
  if (by === 'sentence') return sentenceEnd(text, isFirst, isOpen);
  const end = by === 'line' ? lineEnd(text) : undefined;
  const first = end === undefined ? text : text.slice(0, end);
  return hasMoreCodePointsThan(first, SEGMENT_MAX_CHARACTERS) ? partEnd(first) : end;
}

function lineEnd(text: string): number | undefined {
  const end = text.indexOf('\n') + 1;
  return end === 0 ? undefined : end;
}

/** A segment that is too long ends at a sentence, else between words; there is more than one part. */
function partEnd(text: string): number | undefined {
  return splitParts(text, SEGMENT_MAX_CHARACTERS)[1]?.start;
}

/** The listener waits for the first segment: a sentence longer than this begins with a clause of it. */
const FIRST_MAX_UNITS = 120;
/** Text that nobody ends is cut after so much, in UTF-16 units. */
const SENTENCE_MAX_UNITS = 400;

const CLAUSE_END = /[,;:][\p{Pe}\p{Pf}"']*(?=\s)|\s[-–—]+(?=\s)|[—，；：、]/gu;
/** Not behind a full stop: it may belong to an abbreviation. */
const WORD_END = /[^\s.](?=\s)/gu;

function sentenceEnd(text: string, isFirst: boolean, isOpen: boolean): number | undefined {
  const { end, reach } = firstSentence(text, { isOpen, limit: SENTENCE_MAX_UNITS });
  if (isFirst && reach > FIRST_MAX_UNITS) {
    const clause = lastMatchEnd(CLAUSE_END, text, FIRST_MAX_UNITS);
    if (clause !== undefined) return clause;
  }
  if (reach <= SENTENCE_MAX_UNITS) return end;
  return (
    lastMatchEnd(CLAUSE_END, text, SENTENCE_MAX_UNITS) ??
    lastMatchEnd(WORD_END, text, SENTENCE_MAX_UNITS) ??
    cutWithin(text, 0, SENTENCE_MAX_UNITS)
  );
}

/** A cut leaves at least so much of the longest segment before it: no stutter of tiny pieces. */
const SHORTEST_PART = 0.25;

function lastMatchEnd(pattern: RegExp, text: string, most: number): number | undefined {
  let last: number | undefined;
  // One unit more shows whether white space follows.
  for (const { 0: found, index } of text.slice(0, most + 1).matchAll(pattern)) {
    const end = index + found.length;
    if (end <= most && end >= most * SHORTEST_PART) last = end;
  }
  return last;
}
