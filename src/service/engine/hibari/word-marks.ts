import { countCodePoints } from '../../../text/code-points.ts';
import type { WordMark } from '../speech-engine.ts';
import type { SourceRange } from '../traced-text.ts';
import type { SpokenToken } from './fit-to-pauses.ts';
import type { TracedPiece } from './pieces.ts';

/**
 * Returns the time of each word of a piece.
 * @param offsetMs time of the piece in the speech
 */
export function wordMarks(
  piece: TracedPiece,
  tokens: readonly SpokenToken[],
  offsetMs: number,
): WordMark[] {
  let units = 0;
  let codePoints = piece.start;
  const codePointAt = (index: number): number => {
    codePoints += countCodePoints(piece.written.slice(units, index));
    units = index;
    return codePoints;
  };
  return piece.words().flatMap(({ spoken, written }) => {
    const own = tokens.filter(({ end, start }) => start < spoken.end && end > spoken.start);
    const [first] = own;
    const last = own.at(-1);
    if (first === undefined || last === undefined) return [];
    const start = codePointAt(written.start);
    const end = codePointAt(written.end + (endsWithDot(piece.written, written) ? 1 : 0));
    return [{ start, end, startMs: offsetMs + first.startMs, endMs: offsetMs + last.endMs }];
  });
}

const ABBREVIATION = /^(?:\p{L}\.)+\p{L}$/u;

function endsWithDot(text: string, { end, start }: SourceRange): boolean {
  return text.charAt(end) === '.' && ABBREVIATION.test(text.slice(start, end));
}
