import type { Option } from 'commander';
import { choiceOption } from '../../src/cli/flags/values.ts';
import type { Book } from '../../src/read-along/book.ts';
import type { ReadAlong } from '../../src/read-along/make-book.ts';
import type { Overlay } from '../../src/read-along/overlay.ts';
import { OVERLAYS } from '../../src/read-along/overlay.ts';
import { clock } from '../../src/script/report.ts';
import type { ScriptLine } from '../../src/script/script.ts';
import { unreadable } from '../../src/speech/text-source.ts';
import { counted } from '../../src/text/display.ts';
import { DocumentError } from '../../src/text/formats/document-error.ts';

/** Creates the flag `--overlay`. */
export function overlayOption(): Option {
  return choiceOption(
    '--overlay <unit>',
    'what a read-along book highlights: sentence, paragraph or word (default: sentence)',
    OVERLAYS,
  );
}

/**
 * Opens the book of a read-along book, and checks that its spoken documents can be marked.
 * @param shown path of the book, for messages
 * @param lines the spoken lines of the book
 * @throws Failure of kind `usage`
 */
export async function openSpokenBook(
  shown: string,
  bytes: Uint8Array,
  lines: readonly ScriptLine[],
): Promise<Book> {
  const documents = new Set(lines.flatMap(({ paragraph }) => paragraph?.file ?? []));
  const { openBook } = await import('../../src/read-along/book.ts');
  try {
    return await openBook(bytes, [...documents]);
  } catch (error) {
    if (error instanceof DocumentError) throw unreadable(shown, error);
    throw error;
  }
}

/** A read-along book, as `--json` describes it. */
export interface ReadAlongDocument {
  readonly output: string;
  readonly bytes: number;
  readonly durationMs: number;
  /** What the book highlights. */
  readonly overlay: Overlay;
  /** Number of spoken documents. */
  readonly documents: number;
  /** Number of highlights. */
  readonly highlights: number;
  /** Whether every word has a time. */
  readonly isTimed: boolean;
}

/** Returns the fields of a read-along book for `--json`, a line about it, and warnings. */
export function describeReadAlong(
  { bytes, clips, documents, durationMs, hasClass, path }: ReadAlong,
  overlay: Overlay,
  isTimed: boolean,
): {
  readonly fields: ReadAlongDocument;
  readonly human: string;
  readonly warnings: readonly string[];
} {
  return {
    fields: { output: path, bytes, durationMs, overlay, documents, highlights: clips, isTimed },
    human: `${path}: ${clock(durationMs)}, ${counted(documents, 'document')}, ${counted(clips, 'highlight')}`,
    warnings: [...(isTimed ? [] : [UNTIMED]), ...(hasClass ? [] : [UNSTYLED])],
  };
}

const UNTIMED =
  'some words have no times, because foley did not find them in the speech; the highlights near them may be early or late';

const UNSTYLED =
  'the read-along book names no class for highlights, because a spoken document has no style sheet; reading systems choose the highlight';
