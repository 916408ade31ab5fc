import { usageFailure } from '../errors/failure.ts';
import { TextEncodingError } from '../text/decode.ts';
import { display } from '../text/display.ts';
import type { SpokenText } from '../text/document.ts';
import { joinSpoken } from '../text/document.ts';
import { DocumentError } from '../text/formats/document-error.ts';
import { maxDocumentBytes, readDocument } from '../text/formats/read-document.ts';
import type { CodeMode, DocumentFormat } from '../text/formats/text-formats.ts';
import type { TextSource } from './text-source.ts';
import { readBytes, unreadable } from './text-source.ts';

/**
 * Reads a document, and joins its chapters.
 * @throws Failure of kind `usage` when the document cannot be read, or contains nothing to speak
 */
export async function readDocumentSource(
  source: TextSource,
  format: DocumentFormat,
  code: CodeMode | undefined,
): Promise<SpokenText> {
  const { args, file } = source;
  const isFile = file !== undefined && file !== '-';
  const name = isFile ? file : args.length > 0 ? 'the text' : 'stdin';
  const bytes = await readBytes(source, maxDocumentBytes(format));
  return joinSpoken(await extractDocument(name, format, bytes, code), '\n\n');
}

/**
 * Extracts the text of a document, as `readDocument` does.
 * @param name name of the document, for messages
 * @throws Failure of kind `usage`
 */
export async function extractDocument(
  name: string,
  format: DocumentFormat,
  bytes: Uint8Array,
  code: CodeMode | undefined,
): Promise<readonly SpokenText[]> {
  try {
    return await readDocument(format, bytes, code);
  } catch (error) {
    if (error instanceof TextEncodingError) throw unreadable(name, error);
    if (!(error instanceof DocumentError)) throw error;
    const { hint, line, message: problem } = error;
    const fileAndLine = line === undefined ? display(name) : `${display(name)}, line ${line}`;
    throw usageFailure(`${fileAndLine}: ${problem}`, hint);
  }
}
