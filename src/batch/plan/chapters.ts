import type { Tags } from '../../audio/encode/tags.ts';
import { bookTags } from '../../speech/book-tags.ts';
import type { ExtractOptions } from '../../speech/document-source.ts';
import { extractDocument, extractSections } from '../../speech/document-source.ts';
import type { Section } from '../../text/chapters.ts';
import type { SpokenText } from '../../text/document.ts';
import { joinSpoken } from '../../text/document.ts';
import { maxDocumentBytes } from '../../text/formats/read-document.ts';
import type { BookFormat, DocumentFormat } from '../../text/formats/text-formats.ts';
import { sliceCodePoints } from '../../text/code-points.ts';
import type { InputFile } from './inputs.ts';
import { readWhole } from './inputs.ts';

/** A chapter of a book, or of another document with headings. */
export interface BookChapter {
  /** Number of the chapter in the book, from 1; 0 for the text before the first chapter. */
  readonly number: number;
  /** Number and title, such as `03 Loomings`. All numbers of a book have the same number of digits. */
  readonly label: string;
  readonly spoken: SpokenText;
  /** The tags of its audio file; undefined if the document has none. */
  readonly tags: Tags | undefined;
}

/**
 * Reads the chosen chapters of a book, or of another document with headings.
 * @throws Failure of kind `usage`
 */
export async function chaptersOf(
  file: InputFile,
  format: BookFormat,
  options: ExtractOptions,
): Promise<readonly BookChapter[]> {
  const bytes = await readWhole(file, maxDocumentBytes(format));
  const sections = await extractSections(file.name, format, bytes, options);
  const book = await bookTags(file.name, { bytes, format }, options.onNotice);
  const byNumber = new Map<number, Section[]>();
  for (const section of sections) {
    const own = byNumber.get(section.number) ?? [];
    byNumber.set(section.number, own);
    own.push(section);
  }
  return Array.from(byNumber, ([number, own]) => {
    const { title, total = 0 } = own[0] ?? {};
    const digits = String(number).padStart(String(total).length, '0');
    const isNamed = title !== undefined && title !== `Chapter ${number}`;
    return {
      number,
      label: isNamed ? `${digits} ${sliceCodePoints(title, 0, LONGEST_TITLE)}` : digits,
      spoken: joinSpoken(
        own.map(({ text }) => text),
        '\n\n',
      ),
      tags: total === 0 ? undefined : chapterTags(book, number, title),
    };
  });
}

// A longer title would make names that file systems do not allow.
const LONGEST_TITLE = 50;

function chapterTags(
  { author, cover, title: album }: Tags,
  track: number,
  title: string | undefined,
): Tags {
  return { title: title ?? album, author, album, cover, track: track === 0 ? undefined : track };
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
