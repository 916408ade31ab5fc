import { TEXT_MAX_CHARACTERS } from '../../contract/limits.ts';
import type { ExtractOptions } from '../../speech/document-source.ts';
import { extractDocument } from '../../speech/document-source.ts';
import type { SpokenText } from '../../text/document.ts';
import { plainText } from '../../text/document.ts';
import { maxDocumentBytes } from '../../text/formats/read-document.ts';
import type { DocumentFormat } from '../../text/formats/text-formats.ts';
import { splitParts } from '../../text/parts.ts';
import type { InputFile } from './inputs.ts';
import { readWhole } from './inputs.ts';

/** A chapter of a book, or a part of a chapter that is too long for one request. */
export interface BookChapter {
  /**
   * Number of the chapter in the book, zero-padded. The parts of a long chapter have numbers such as `3-1` and `3-2`.
   */
  readonly number: string;
  readonly spoken: SpokenText;
}

/**
 * Reads the chapters of a book, or of another document with headings.
 * @throws Failure of kind `usage`
 */
export async function chaptersOf(
  file: InputFile,
  format: DocumentFormat,
  options: ExtractOptions,
): Promise<readonly BookChapter[]> {
  const chapters = await readDocumentFile(file, format, options);
  return chapters.flatMap(({ text }, index) => {
    const number = padded(index + 1, chapters.length);
    const parts = splitParts(text, TEXT_MAX_CHARACTERS);
    return parts.map((part, at) => ({
      number: parts.length === 1 ? number : `${number}-${padded(at + 1, parts.length)}`,
      spoken: plainText(part.text),
    }));
  });
}

/**
 * Extracts the text of a document.
 * @throws Failure of kind `usage`
 */
export async function readDocumentFile(
  file: InputFile,
  format: DocumentFormat,
  options: ExtractOptions,
): Promise<readonly SpokenText[]> {
  const bytes = await readWhole(file, maxDocumentBytes(format));
  return extractDocument(file.name, format, bytes, options);
}

/** Returns whether two texts are equal apart from white space. */
export function hasSameWords(one: string, other: string): boolean {
  return joinedWords(one) === joinedWords(other);
}

function joinedWords(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

function padded(number: number, total: number): string {
  return String(number).padStart(String(total).length, '0');
}
