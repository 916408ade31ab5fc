import type { Overlay } from '../../src/read-along/overlay.ts';
import type { SpokenTextFlags } from '../../src/speech/speech-text.ts';
import type { CaptionFlags } from '../shared/flags/captions.ts';

/** The flags of `foley align`. */
export interface AlignFlags extends CaptionFlags, SpokenTextFlags {
  readonly file?: string;
  readonly language?: string;
  readonly epub?: string;
  readonly audio?: string;
  readonly output?: string;
  readonly overlay?: Overlay;
}

/** How `foley align` makes a read-along book, for hints. */
export const BOOK_USAGE =
  'Make a read-along book: foley align --epub book.epub --audio DIR -o out.epub';
