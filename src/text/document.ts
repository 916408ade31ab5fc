import type { Pronunciation } from '../contract/speech.ts';
import { CodePointSlicer, countCodePoints } from './code-points.ts';

/** A range of code points: from `start` up to but not including `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A text to speak with its pauses. */
export interface PausedText {
  /** The text that is sent to the service and billed. */
  readonly text: string;
  /**
   * Pauses in the speech. Their positions are code points of `text`; their lengths are
   * milliseconds.
   */
  readonly pauses: readonly Pause[];
}

/** A text to speak, and the written text that it was made from. */
export interface SpokenText extends PausedText {
  /**
   * The text as the document contains it. Captions and timings show this text. Equals `text` if nothing is replaced.
   */
  readonly written: string;
  /**
   * The differences between the two texts, in order. Each entry has two code-point ranges: `written` in the written
   * text, and `spoken` in `text`.
   */
  readonly replaced: readonly { readonly written: Range; readonly spoken: Range }[];
  /** Phonemes of words in `text`. Set only if the lexicon has phonemes for some of them. */
  readonly pronunciations?: readonly Pronunciation[];
  /** The file of the book that contains this text. Set only for a book. */
  readonly file?: string;
  /**
   * The chapters that begin in this text, in order. Set only for the text of a book.
   */
  readonly chapters?: readonly ChapterStart[] | undefined;
  /**
   * Length of the front matter at the beginning of this text, in code points. Set only if the book says where it ends.
   */
  readonly frontMatter?: number;
  /** UTF-16 units of the file that are left out before this text; default 0. */
  readonly skipped?: number;
}

/** A chapter of a book. `at` is the position of its first character in the spoken text, in code points. */
export interface ChapterStart {
  readonly title: string;
  readonly at: number;
}

export interface Pause {
  readonly at: number;
  readonly ms: number;
  /** Name or id of the voice that speaks the following text, if a mark such as `[voice Martin]` sets one. */
  readonly voice?: string;
}

/** An edit: replaces a range of a text by another text. If the range is empty, the text is inserted. */
export interface Edit extends Range {
  readonly insert: string;
}

/** Creates a text that is spoken exactly as it is written. */
export function plainText(text: string, pauses: readonly Pause[] = []): SpokenText {
  return { text, written: text, replaced: [], pauses };
}

/**
 * Replaces ranges of the spoken text; the written text stays unchanged. An edit may overlap ranges that are already
 * replaced.
 * @param edits ranges of `text` in code points, in order and without overlap
 */
export function replaceSpoken(source: SpokenText, edits: readonly Edit[]): SpokenText {
  const text = new CodePointSlicer(source.text);
  const written = new CodePointSlicer(source.written);
  const toWritten = writtenRanges(source);
  const replaced: { written: Range; spoken: Range }[] = [];
  const moves: Move[] = [];
  const pieces: string[] = [];
  let length = 0;
  const push = (piece: string): void => {
    pieces.push(piece);
    length += countCodePoints(piece);
  };
  let done = 0;
  for (const group of editGroups(source, edits)) {
    push(text.slice(done, group.start));
    const start = length;
    const first = pieces.length;
    done = group.start;
    for (const edit of group.edits) {
      push(text.slice(done, edit.start));
      push(edit.insert);
      done = edit.end;
    }
    push(text.slice(done, group.end));
    done = group.end;
    const spoken = { start, end: length };
    moves.push({ from: group, to: spoken });
    const range = enclosing(toWritten(group), group.written);
    if (written.slice(range.start, range.end) !== pieces.slice(first).join('')) {
      replaced.push({ written: range, spoken });
    }
  }
  push(text.slice(done, Infinity));
  const moved = rangeMapper(moves);
  const movedTo = (at: number): number => moved({ start: at, end: at }).start;
  return {
    text: pieces.join(''),
    written: source.written,
    replaced,
    pauses: source.pauses.map((pause) => ({ ...pause, at: movedTo(pause.at) })),
    chapters: source.chapters?.map(({ at, title }) => ({ at: movedTo(at), title })),
  };
}

/**
 * Returns a function that converts a range of the spoken text to the corresponding range of the written text. Both
 * ranges count code points.
 */
export function writtenRanges({ replaced }: SpokenText): (range: Range) => Range {
  return rangeMapper(replaced.map(({ spoken, written }) => ({ from: spoken, to: written })));
}

/** Joins texts with a separator between them. */
export function joinSpoken(parts: readonly SpokenText[], separator: string): SpokenText {
  const gap = countCodePoints(separator);
  const replaced: SpokenText['replaced'][number][] = [];
  const pauses: Pause[] = [];
  const chapters: ChapterStart[] = [];
  let [spokenAt, writtenAt] = [0, 0];
  for (const part of parts) {
    for (const { spoken, written } of part.replaced) {
      replaced.push({ spoken: shift(spoken, spokenAt), written: shift(written, writtenAt) });
    }
    for (const pause of part.pauses) pauses.push({ ...pause, at: pause.at + spokenAt });
    for (const { at, title } of part.chapters ?? []) chapters.push({ at: at + spokenAt, title });
    spokenAt += countCodePoints(part.text) + gap;
    writtenAt += countCodePoints(part.written) + gap;
  }
  const text = parts.map((part) => part.text).join(separator);
  const isEqual = replaced.length === 0;
  return {
    text,
    written: isEqual ? text : parts.map(({ written }) => written).join(separator),
    replaced,
    pauses,
    ...(parts.some((part) => part.chapters !== undefined) ? { chapters } : {}),
  };
}

/**
 * Cuts a text at positions, and removes the white space around each piece. The pieces have no chapters.
 * @param starts the position of each piece in code points, in order
 */
export function cutSpoken(source: SpokenText, starts: readonly number[]): readonly SpokenText[] {
  const { file, pauses, replaced } = source;
  const text = new CodePointSlicer(source.text);
  const written = new CodePointSlicer(source.written);
  const toWritten = writtenRanges(source);
  let [units, nextPause, nextReplaced] = [source.skipped ?? 0, 0, 0];
  return starts.map((start, index) => {
    const whole = text.slice(start, starts[index + 1] ?? Infinity);
    const piece = whole.trimEnd();
    const skipped = units;
    units += whole.length;
    const range = { start, end: start + countCodePoints(piece) };
    const limit = starts[index + 1] ?? Infinity;
    const ownPauses = [];
    for (; (pauses[nextPause]?.at ?? Infinity) < limit; nextPause += 1) {
      const pause = pauses[nextPause];
      if (pause !== undefined)
        ownPauses.push({ ...pause, at: Math.min(pause.at, range.end) - start });
    }
    const own = [];
    const writtenRange = toWritten(range);
    for (; (replaced[nextReplaced]?.spoken.start ?? Infinity) < limit; nextReplaced += 1) {
      const one = replaced[nextReplaced];
      if (one === undefined) continue;
      own.push({
        spoken: shift(one.spoken, -start),
        written: shift(one.written, -writtenRange.start),
      });
    }
    return {
      text: piece,
      written: own.length === 0 ? piece : written.slice(writtenRange.start, writtenRange.end),
      replaced: own,
      pauses: ownPauses,
      ...(file === undefined ? {} : { file, skipped }),
    };
  });
}

/** Returns the edits that turn `text` into `written`. {@link withWritten} applies these edits. */
export function writtenEdits({ replaced, written }: SpokenText): readonly Edit[] {
  const slicer = new CodePointSlicer(written);
  return replaced.map(({ spoken, written: { end, start } }) => {
    return { ...spoken, insert: slicer.slice(start, end) };
  });
}

/** Creates a `SpokenText` from the spoken text and the edits that turn it into the written text. */
export function withWritten(text: string, edits: readonly Edit[]): SpokenText {
  const { replaced, text: written } = replaceSpoken(plainText(text), edits);
  const swapped = replaced.map((one) => ({ spoken: one.written, written: one.spoken }));
  return { text, written, replaced: swapped, pauses: [] };
}

interface EditGroup extends Range {
  readonly edits: readonly Edit[];
  readonly written: Range | undefined;
}

function editGroups({ replaced }: SpokenText, edits: readonly Edit[]): EditGroup[] {
  const parts: EditGroup[] = [
    ...replaced.map(({ spoken, written }) => ({ ...spoken, written, edits: [] })),
    ...edits.map((edit) => ({ ...edit, written: undefined, edits: [edit] })),
  ].toSorted((a, b) => a.start - b.start || a.end - b.end);
  const groups: EditGroup[] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    if (last === undefined || !overlap(last, part)) {
      groups.push(part);
      continue;
    }
    groups[groups.length - 1] = {
      ...enclosing(last, part),
      edits: [...last.edits, ...part.edits],
      written: last.written === undefined ? part.written : enclosing(last.written, part.written),
    };
  }
  return groups;
}

function overlap(first: Range, second: Range): boolean {
  if (second.start < first.end) return true;
  const isEmpty = first.start === first.end || second.start === second.end;
  return isEmpty && second.start === first.end;
}

function enclosing(one: Range, other: Range | undefined): Range {
  return {
    start: Math.min(one.start, other?.start ?? Infinity),
    end: Math.max(one.end, other?.end ?? 0),
  };
}

function shift({ end, start }: Range, by: number): Range {
  return { start: start + by, end: end + by };
}

interface Move {
  readonly from: Range;
  readonly to: Range;
}

function rangeMapper(moves: readonly Move[]): (range: Range) => Range {
  return (range) => {
    const first = lastMove(moves, ({ from }) => from.start <= range.start);
    const last = lastMove(moves, ({ from }) => from.start < range.end);
    const isWithin = first !== undefined && range.start < first.from.end;
    const start = isWithin ? first.to.start : shifted(range.start, first);
    const endsWithin = last !== undefined && range.end < last.from.end;
    const end = endsWithin ? last.to.end : shifted(range.end, last);
    return { start, end: Math.max(start, end) };
  };
}

function shifted(at: number, move: Move | undefined): number {
  return move === undefined ? at : at - move.from.end + move.to.end;
}

function lastMove(moves: readonly Move[], isBefore: (move: Move) => boolean): Move | undefined {
  let low = 0;
  let high = moves.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const move = moves[middle];
    if (move !== undefined && isBefore(move)) low = middle + 1;
    else high = middle;
  }
  return moves[low - 1];
}
