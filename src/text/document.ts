import { CodePointSlicer, countCodePoints } from './code-points.ts';

/** A range of code points: from `start` up to but not including `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A text to speak, with its origin. */
export interface SpokenText {
  /** What is sent and billed. */
  readonly text: string;
  /** The document's words: what captions and timings show. Equal to `text` for plain text. */
  readonly written: string;
  /** Where `text` differs from `written`, in order: code-point ranges of both. Equal text in between. */
  readonly replaced: readonly { readonly written: Range; readonly spoken: Range }[];
  /** Silences, by position in `text` (code points), in milliseconds. */
  readonly pauses: readonly Pause[];
}

export interface Pause {
  readonly at: number;
  readonly ms: number;
}

/** A range of a text, and the text to put in its place. An empty range inserts. */
export interface Edit extends Range {
  readonly insert: string;
}

/** Creates a text that is spoken as it is written. */
export function plainText(text: string, pauses: readonly Pause[] = []): SpokenText {
  return { text, written: text, replaced: [], pauses };
}

/**
 * Changes what is spoken; `written` stays. An edit may overlap earlier replacements.
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
  return {
    text: pieces.join(''),
    written: source.written,
    replaced,
    pauses: source.pauses.map(({ at, ms }) => ({ at: moved({ start: at, end: at }).start, ms })),
  };
}

/** Creates a function that returns the range of `written` for a range of `text`, both in code points. */
export function writtenRanges({ replaced }: Pick<SpokenText, 'replaced'>): (range: Range) => Range {
  return rangeMapper(replaced.map(({ spoken, written }) => ({ from: spoken, to: written })));
}

/** Joins texts, with the same separator between all of them. */
export function joinSpoken(parts: readonly SpokenText[], separator: string): SpokenText {
  const gap = countCodePoints(separator);
  const replaced: SpokenText['replaced'][number][] = [];
  const pauses: Pause[] = [];
  let [spokenAt, writtenAt] = [0, 0];
  for (const part of parts) {
    for (const { spoken, written } of part.replaced) {
      replaced.push({ spoken: shift(spoken, spokenAt), written: shift(written, writtenAt) });
    }
    for (const { at, ms } of part.pauses) pauses.push({ at: at + spokenAt, ms });
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
  };
}

/** Returns the edits of `text` that give `written`; {@link withWritten} applies them. */
export function writtenEdits({ replaced, written }: SpokenText): readonly Edit[] {
  const slicer = new CodePointSlicer(written);
  return replaced.map(({ spoken, written: { end, start } }) => {
    return { ...spoken, insert: slicer.slice(start, end) };
  });
}

/** Creates a text from what is spoken, and the edits that give what is written. */
export function withWritten(text: string, edits: readonly Edit[]): SpokenText {
  const { replaced, text: written } = replaceSpoken(plainText(text), edits);
  const swapped = replaced.map((one) => ({ spoken: one.written, written: one.spoken }));
  return { text, written, replaced: swapped, pauses: [] };
}

/** Edits and earlier replacements that overlap; the ranges are of the text before the edits. */
interface EditGroup extends Range {
  readonly edits: readonly Edit[];
  /** Range of `written` of the earlier replacements, if any. */
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

/** Whether two ranges, the first of which starts first, have text in common; an empty range also overlaps at its edge. */
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

/** Creates a function that maps ranges. A range that includes a part of `from` includes all of `to`. */
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

/** Returns the last move for which `isBefore` holds, by binary search. */
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
