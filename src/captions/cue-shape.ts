/** The limits of cues, and what a cue contains. */
export interface CueShape {
  /** Maximum columns of a line; a full-width character takes two. */
  readonly maxChars: number;
  readonly maxLines: number;
  readonly maxDurationMs: number;
  readonly minDurationMs: number;
  readonly by: 'phrase' | 'sentence' | 'word';
}

/** A subtitle. */
export interface Cue {
  readonly startMs: number;
  /** Later than `startMs`, and at most the start of the next cue. */
  readonly endMs: number;
  readonly lines: readonly CueLine[];
}

export type CueLine = readonly CueWord[];

/** A token of the text on a line. */
export interface CueWord {
  readonly text: string;
  /** Space before the word; ignored at the start of a line. */
  readonly gap: '' | ' ' | '\u3000';
  readonly startMs: number;
}

/** Returns the text of a line. */
export function lineText(line: CueLine): string {
  return line.map(({ gap, text }, index) => (index === 0 ? text : gap + text)).join('');
}

/** Returns the flag for a caption file of a format. */
export function flagOf({ format }: { readonly format: string }): string {
  return format === 'json' ? '--timings' : '--subtitles';
}
