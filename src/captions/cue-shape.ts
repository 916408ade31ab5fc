/** How cues are cut. */
export interface CueShape {
  /** Columns of a line; a full-width character takes two. */
  readonly maxChars: number;
  readonly maxLines: number;
  readonly maxDurationMs: number;
  readonly minDurationMs: number;
  readonly by: 'phrase' | 'sentence' | 'word';
}

/** What is shown at a time. */
export interface Cue {
  readonly startMs: number;
  /** Always after the start, and never after the start of the next cue. */
  readonly endMs: number;
  readonly lines: readonly CueLine[];
}

export type CueLine = readonly CueWord[];

/** A token of the text on a line. */
export interface CueWord {
  readonly text: string;
  /** What stands before it when it is not the first of its line. */
  readonly gap: '' | ' ' | '\u3000';
  /** When it is said. */
  readonly startMs: number;
}

/** A line of a cue as it is shown. */
export function lineText(line: CueLine): string {
  return line.map(({ gap, text }, index) => (index === 0 ? text : gap + text)).join('');
}
