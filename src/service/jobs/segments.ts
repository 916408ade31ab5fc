import { splitClauses, endsParagraph } from '../../text/sentences.ts';
import { countCodePoints } from '../../text/code-points.ts';

/** The longest segment, in characters: about a minute of speech. */
export const SEGMENT_MAX_CHARACTERS = 1_000;

/** From this length on a segment ends with its paragraph. */
const PARAGRAPH_MIN_CHARACTERS = SEGMENT_MAX_CHARACTERS / 2;

/** A part of a job's text that is spoken on its own. */
export interface TextSegment {
  readonly text: string;
  /** Unicode code points. */
  readonly characters: number;
}

/**
 * Splits the text of a job into segments of whole sentences, at most 1,000 characters each; splits only a longer
 * sentence, at a clause or between words. A segment of at least half of that ends with its paragraph. The segments
 * joined are the text. A text of two characters or more has at least `minimum` segments.
 */
export function segmentText(text: string, minimum: 1 | 2 = 1): readonly TextSegment[] {
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
  return segments.length < minimum ? inTwo(text) : segments;
}

/** Splits near the middle between words where both parts can be spoken, else between any two characters. */
function inTwo(text: string): readonly TextSegment[] {
  const characters = Array.from(text);
  const half = Math.ceil(characters.length / 2);
  const first = characters.findIndex((character) => SAYABLE.test(character));
  const last = characters.findLastIndex((character) => SAYABLE.test(character));
  const starts = [...characters.keys()].filter(
    (at) => at > first && at <= last && /\s/.test(characters[at - 1] ?? ''),
  );
  const [start = half] = starts.sort((a, b) => Math.abs(a - half) - Math.abs(b - half));
  return [characters.slice(0, start), characters.slice(start)]
    .filter((part) => part.length > 0)
    .map((part) => ({ text: part.join(''), characters: part.length }));
}

const SAYABLE = /[\p{L}\p{N}]/u;

const EMPTY: TextSegment = { text: '', characters: 0 };
