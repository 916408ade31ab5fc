import { splitClauses } from '../../text/clauses.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { endsParagraph } from '../../text/paragraphs.ts';

/** The longest segment, in characters: about a minute of speech. */
export const SEGMENT_MAX_CHARACTERS = 1_000;

/** From this length on a segment ends with its paragraph. */
const PARAGRAPH_MIN_CHARACTERS = SEGMENT_MAX_CHARACTERS / 2;

/** A part of a job's text, spoken for itself. */
export interface TextSegment {
  readonly text: string;
  /** Unicode code points. */
  readonly characters: number;
}

/**
 * Cuts the text of a job into segments of whole sentences, at most 1,000 characters each; only a
 * longer sentence is cut, at a clause or between words. A segment of at least half of that ends where
 * a paragraph ends. Nothing is lost or added: the segments joined are the text.
 */
export function segmentText(text: string): readonly TextSegment[] {
  const segments: TextSegment[] = [];
  let current: TextSegment = EMPTY;
  const close = (): void => {
    if (current.text !== '') segments.push(current);
    current = EMPTY;
  };
  for (const piece of splitClauses(text, SEGMENT_MAX_CHARACTERS)) {
    const characters = countCodePoints(piece.text);
    if (current.characters + characters > SEGMENT_MAX_CHARACTERS) close();
    current = {
      text: current.text + piece.text,
      characters: current.characters + characters,
    };
    if (current.characters >= PARAGRAPH_MIN_CHARACTERS && endsParagraph(piece.text)) close();
  }
  close();
  return segments;
}

const EMPTY: TextSegment = { text: '', characters: 0 };
