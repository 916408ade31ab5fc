import path from 'node:path';
import type { FileSystem } from '../effects/file-system.ts';
import { configFailure, usageFailure } from '../errors/failure.ts';
import { decodeUtf8 } from '../text/decode.ts';
import { display } from '../text/display.ts';
import type { SpokenText } from '../text/document.ts';
import { DocumentError } from '../text/formats/document-error.ts';
import { readLexicon } from '../text/formats/read-lexicon.ts';
import type { LexiconEntry } from '../text/lexicon.ts';
import { Lexicon } from '../text/lexicon.ts';
import { SPEAKABLE } from '../text/parts.ts';
import { PAUSE_HINT, PauseError, readPauses } from '../text/pauses.ts';
import { unreadable } from './text-source.ts';

/** A lexicon to read. */
export interface LexiconFile {
  readonly file: string;
  /** The folder that must contain the file; undefined if any folder is allowed. */
  readonly inside: string | undefined;
}

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads lexicons. Entries of later files override those of earlier files.
 * @throws Failure: of kind `config` if a file is outside of its folder `inside`; otherwise of kind `usage`, with the
 * file and the problem
 */
export async function loadLexicon(
  lexicons: readonly LexiconFile[],
  files: FileSystem,
): Promise<Lexicon> {
  const entries: LexiconEntry[][] = [];
  for (const lexicon of lexicons) entries.push([...(await entriesOf(lexicon, files))]);
  return new Lexicon(entries.flat());
}

async function entriesOf(
  { file, inside }: LexiconFile,
  files: FileSystem,
): Promise<readonly LexiconEntry[]> {
  const name = display(file);
  try {
    if (inside !== undefined) await requireInside(file, inside, files);
    const { size } = await files.stat(file);
    if (size > MAX_BYTES) {
      throw usageFailure(`${name} is larger than ${MAX_BYTES / 1024 / 1024} MiB; is it a lexicon?`);
    }
    return await readLexicon(decodeUtf8(await files.readFile(file)));
  } catch (error) {
    if (!(error instanceof DocumentError)) throw unreadable(name, error);
    const { hint, line, message: problem } = error;
    const fileAndLine = line === undefined ? name : `${name}, line ${line}`;
    throw usageFailure(`${fileAndLine}: ${problem}`, hint);
  }
}

async function requireInside(file: string, folder: string, files: FileSystem): Promise<void> {
  const relative = path.relative(await files.realpath(folder), await files.realpath(file));
  if (!relative.startsWith('..') && !path.isAbsolute(relative)) return;
  throw configFailure(
    `the lexicon of the project is outside of the project's folder: ${display(file)}`,
    'Move the file into the project, or give it with --lexicon.',
  );
}

/**
 * Converts pause marks to silences, and replaces words that have a lexicon entry.
 * @param where name of the text, for messages
 * @throws Failure of kind `usage` for an invalid pause mark, or a text that has only pauses
 */
export function prepareText(
  source: SpokenText,
  where: string,
  { lexicon, pauses }: { readonly lexicon: Lexicon | undefined; readonly pauses: boolean },
): SpokenText {
  const paused = pauses ? withPauses(source, where) : source;
  const prepared = lexicon?.apply(paused) ?? paused;
  if (prepared.pauses.length === 0 || SPEAKABLE.test(prepared.text)) return prepared;
  throw usageFailure(`${display(where)} has only pauses`, 'Add some text to speak.');
}

function withPauses(source: SpokenText, where: string): SpokenText {
  try {
    return readPauses(source);
  } catch (error) {
    if (!(error instanceof PauseError)) throw error;
    const { column, line, message: problem } = error;
    const position = `${display(where)}, line ${line}, column ${column}`;
    throw usageFailure(`${position}: ${display(problem)}`, PAUSE_HINT);
  }
}
