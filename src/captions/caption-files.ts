import type { FileDeps } from '../durable/files.ts';
import type { Existing, Output } from '../durable/output.ts';
import { openOutput } from '../durable/publish.ts';
import type { CueShape } from './cue-shape.ts';
import { subtitlesOf } from './subtitles.ts';
import type { Timings } from './timings.ts';
import { timingsFile } from './timings.ts';

export type CaptionFormat = 'srt' | 'vtt' | 'json';

/** A file that captions go into: subtitles, or the timings themselves. */
export interface CaptionTarget {
  readonly path: string;
  readonly format: CaptionFormat;
}

export interface CaptionContent {
  readonly timings: Timings;
  readonly shape: CueShape;
}

/** A caption file that has its final name. */
export interface WrittenCaptions extends CaptionTarget {
  readonly bytes: number;
  /** How many cues are in it; timings have none. */
  readonly cues: number | undefined;
}

/** Caption files that were opened and have nothing in them yet. */
export interface CaptionFiles {
  /**
   * Writes all of them beside their final names. What could fail has failed by then, as far as it can
   * be known: a full disk, a broken one.
   * @throws Failure (output)
   */
  prepare(content: CaptionContent): Promise<void>;
  /**
   * Gives them their final names, one after the other.
   * @throws Failure (output, exists)
   */
  publish(): Promise<readonly WrittenCaptions[]>;
  /** Removes what has no final name yet. Never throws. */
  abandon(): Promise<void>;
}

export interface CaptionFilesOptions extends FileDeps {
  readonly targets: readonly CaptionTarget[];
  /** Default `replace`. */
  readonly existing?: Existing | undefined;
  /** With which the person names another place; by default the flag of each file. */
  readonly flag?: string | undefined;
  /** Where they grow, on the same disk; by default beside their final names. */
  readonly temporaryFolder?: string | undefined;
}

/**
 * Opens the files for captions before anything is billed, so that a folder that cannot be written is found
 * now. When one cannot be opened none is left behind.
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
        // Until it is all in the file, nobody knows whether there is room for it.
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
 * Writes captions into several files: all of them, or, when one cannot be written, none.
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

/** The flag that names such a file. */
export function flagOf({ format }: Pick<CaptionTarget, 'format'>): string {
  return format === 'json' ? '--timings' : '--subtitles';
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
