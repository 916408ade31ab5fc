/** How cues are cut. */
export interface CueShape {
  /** Columns of a line; a full-width character takes two. */
  readonly maxChars: number;
  readonly maxLines: number;
  readonly maxDurationMs: number;
  readonly minDurationMs: number;
  readonly by: 'phrase' | 'sentence' | 'word';
}

/** A subtitle. */
export interface Cue {
  readonly startMs: number;
  /** After the start, and at most the start of the next cue. */
  readonly endMs: number;
  readonly lines: readonly CueLine[];
}

export type CueLine = readonly CueWord[];

/** A token of the text on a line. */
export interface CueWord {
  readonly text: string;
  /** The space before it, unless it is the first of its line. */
  readonly gap: '' | ' ' | '\u3000';
  readonly startMs: number;
}

/** Returns the text of a line. */
export function lineText(line: CueLine): string {
  return line.map(({ gap, text }, index) => (index === 0 ? text : gap + text)).join('');
}

/** Returns the flag for a caption file of this format. */
export function flagOf({ format }: { readonly format: string }): string {
  return format === 'json' ? '--timings' : '--subtitles';
}
