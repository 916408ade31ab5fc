import path from 'node:path';
import { usageFailure } from '../../src/errors/failure.ts';
import type { Book } from '../../src/read-along/book.ts';
import type { Overlay, OverlayAudio } from '../../src/read-along/overlay.ts';
import type { ScriptFormat, ScriptLine } from '../../src/script/script.ts';
import { display } from '../../src/text/display.ts';
import { openSpokenBook } from '../shared/read-along.ts';
import type { ScriptFlags } from './flags.ts';

/** The read-along book that `foley script` makes instead of a recording. */
export interface OverlayPlan {
  readonly book: Book;
  readonly overlay: Overlay;
  readonly format: OverlayAudio;
}

/** Returns true if the output is a read-along book, by its extension. */
export function isReadAlong({ output }: ScriptFlags): boolean {
  return path.extname(output).toLowerCase() === '.epub';
}

/**
 * Checks the flags of a read-along book.
 * @param format format of the script
 * @throws Failure of kind `usage` if a flag does not work with the output, or the script is no book
 */
export function checkOverlayFlags(file: string, format: ScriptFormat, flags: ScriptFlags): void {
  const { output, overlay, overlayAudio } = flags;
  if (!isReadAlong(flags)) {
    const flag = overlay === undefined ? overlayAudio && '--overlay-audio' : '--overlay';
    if (flag === undefined) return;
    throw usageFailure(
      `${flag} requires an .epub file as --output, not "${output}"`,
      `Leave ${flag} out, or write a read-along book: -o book.epub`,
    );
  }
  if (format !== 'epub') {
    throw usageFailure(
      `--output is "${output}", but ${display(file)} is not an EPUB book`,
      'A read-along book is made from an EPUB book. Choose another --output, such as talk.mp3.',
    );
  }
  const { album, author, chapters, cover, stems, subtitles, timings, title } = flags;
  const others = { title, author, album, cover, subtitles, timings, chapters, stems };
  const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (other === undefined) return;
  throw usageFailure(
    `--${other} does not work with an .epub file as --output`,
    `Leave --${other} out, or make a recording as well: -o book.m4b`,
  );
}

/**
 * Opens the book, and checks that its spoken documents can be marked.
 * @throws Failure of kind `usage`
 */
export async function planOverlay(
  file: string,
  bytes: Uint8Array,
  lines: readonly ScriptLine[],
  { overlay = 'sentence', overlayAudio = 'mp3' }: ScriptFlags,
): Promise<OverlayPlan> {
  const book = await openSpokenBook(file, bytes, lines);
  return { book, overlay, format: overlayAudio };
}
