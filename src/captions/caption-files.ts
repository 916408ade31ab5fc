import type { System } from '../system/system.ts';
import type { Existing, Output } from '../durable/output.ts';
import { openOutput } from '../durable/publish.ts';
import type { AssStyle } from './ass-style.ts';
import type { Cue, CueShape, SubtitleFormat } from './cue-shape.ts';
import { flagOf } from './cue-shape.ts';
import { subtitlesUntil } from './subtitles-thread.ts';
import type { Timings } from './timings.ts';
import { timingsFile } from './timings.ts';
import type { CueViolation } from './violations.ts';

export type CaptionFormat = SubtitleFormat | 'json';

/** A caption file to write: subtitles, or word timings in JSON. */
export interface CaptionTarget {
  readonly path: string;
  readonly format: CaptionFormat;
  /** The styles of a file of Advanced SubStation Alpha; default: styles of foley. */
  readonly assStyle?: AssStyle | undefined;
}

export interface CaptionContent {
  readonly timings: Timings;
  readonly shape: CueShape;
  /** Cues that subtitle files contain as they are; default: cues with the words of the timings. */
  readonly cues?: readonly Cue[] | undefined;
}

/** A caption file that was written and has its final name. */
export interface WrittenCaptions extends CaptionTarget {
  readonly bytes: number;
  /** Number of cues; undefined for a file of word timings. */
  readonly cues: number | undefined;
  /** The cues that violate a limit; empty for a file of word timings. */
  readonly violations: readonly CueViolation[];
}

/** A caption file as `--json` describes it. */
export interface CaptionFileDocument extends Pick<WrittenCaptions, 'format' | 'violations'> {
  readonly output: string;
  /** Number of cues; null for a file of word times. */
  readonly cues: number | null;
}

/** Returns the fields of a caption file as `--json` prints them. */
export function captionFileDocument(written: WrittenCaptions): CaptionFileDocument {
  const { cues, format, path: output, violations } = written;
  return { output, format, cues: cues ?? null, violations };
}

/** Caption files that are open for writing and have temporary names. */
export interface CaptionFiles {
  /**
   * Writes all files under temporary names, so that a full or broken disk fails here and not in `publish`.
   * @throws Failure of kind `output`; on abort, the signal's abort reason
   */
  prepare(content: CaptionContent): Promise<void>;
  /**
   * Renames the files to their final names, one after another.
   * @throws Failure of kind `output` or `exists`
   */
  publish(): Promise<readonly WrittenCaptions[]>;
  /** Deletes the temporary files that `publish` has not renamed. Never throws. */
  abandon(): Promise<void>;
}

export interface CaptionFilesOptions {
  readonly system: System;
  readonly targets: readonly CaptionTarget[];
  /** What to do if a caption file already exists; default `replace`. */
  readonly existing?: Existing | undefined;
  /** The flag to name in messages; default: the flag for the format of each file. */
  readonly flag?: string | undefined;
  /** Folder for the temporary files, on the same disk as the caption files; default: the folder of each file. */
  readonly temporaryFolder?: string | undefined;
  /** Stops `prepare`, which takes seconds for a long text. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens caption files before anything is billed, so that a folder that is not writable fails early. If one file cannot
 * be opened, removes the temporary files of all other files.
 * @throws Failure of kind `output`, `exists` or `usage`
 */
export async function openCaptionFiles({
  existing,
  flag,
  signal,
  system,
  targets,
  temporaryFolder,
}: CaptionFilesOptions): Promise<CaptionFiles> {
  const open: Open[] = [];
  const abandon = async (): Promise<void> => {
    for (const { output } of open) await output.abandon();
  };
  try {
    for (const target of targets) {
      const output = await openOutput(system, {
        temporaryFolder,
        signal,
        path: target.path,
        existing,
        flag: flag ?? flagOf(target),
      });
      open.push({ output, target, cues: undefined, violations: [] });
    }
  } catch (error) {
    await abandon();
    throw error;
  }
  return {
    abandon,
    async prepare(content) {
      for (const each of open) {
        const { text, ...made } = await captionText(content, each.target, signal);
        [each.cues, each.violations] = [made.cues, made.violations];
        await each.output.write(Buffer.from(text));
        // Computing the checksum also syncs the file, which fails if the disk is full.
        await each.output.checksum();
      }
    },
    async publish() {
      const written: WrittenCaptions[] = [];
      for (const { output, target, cues, violations } of open) {
        const { path, bytes } = await output.publish();
        written.push({ format: target.format, path, bytes, cues, violations });
      }
      return written;
    },
  };
}

/**
 * Writes all caption files under temporary names, then renames them. If a file cannot be written, none is renamed.
 * @throws Failure of kind `output`, `exists` or `usage`
 */
export async function writeCaptions(
  content: CaptionContent,
  options: CaptionFilesOptions,
): Promise<readonly WrittenCaptions[]> {
  const files = await openCaptionFiles(options);
  try {
    await files.prepare(content);
    return await files.publish();
  } catch (error) {
    await files.abandon();
    throw error;
  }
}

interface Open {
  readonly output: Output;
  readonly target: CaptionTarget;
  cues: number | undefined;
  violations: readonly CueViolation[];
}

async function captionText(
  { cues, shape, timings }: CaptionContent,
  { assStyle, format }: CaptionTarget,
  signal: AbortSignal | undefined,
) {
  if (format === 'json') return { text: timingsFile(timings), cues: undefined, violations: [] };
  const { content, ...made } = await subtitlesUntil(
    { timings, shape, format, cues, assStyle },
    signal,
  );
  return { text: content, ...made };
}
