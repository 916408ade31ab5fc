import { SEGMENT_MAX_CHARACTERS } from '../contract/realtime/limits.ts';
import { hasMoreCodePointsThan } from '../text/code-points.ts';
import { splitParts } from '../text/parts.ts';
import { certainSentenceEnd, splitSentences } from '../text/sentences.ts';

/** What is spoken as one (contract, section 10, `--segment-by`). */
export const SEGMENT_NAMES = ['sentence', 'line', 'input'] as const;
export type SegmentName = (typeof SEGMENT_NAMES)[number];

/** Cuts text that comes in pieces into segments; how it comes has no say in where it is cut. */
export interface SegmentCutter {
  /** The segments that are complete with this piece. None has nothing but white space. */
  write(text: string): readonly string[];
  /** What is left, complete or not, so that more text begins anew. */
  flush(): readonly string[];
  /** Something is left that is not white space. */
  readonly hasRest: boolean;
}

/** Cuts at the ends of sentences or lines, or only where no segment may be longer. */
export function createSegmentCutter(by: SegmentName): SegmentCutter {
  let rest = '';

  function* complete(): Generator<string> {
    for (let end = nextEnd(rest, by); end !== undefined; end = nextEnd(rest, by)) {
      yield rest.slice(0, end);
      rest = rest.slice(end);
    }
  }

  return {
    write(text) {
      rest += text;
      return spoken([...complete()]);
    },
    flush() {
      const left = rest;
      rest = '';
      return spoken(by === 'sentence' ? splitSentences(left).map((one) => one.text) : [left]);
    },
    get hasRest() {
      return rest.trim() !== '';
    },
  };
}

/** White space costs, and is not heard. */
function spoken(segments: readonly string[]): readonly string[] {
  return segments.map((segment) => segment.trim()).filter((segment) => segment !== '');
}

function nextEnd(text: string, by: SegmentName): number | undefined {
  const end = by === 'input' ? undefined : by === 'line' ? lineEnd(text) : certainSentenceEnd(text);
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
