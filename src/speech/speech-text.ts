import path from 'node:path';
import type { Format } from '../audio/formats.ts';
import { LARGEST_WAV_LENGTH } from '../audio/wav.ts';
import type { SettingSources } from '../config/settings.ts';
import { resolveSetting } from '../config/settings.ts';
import type { Failure } from '../errors/failure.ts';
import { usageFailure } from '../errors/failure.ts';
import { display } from '../text/display.ts';
import type { ChapterChoice } from '../text/chapters.ts';
import type { SpokenText } from '../text/document.ts';
import type { Lexicon } from '../text/lexicon.ts';
import { formatOfContent } from '../text/formats/foreign-formats.ts';
import { markupNotice } from '../text/formats/guess-format.ts';
import type {
  BookFormat,
  CodeMode,
  DocumentFormat,
  TextFormat,
} from '../text/formats/text-formats.ts';
import { documentFormat, hasChapters, hasCode } from '../text/formats/text-formats.ts';
import type { LexiconFile, LexiconPlace } from './prepare-text.ts';
import type { TextSource } from './text-source.ts';
import { decodeText, nameOf, readBytes, readText } from './text-source.ts';

/** A text to speak, with the words and pauses of its document. */
export interface SpeechText {
  /** The text to send. */
  readonly text: string;
  /** The words and pauses of the document; undefined for plain text, which is sent unchanged. */
  readonly spoken: SpokenText | undefined;
  /** The document that the text comes from; undefined for every text that cannot have chapters. */
  readonly book?: { readonly bytes: Uint8Array; readonly format: BookFormat } | undefined;
}

/** The flags that control how a document is read. */
export interface DocumentFlags extends ChapterChoice {
  readonly textFormat?: TextFormat | undefined;
  readonly code?: CodeMode | undefined;
  /** Whether descriptions of sounds, such as `[MUSIC]`, are left out of subtitles. */
  readonly dropSounds?: true | undefined;
}

/** The flags that control how a text is spoken, such as `--lexicon`. */
export interface SpokenTextFlags extends DocumentFlags {
  readonly lexicon?: readonly string[] | undefined;
  readonly pauses?: true | undefined;
  /** Whether a line that has only `[voice NAME]` changes the voice. */
  readonly voices?: true | undefined;
}

/**
 * Reads the text to speak from plain text or a document. Converts pause marks and applies lexicons if the user asks for
 * them.
 * @throws Failure of kind `usage` or `config`
 */
export async function readSpeech(
  source: TextSource,
  flags: SpokenTextFlags,
  settings: SettingSources,
): Promise<SpeechText> {
  const { args, file } = source;
  const { code, textFormat } = flags;
  const format = documentFormat(textFormat, args.length > 0 ? undefined : file);
  if (code !== undefined && !hasCode(format)) throw codeFailure();
  if (flags.dropSounds === true && format !== 'subtitles') throw dropSoundsFailure();
  // Without a format, the content decides.
  if (format !== undefined && !hasChapters(format)) refuseChapterFlags(flags);
  const lexicon = await openLexicon(flags.lexicon, settings, source);
  const { book, spoken, text } = await readFormat(
    { ...source, isPlain: textFormat === 'plain' },
    format,
    flags,
  );
  const [pauses, voices] = [flags.pauses === true, flags.voices === true];
  if (lexicon === undefined && !pauses && !voices) return { text, spoken, book };
  const { plainText } = await import('../text/document.ts');
  const { prepareTextUntil } = await import('./prepare-text.ts');
  const where = file !== undefined && file !== '-' ? file : 'the text';
  const original = spoken ?? plainText(text);
  const preparation = { lexicon, pauses, voices };
  const prepared = await prepareTextUntil(original, where, preparation, source.signal);
  return { text: prepared.text, spoken: prepared, book };
}

async function readFormat(
  source: TextSource,
  format: DocumentFormat | undefined,
  flags: DocumentFlags,
): Promise<SpeechText> {
  if (format === undefined && (source.args.length > 0 || source.isPlain === true)) {
    refuseChapterFlags(flags);
    return noticeMarkup(await readText(source), source);
  }
  const bytes = format === undefined ? await readBytes(source) : undefined;
  const known = format ?? formatOfContent(bytes ?? new Uint8Array(0));
  if (known === undefined) {
    refuseChapterFlags(flags);
    return noticeMarkup(decodeText(source, bytes ?? new Uint8Array(0)), source);
  }
  const { readDocumentSource } = await import('./document-source.ts');
  const document = await readDocumentSource(source, known, flags, bytes);
  const { spoken } = document;
  const book = hasChapters(known) ? { bytes: document.bytes, format: known } : undefined;
  return { text: spoken.text, spoken, book };
}

function noticeMarkup(text: string, source: TextSource): SpeechText {
  const name = source.args.length > 0 ? 'the text' : nameOf(source);
  const sentence = source.isPlain === true ? undefined : markupNotice(text, display(name));
  if (sentence !== undefined) source.notice?.(`foley: ${sentence}`);
  return { text, spoken: undefined };
}

/**
 * A function that changes how a text is spoken. Throws a Failure of kind `usage` if the text has an invalid pause mark
 * or only pauses. `where` is the name of the text in messages.
 */
export type TextPreparation = (source: SpokenText, where: string) => SpokenText;

/**
 * Returns a function that converts pause marks and replaces words that have a lexicon entry. Returns undefined if the
 * user asks for neither.
 * @throws Failure of kind `usage` or `config`
 */
export async function openPreparation(
  { lexicon: given, pauses }: SpokenTextFlags,
  settings: SettingSources,
  place: LexiconPlace,
): Promise<TextPreparation | undefined> {
  const lexicon = await openLexicon(given, settings, place);
  if (lexicon === undefined && pauses !== true) return undefined;
  const { prepareText } = await import('./prepare-text.ts');
  return (source, where) => prepareText(source, where, { lexicon, pauses: pauses === true });
}

/**
 * Reads the lexicons of the `--lexicon` flags. Without these flags, reads the lexicon in the settings. Returns
 * undefined if there is no lexicon.
 * @param given the values of `--lexicon`
 * @throws Failure of kind `usage` or `config`
 */
export async function openLexicon(
  given: readonly string[] | undefined,
  settings: SettingSources,
  place: LexiconPlace,
): Promise<Lexicon | undefined> {
  const lexicons = lexiconFiles(given, settings);
  if (lexicons.length === 0) return undefined;
  const { loadLexicon } = await import('./prepare-text.ts');
  return loadLexicon(lexicons, place);
}

function lexiconFiles(
  given: readonly string[] | undefined,
  settings: SettingSources,
): readonly LexiconFile[] {
  if (given !== undefined) return given.map((file) => ({ file, inside: undefined }));
  const setting = resolveSetting(settings, 'lexicon');
  if (setting === undefined || !('file' in setting.origin)) return [];
  const { file, kind } = setting.origin;
  const folder = path.dirname(file);
  const inside = kind === 'project' ? folder : undefined;
  return [{ file: path.resolve(folder, setting.value), inside }];
}

/** Creates the failure for `--drop-sounds` with a text that is not subtitles. */
export function dropSoundsFailure(): Failure {
  return usageFailure(
    '--drop-sounds works with subtitles only',
    'Leave it out, or name the format with --text-format subtitles.',
  );
}

/**
 * @param formatFlag the flag that names the format of the text
 * @throws Failure of kind `usage` if a flag selects chapters, for a text that has none
 */
export function refuseChapterFlags(
  { onlyChapters, skipFrontMatter }: ChapterChoice,
  formatFlag = '--text-format',
): void {
  if (onlyChapters === undefined && skipFrontMatter === undefined) return;
  const flag = onlyChapters === undefined ? '--skip-front-matter' : '--only-chapters';
  throw usageFailure(
    `${flag} works with EPUB, Word, OpenDocument, Rich Text and FictionBook only`,
    `Leave it out, or name the format with ${formatFlag}.`,
  );
}

/** Creates the failure for `--code` with a format that has no code blocks. */
export function codeFailure(): Failure {
  return usageFailure(
    '--code works with Markdown, HTML and EPUB only',
    'Leave it out, or name the format with --text-format.',
  );
}

/**
 * Refuses a text that has pauses. For commands that cannot speak pauses.
 * @throws Failure of kind `usage`
 */
export function refusePauses(spoken: SpokenText | undefined, command: string): void {
  if (spoken === undefined || spoken.pauses.length === 0) return;
  throw usageFailure(
    `the text has pauses, which ${command} cannot speak`,
    'Remove the <break> elements, or use `foley tts`.',
  );
}

/**
 * Rejects a text for a wav file if its pauses alone last longer than a wav file can. Allows pauses of any length for
 * other formats.
 * @param where the source of the text, as a prefix of the message, such as `a.txt: `
 * @throws Failure of kind `usage`
 */
export function refuseLongPauses(spoken: SpokenText | undefined, format: Format, where = ''): void {
  const seconds = pauseMs(spoken) / 1000;
  if (format !== 'wav' || seconds <= LONGEST_WAV_SECONDS) return;
  throw usageFailure(
    `${where}the pauses (--pauses or <break>) last ${Math.ceil(seconds)} s: a wav file holds at most ${LONGEST_WAV_SECONDS} s (4 GiB)`,
    'Use fewer or shorter pauses, or --format mp3 or ogg.',
  );
}

// A wav file of 4 GiB with 44,100 samples of 16 bits per second.
const LONGEST_WAV_SECONDS = Math.floor(LARGEST_WAV_LENGTH / (44_100 * 2));

/** Returns the total length of the pauses in a text, in milliseconds. */
export function pauseMs(spoken: SpokenText | undefined): number {
  return spoken?.pauses.reduce((sum, { ms }) => sum + ms, 0) ?? 0;
}
