/** Limits for the size, duration and reading speed of cues. */
export interface CueLimits {
  /** Maximum width of a line in columns. A full-width character takes two columns. */
  readonly maxChars: number;
  readonly maxLines: number;
  readonly maxDurationMs: number;
  readonly minDurationMs: number;
  /** Maximum reading speed in columns per second. */
  readonly maxCps: number;
  /** Gap to leave between two cues, in milliseconds, if the speech does not pause between them. */
  readonly gapMs: number;
  /** Minimum gap between two cues at a pause, in milliseconds. In a shorter gap, the screen would flicker. */
  readonly minPauseMs: number;
}

/** Limits of cues, and what each cue contains: a phrase, a sentence or a word. */
export interface CueShape extends CueLimits {
  readonly by: 'phrase' | 'sentence' | 'word';
}

/**
 * Gaps between cues from the Netflix timing guidelines, at 24 frames per second: 2 frames without a pause, and at least
 * 12 frames at a pause.
 */
export const DEFAULT_GAPS = { gapMs: 84, minPauseMs: 500 } as const;

/** The published limits of each style guide. docs/captions.md names the sources. */
export const CUE_PRESETS = {
  netflix: {
    maxChars: 42,
    maxLines: 2,
    maxDurationMs: 7_000,
    minDurationMs: 833,
    maxCps: 20,
    ...DEFAULT_GAPS,
  },
  bbc: {
    maxChars: 37,
    maxLines: 2,
    maxDurationMs: 7_000,
    minDurationMs: 1_000,
    maxCps: 17,
    gapMs: 0,
    minPauseMs: 1_000,
  },
} as const satisfies Readonly<Record<string, CueLimits>>;

/** A subtitle: lines of text that are shown together. */
export interface Cue {
  readonly startMs: number;
  /** End of the cue: later than `startMs`, and at the latest the start of the next cue. */
  readonly endMs: number;
  readonly lines: readonly CueLine[];
  /** Name of the speaker; undefined for a text with one speaker. */
  readonly speaker?: string;
}

export type CueLine = readonly CueWord[];

/** A token, usually a word, on a line of a subtitle. */
export interface CueWord {
  readonly text: string;
  /** The space before the word; not used at the start of a line. */
  readonly gap: '' | ' ' | '\u3000';
  readonly startMs: number;
}

/** Returns the text of a line of a subtitle. */
export function lineText(line: CueLine): string {
  return line.map(({ gap, text }, index) => (index === 0 ? text : gap + text)).join('');
}

/** The formats of subtitle files, by their extensions (docs/captions.md). */
export const SUBTITLE_FORMATS = ['srt', 'vtt', 'ass', 'ttml', 'lrc'] as const;

/** All formats of caption files; `json` is word timings. */
export const CAPTION_FORMATS = [...SUBTITLE_FORMATS, 'json'] as const;

export type SubtitleFormat = (typeof SUBTITLE_FORMATS)[number];

/** Returns the flag that creates caption files of a format: `--timings` for JSON, otherwise `--subtitles`. */
export function flagOf({ format }: { readonly format: string }): string {
  return format === 'json' ? '--timings' : '--subtitles';
}
