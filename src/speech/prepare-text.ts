import path from 'node:path';
import { readRegularFile } from '../durable/regular-file.ts';
import type { FileSystem } from '../system/file-system.ts';
import { configFailure, usageFailure } from '../errors/failure.ts';
import { display } from '../text/display.ts';
import type { SpokenText } from '../text/document.ts';
import { Lexicon } from '../text/lexicon.ts';
import type { LexiconEntry } from '../text/word-matcher.ts';
import { SPEAKABLE } from '../text/parts.ts';
import { PAUSE_HINT, PauseError, readPauses } from '../text/pauses.ts';
import { readVoiceMarks } from '../text/voice-marks.ts';
import { applyLexiconUntil, readLexiconUntil } from './document-thread.ts';
import { unreadable } from './text-source.ts';
import type { System } from '../system/system.ts';

/** A lexicon to read. */
export interface LexiconFile {
  readonly file: string;
  /** The folder that must contain the file; undefined if any folder is allowed. */
  readonly inside: string | undefined;
}

/** The files of a lexicon, and the signal that stops its reading. */
export interface LexiconPlace {
  readonly system: System;
  readonly signal: AbortSignal;
}

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads lexicons. Entries of later files override those of earlier files.
 * @throws Failure: of kind `config` if a file is outside of its folder `inside`; otherwise of kind `usage`, with the
 * file and the problem
 */
export async function loadLexicon(
  lexicons: readonly LexiconFile[],
  place: LexiconPlace,
): Promise<Lexicon> {
  const entries: LexiconEntry[][] = [];
  for (const lexicon of lexicons) entries.push([...(await entriesOf(lexicon, place))]);
  return new Lexicon(entries.flat());
}

async function entriesOf(
  { file, inside }: LexiconFile,
  { signal, system: { files } }: LexiconPlace,
): Promise<readonly LexiconEntry[]> {
  const name = display(file);
  try {
    if (inside !== undefined) await requireInside(file, inside, files);
    const { size } = await files.stat(file);
    if (size > MAX_BYTES) {
      throw usageFailure(`${name} is larger than ${MAX_BYTES / 1024 / 1024} MiB; is it a lexicon?`);
    }
    // The user may name a pipe with --lexicon. Another person may have written the settings of the project.
    const bytes = await (inside === undefined
      ? files.readFile(file)
      : readRegularFile(file, files));
    return await readLexiconUntil(bytes, signal);
  } catch (error) {
    throw unreadable(name, error);
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

interface Preparation {
  readonly lexicon: Lexicon | undefined;
  /** Whether the text has pause marks. */
  readonly pauses: boolean;
  /** Whether the text has marks of voices; default false. */
  readonly voices?: boolean;
}

/**
 * Converts pause marks to silences, and replaces words that have a lexicon entry.
 * @param where name of the text, for messages
 * @throws Failure of kind `usage` for an invalid pause mark, or a text that has only pauses
 */
export function prepareText(
  source: SpokenText,
  where: string,
  { lexicon, pauses }: Preparation,
): SpokenText {
  const paused = pauses ? withPauses(source, where) : source;
  return requireWords(lexicon?.apply(paused) ?? paused, where);
}

/**
 * Does the same as {@link prepareText} for a text of any length, and converts marks of voices. The signal stops the
 * replacement of words.
 * @throws Failure of kind `usage`; on abort, the signal's abort reason
 */
export async function prepareTextUntil(
  source: SpokenText,
  where: string,
  { lexicon, pauses, voices = false }: Preparation,
  signal: AbortSignal,
): Promise<SpokenText> {
  const voiced = voices ? readVoiceMarks(source) : source;
  const paused = pauses ? withPauses(voiced, where) : voiced;
  if (lexicon === undefined) return requireWords(paused, where);
  return requireWords(await applyLexiconUntil(lexicon, paused, signal), where);
}

function requireWords(prepared: SpokenText, where: string): SpokenText {
  if (prepared.pauses.length === 0 || SPEAKABLE.test(prepared.text)) return prepared;
  const hasVoices = prepared.pauses.some(({ voice }) => voice !== undefined);
  const marks = hasVoices ? 'marks of pauses or voices' : 'pauses';
  throw usageFailure(`${display(where)} has only ${marks}`, 'Add some text to speak.');
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
