import type { FileDeps } from '../durable/files.ts';
import type { Existing, Output } from '../durable/output.ts';
import { openOutput } from '../durable/publish.ts';
import type { CueShape } from './cue-shape.ts';
import { flagOf } from './cue-shape.ts';
import { subtitlesOf } from './subtitles.ts';
import type { Timings } from './timings.ts';
import { timingsFile } from './timings.ts';

export type CaptionFormat = 'srt' | 'vtt' | 'json';

/** A caption file to write: subtitles, or word timings as JSON. */
export interface CaptionTarget {
  readonly path: string;
  readonly format: CaptionFormat;
}

export interface CaptionContent {
  readonly timings: Timings;
  readonly shape: CueShape;
}

/** A published caption file. */
export interface WrittenCaptions extends CaptionTarget {
  readonly bytes: number;
  /** Number of cues; undefined for timings. */
  readonly cues: number | undefined;
}

/** Caption files that are opened but not yet published. */
export interface CaptionFiles {
  /**
   * Writes all files under temporary names. A full or broken disk fails here, before `publish`.
   * @throws Failure (output)
   */
  prepare(content: CaptionContent): Promise<void>;
  /**
   * Renames the files to their final names, one after the other.
   * @throws Failure (output, exists)
   */
  publish(): Promise<readonly WrittenCaptions[]>;
  /** Removes unpublished files. Never throws. */
  abandon(): Promise<void>;
}

export interface CaptionFilesOptions extends FileDeps {
  readonly targets: readonly CaptionTarget[];
  /** Default `replace`. */
  readonly existing?: Existing | undefined;
  /** The flag that messages name; default: the flag for the format of each file. */
  readonly flag?: string | undefined;
  /** Folder for temporary files, on the same disk; default: the folder of each file. */
  readonly temporaryFolder?: string | undefined;
}

/**
 * Opens caption files before anything is billed, so that an unwritable folder fails early. If a file cannot be
 * opened, removes the others.
 * @throws Failure (output, exists, usage)
 */
export async function openCaptionFiles({
  targets,
  existing,
  flag,
  ...deps
}: CaptionFilesOptions): Promise<CaptionFiles> {
  const open: Open[] = [];
  const abandon = async (): Promise<void> => {
    for (const { output } of open) await output.abandon();
  };
  try {
    for (const target of targets) {
      const output = await openOutput({
        ...deps,
        path: target.path,
        existing,
        flag: flag ?? flagOf(target),
      });
      open.push({ output, target, cues: undefined });
    }
  } catch (error) {
    await abandon();
    throw error;
  }
  return {
    abandon,
    async prepare(content) {
      for (const each of open) {
        const { text, cues } = captionText(content, each.target.format);
        each.cues = cues;
        await each.output.write(Buffer.from(text));
        // Flushes the file, which fails if the disk is full.
        await each.output.checksum();
      }
    },
    async publish() {
      const written: WrittenCaptions[] = [];
      for (const { output, target, cues } of open) {
        const { path, bytes } = await output.publish();
        written.push({ format: target.format, path, bytes, cues });
      }
      return written;
    },
  };
}

/**
 * Writes caption files: all of them, or none if one cannot be written.
 * @throws Failure (output, exists, usage)
 */
export async function writeCaptions({
  timings,
  shape,
  ...options
}: CaptionFilesOptions & CaptionContent): Promise<readonly WrittenCaptions[]> {
  const files = await openCaptionFiles(options);
  try {
    await files.prepare({ timings, shape });
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
}

function captionText({ timings, shape }: CaptionContent, format: CaptionFormat) {
  if (format === 'json') return { text: timingsFile(timings), cues: undefined };
  const { content, cues } = subtitlesOf(timings, shape, format);
  return { text: content, cues };
}
