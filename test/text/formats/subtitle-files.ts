import { readFileSync } from 'node:fs';
import FILES from './subtitle-files.json' with { type: 'json' };

export type SubtitleTool = 'chromium' | 'ffmpeg' | 'pysubs2' | 'srt' | 'webvtt-py';

/** How a file in `test/fixtures/subtitles` must be read. */
export interface SubtitleFile {
  readonly name: string;
  /** The text of each cue that has text. Its rows are separated by spaces. */
  readonly cues: readonly string[];
  /** What is spoken, if these are not the texts of the cues. */
  readonly spoken?: string;
  /** The lines of a script: speaker and text. */
  readonly turns?: readonly (readonly [speaker: string | undefined, text: string])[];
  /** The tools that read other texts, and why the texts here are right. All other tools read the same. */
  readonly differs?: Partial<Record<SubtitleTool, string>>;
}

/** Returns the bytes of a file. */
export function subtitleBytes({ name }: SubtitleFile): Buffer {
  return readFileSync(new URL(`../../fixtures/subtitles/${name}`, import.meta.url));
}

/** The files of `subtitle-files.json`. */
export const SUBTITLE_FILES: readonly SubtitleFile[] = FILES.map(({ turns, ...file }) => ({
  ...file,
  ...(turns && { turns: turns.map(([speaker, text]) => [speaker ?? undefined, text ?? '']) }),
}));
