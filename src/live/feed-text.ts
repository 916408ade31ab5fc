import { SEGMENT_MAX_CHARACTERS } from '../contract/realtime/limits.ts';
import type { Clock } from '../system/clock.ts';
import { usageFailure } from '../errors/failure.ts';
import { hasMoreCodePointsThan } from '../text/code-points.ts';
import type { CodeMode } from '../text/formats/text-formats.ts';
import { guessLanguage } from '../text/guess-language.ts';
import type { Lexicon } from '../text/lexicon.ts';
import { cutWithin, splitParts } from '../text/parts.ts';
import { endsClearly, firstSentence, lastEnd } from '../text/sentences.ts';

/** A conversation, as the source of its text sees it. */
export interface TextReceiver {
  /** Sends a piece of the text. Resolves when the conversation accepts more. */
  say(text: string): Promise<void>;
  /** Ends the text. */
  finish(): void;
}

export interface SegmentOptions {
  /** Divides the text into segments. If undefined, each piece of input is sent unchanged (`simple` mode). */
  readonly cutter: SegmentCutter | undefined;
  /** Maximum wait for more input, in milliseconds, before an incomplete segment is sent; undefined for no limit. */
  readonly flushAfterMs: number | undefined;
  /** Pronunciations to apply to each segment or piece. */
  readonly lexicon?: Lexicon | undefined;
}

export interface FeedOptions extends SegmentOptions {
  readonly clock: Clock;
}

// How long to wait for more input if the buffered text looks like a whole sentence.
const SENTENCE_WAIT_MS = 120;

/**
 * Sends text to a conversation as the text arrives. Waits whenever the conversation accepts no more text.
 * @throws Failure of kind `usage` if the whole text is blank
 * @throws the error that reading `pieces` throws
 */
export async function feedText(
  pieces: AsyncIterable<string>,
  conversation: TextReceiver,
  { clock, lexicon, cutter = wholePieces(lexicon), flushAfterMs }: FeedOptions,
): Promise<void> {
  let isEmpty = true;
  let stopTimer: (() => void) | undefined;
  let before = Promise.resolve();
  const sayAll = async (segments: readonly string[], turn: Promise<void>): Promise<void> => {
    await turn;
    for (const segment of segments) {
      for (const said of spokenSegments(segment, lexicon)) await conversation.say(said);
    }
  };
  const say = (segments: readonly string[]): Promise<void> => {
    isEmpty &&= segments.length === 0;
    // An incomplete segment may still wait to be accepted when more text arrives.
    before = sayAll(segments, before);
    return before;
  };
  try {
    for await (const piece of pieces) {
      stopTimer?.();
      await say(cutter.write(piece));
      if (flushAfterMs === undefined || !cutter.hasRest) continue;
      const waitMs = cutter.endsClearly ? Math.min(SENTENCE_WAIT_MS, flushAfterMs) : flushAfterMs;
      stopTimer = clock.after(waitMs, () => void say(cutter.flush()));
    }
  } finally {
    stopTimer?.();
  }
  await say(cutter.flush());
  if (isEmpty) {
    throw usageFailure(
      'the text is empty',
      'Pass the text as an argument, with -f FILE or through a pipe.',
    );
  }
  conversation.finish();
}

function spokenSegments(segment: string, lexicon: Lexicon | undefined): readonly string[] {
  if (lexicon === undefined) return [segment];
  const said = lexicon.speak(segment);
  return hasMoreCodePointsThan(said, SEGMENT_MAX_CHARACTERS)
    ? splitParts(said, SEGMENT_MAX_CHARACTERS).map(({ text }) => text)
    : [said];
}

function wholePieces(lexicon: Lexicon | undefined): SegmentCutter {
  let held = '';
  let hasBegun = false;
  const take = (end: number): readonly string[] => {
    const piece = held.slice(0, end);
    hasBegun ||= piece.trim() !== '';
    if (!hasBegun || piece === '') return [];
    held = held.slice(end);
    return [piece];
  };
  return {
    write(piece) {
      held += piece;
      return take(lexicon?.settled(held) ?? held.length);
    },
    flush: () => take(held.length),
    hasRest: false,
    endsClearly: false,
  };
}

/** The allowed values of `--segment-by`. */
export const SEGMENT_NAMES = ['sentence', 'line', 'input'] as const;
export type SegmentName = (typeof SEGMENT_NAMES)[number];

interface SegmentCutter {
  write(text: string): readonly string[];
  flush(): readonly string[];
  readonly hasRest: boolean;
  readonly endsClearly: boolean;
}

/** Converts Markdown to text piece by piece, while the Markdown arrives. */
export async function* markdownPieces(
  pieces: AsyncIterable<string>,
  code: CodeMode = 'skip',
): AsyncGenerator<string, void, undefined> {
  const { createMarkdownStream } = await import('../text/formats/markdown-stream.ts');
  const stream = createMarkdownStream(code);
  for await (const piece of pieces) {
    const text = stream.write(piece);
    if (text !== '') yield text;
  }
  yield stream.end();
}

/**
 * Yields arriving text unchanged. Calls `onForeign` once, with the beginning of the text, if it looks like another
 * language than English.
 */
export async function* watchLanguage(
  pieces: AsyncIterable<string>,
  onForeign: (beginning: string) => Promise<void>,
): AsyncGenerator<string, void, undefined> {
  let beginning = '';
  let isOpen = true;
  const check = async (): Promise<void> => {
    if (guessLanguage(beginning) === undefined) return;
    isOpen = false;
    await onForeign(beginning);
  };
  for await (const piece of pieces) {
    if (isOpen) {
      beginning += piece;
      if (beginning.length >= GUESSED_CHARACTERS) await check();
      isOpen &&= beginning.length < WATCHED_CHARACTERS;
    }
    yield piece;
  }
  if (isOpen) await check();
}

// Fewer characters may be a name in another language.
const GUESSED_CHARACTERS = 60;
const WATCHED_CHARACTERS = 2_000;

/**
 * Creates a cutter, which divides arriving text into segments.
 * @param by where a segment ends: after each sentence (`sentence`), after each line (`line`), or only at the maximum
 * length (`input`)
 * @param options with `skipsSilent`, segments without letters or digits are omitted
 */
export function createSegmentCutter(
  by: SegmentName,
  { skipsSilent = false }: { readonly skipsSilent?: boolean } = {},
): SegmentCutter {
  const isSpoken = (segment: string): boolean => !skipsSilent || /[\p{L}\p{N}]/u.test(segment);
  let rest = '';
  let isFirst = true;

  function* complete(isOpen: boolean): Generator<string> {
    for (;;) {
      // Drop white space, which is billed but not audible.
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
      return [...complete(true)].filter((segment) => isSpoken(segment));
    },
    flush() {
      const last = [...complete(false), rest.trimEnd()].filter(
        (segment) => segment !== '' && isSpoken(segment),
      );
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

function nextEnd(
  text: string,
  { by, isFirst, isOpen }: { by: SegmentName; isFirst: boolean; isOpen: boolean },
): number | undefined {
  if (by === 'sentence') return sentenceEnd(text, isFirst, isOpen);
  const end = by === 'line' && text.includes('\n') ? text.indexOf('\n') + 1 : undefined;
  const first = text.slice(0, end);
  // A segment that is too long is split after a sentence, else between words.
  return hasMoreCodePointsThan(first, SEGMENT_MAX_CHARACTERS)
    ? splitParts(first, SEGMENT_MAX_CHARACTERS)[1]?.start
    : end;
}

// In UTF-16 units. A longer first sentence is split at a clause.
const FIRST_MAX_UNITS = 120;
const SENTENCE_MAX_UNITS = 400;

const CLAUSE_END = /[,;:][\p{Pe}\p{Pf}"']*(?=\s)|\s[-–—]+(?=\s)|[—，；：、]/gu;
// Not after a full stop, which may belong to an abbreviation.
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

// Minimum length of a part of a split segment, as a share of the maximum length.
const SHORTEST_PART = 0.25;

function lastMatchEnd(pattern: RegExp, text: string, most: number): number | undefined {
  // One unit more, because the pattern must see whether white space follows.
  return lastEnd(text.slice(0, most + 1), pattern, most * SHORTEST_PART, most);
}
