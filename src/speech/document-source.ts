import { decodeUtf8, TextEncodingError } from '../text/decode.ts';
import { display } from '../text/display.ts';
import type { ChapterChoice, Section } from '../text/chapters.ts';
import { chosenSections, sectionsOf } from '../text/chapters.ts';
import type { SpokenText } from '../text/document.ts';
import { joinSpoken } from '../text/document.ts';
import { DocumentError } from '../text/formats/document-error.ts';
import { refuseOtherFormat } from '../text/formats/foreign-formats.ts';
import { maxDocumentBytes } from '../text/formats/read-document.ts';
import { withoutSounds } from '../text/formats/sounds.ts';
import type { CodeMode, DocumentFormat } from '../text/formats/text-formats.ts';
import { readDocumentUntil } from './document-thread.ts';
import type { TextSource } from './text-source.ts';
import { readBytes, unreadable } from './text-source.ts';

/**
 * Reads a document, and joins its chapters.
 * @param read the bytes of the document, if they are already read
 * @throws Failure of kind `usage` when the document cannot be read, or contains nothing to speak
 */
export async function readDocumentSource(
  source: TextSource,
  format: DocumentFormat,
  { code, dropSounds, onlyChapters, skipFrontMatter }: ExtractOptions,
  read?: Uint8Array,
): Promise<{ readonly spoken: SpokenText; readonly bytes: Uint8Array }> {
  const { args, file } = source;
  const isFile = file !== undefined && file !== '-';
  const name = isFile ? file : args.length > 0 ? 'the text' : 'stdin';
  const bytes = read ?? (await readBytes(source, maxDocumentBytes(format)));
  const { notice } = source;
  const onNotice = notice && ((sentence: string) => notice(`foley: ${sentence}`));
  const { signal } = source;
  const options = { code, dropSounds, onlyChapters, skipFrontMatter, onNotice, signal };
  const parts = await extractDocument(name, format, bytes, options);
  return { spoken: joinSpoken(parts, '\n\n'), bytes };
}

export interface ExtractOptions extends ChapterChoice {
  readonly code?: CodeMode | undefined;
  /** Whether descriptions of sounds, such as `[MUSIC]`, are left out of subtitles. */
  readonly dropSounds?: true | undefined;
  /** Stops the reading; undefined if it is not stopped. */
  readonly signal?: AbortSignal | undefined;
  /** Called with a sentence about content that is missing; if undefined, such a document is refused. */
  readonly onNotice?: ((sentence: string) => void) | undefined;
}

/**
 * Extracts the text of a document, as `readDocument` does, or that of the chosen chapters. On abort, throws the signal's
 * abort reason.
 * @param name name of the document, for messages
 * @throws Failure of kind `usage`
 */
export async function extractDocument(
  name: string,
  format: DocumentFormat,
  given: Uint8Array,
  options: ExtractOptions,
): Promise<readonly SpokenText[]> {
  const { onlyChapters, skipFrontMatter } = options;
  if (onlyChapters !== undefined || skipFrontMatter !== undefined) {
    const sections = await extractSections(name, format, given, options);
    return sections.map(({ text }) => text);
  }
  return extract(name, format, given, options, (parts) => parts);
}

/**
 * Extracts the chosen chapters of a document.
 * @param name name of the document, for messages
 * @throws Failure of kind `usage`; on abort, the signal's abort reason
 */
export async function extractSections(
  name: string,
  format: DocumentFormat,
  given: Uint8Array,
  options: ExtractOptions,
): Promise<readonly Section[]> {
  return extract(name, format, given, options, (parts, onNotice) =>
    chosenSections(sectionsOf(parts), options, onNotice),
  );
}

async function extract<Result>(
  name: string,
  format: DocumentFormat,
  given: Uint8Array,
  { code, dropSounds, onNotice, signal }: ExtractOptions,
  take: (parts: readonly SpokenText[], onNotice: ExtractOptions['onNotice']) => Result,
): Promise<Result> {
  try {
    refuseOtherFormat(format, given);
    const bytes =
      dropSounds === true && format === 'subtitles'
        ? Buffer.from(withoutSounds(decodeUtf8(given)))
        : given;
    const notice = onNotice && ((text: string) => onNotice(`${display(name)}: ${display(text)}`));
    return take(
      await readDocumentUntil({ format, bytes, code }, { signal, onNotice: notice }),
      notice,
    );
  } catch (error) {
    if (!(error instanceof TextEncodingError || error instanceof DocumentError)) throw error;
    throw unreadable(name, error);
  }
}
