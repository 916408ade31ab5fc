/** Limits for the size and duration of cues, and the unit of text that each cue contains (`by`). */
export interface CueShape {
  /** Maximum width of a line in columns. A full-width character takes two columns. */
  readonly maxChars: number;
  readonly maxLines: number;
  readonly maxDurationMs: number;
  readonly minDurationMs: number;
  readonly by: 'phrase' | 'sentence' | 'word';
}

/** A subtitle. */
export interface Cue {
  readonly startMs: number;
  /** End of the cue; later than `startMs`, and not later than the start of the next cue. */
  readonly endMs: number;
  readonly lines: readonly CueLine[];
}

export type CueLine = readonly CueWord[];

/** A token on a line of a cue. */
export interface CueWord {
  readonly text: string;
  /** The space before the word; not used at the start of a line. */
  readonly gap: '' | ' ' | '\u3000';
  readonly startMs: number;
}

/** Returns the text of a line. */
export function lineText(line: CueLine): string {
  return line.map(({ gap, text }, index) => (index === 0 ? text : gap + text)).join('');
}

/** Returns the flag with which the user asks for a caption file of a format. */
export function flagOf({ format }: { readonly format: string }): string {
  return format === 'json' ? '--timings' : '--subtitles';
}
