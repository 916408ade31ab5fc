import { countCodePoints } from '../code-points.ts';
import { decodeUtf8 } from '../decode.ts';
import type { SpokenText } from '../document.ts';
import { decodeMarkup } from './decode-markup.ts';
import { DocumentError } from './document-error.ts';
import type { CodeMode, DocumentFormat } from './text-formats.ts';

const MEBIBYTE = 1024 * 1024;

// Limits the memory of the parsers. Documents with pictures, which foley does not read, may be larger.
const MAX_BYTES: Readonly<Record<DocumentFormat, number>> = {
  markdown: 4 * MEBIBYTE,
  html: 8 * MEBIBYTE,
  epub: 64 * MEBIBYTE,
  docx: 64 * MEBIBYTE,
  odt: 64 * MEBIBYTE,
  rtf: 64 * MEBIBYTE,
  fb2: 32 * MEBIBYTE,
  ssml: 4 * MEBIBYTE,
  subtitles: 4 * MEBIBYTE,
};

/** Returns the maximum size of a document in bytes. */
export function maxDocumentBytes(format: DocumentFormat): number {
  return MAX_BYTES[format];
}

/**
 * Extracts the text to speak from a document: one text for each chapter of a book, otherwise one text. Leaves out
 * chapters without letters or digits.
 * @param onNotice called with a sentence about content that is missing from the document; if undefined, such a document is
 * refused
 * @throws DocumentError if the document cannot be read or contains nothing to speak
 * @throws TextEncodingError if the text is not UTF-8
 */
export async function readDocument(
  format: DocumentFormat,
  bytes: Uint8Array,
  code: CodeMode = 'skip',
  onNotice?: (sentence: string) => void,
): Promise<readonly SpokenText[]> {
  const parts = await extract(format, bytes, { code, onNotice });
  const spoken = parts.filter(({ text }) => SPEAKABLE.test(text));
  if (spoken.length > 0) return format === 'epub' ? spoken.map(withChapters) : spoken;
  throw new DocumentError('the document has no text to speak', {
    hint: 'Footnotes, comments and hidden text are not spoken. Code blocks are spoken only with --code read.',
  });
}

// In a book that has no table of contents, each file is a chapter. If its first paragraph is short, it is the title.
function withChapters(text: SpokenText, index: number): SpokenText {
  if (text.chapters !== undefined) return text;
  const [first = '', ...others] = text.text.split(/\n{2,}/);
  const isTitle = others.length > 0 && countCodePoints(first) <= LONGEST_TITLE;
  const title = isTitle ? first.replace(/\.$/, '') : `Chapter ${index + 1}`;
  return { ...text, chapters: [{ title, at: 0 }] };
}

const LONGEST_TITLE = 80;

const SPEAKABLE = /[\p{L}\p{N}]/u;

async function extract(
  format: DocumentFormat,
  bytes: Uint8Array,
  {
    code,
    onNotice,
  }: { readonly code: CodeMode; readonly onNotice: ((sentence: string) => void) | undefined },
): Promise<readonly SpokenText[]> {
  switch (format) {
    case 'epub': {
      const { readEpub } = await import('./epub.ts');
      return readEpub(bytes, code, onNotice);
    }
    case 'docx': {
      const { readDocx } = await import('./docx.ts');
      return readDocx(bytes);
    }
    case 'odt': {
      const { readOdt } = await import('./odt.ts');
      return readOdt(bytes);
    }
    case 'rtf': {
      const { readRtf } = await import('./rtf.ts');
      return readRtf(bytes);
    }
    case 'fb2': {
      const { readFb2 } = await import('./fb2.ts');
      return readFb2(bytes);
    }
    case 'markdown': {
      const { readMarkdown } = await import('./markdown.ts');
      return [readMarkdown(decodeUtf8(bytes), code)];
    }
    case 'html': {
      const { readHtml } = await import('./html.ts');
      return [readHtml(decodeMarkup(bytes), code)];
    }
    case 'ssml': {
      const { readSsml } = await import('./ssml.ts');
      return [readSsml(decodeMarkup(bytes))];
    }
    case 'subtitles': {
      const { readSubtitles } = await import('./subtitles.ts');
      return [readSubtitles(decodeUtf8(bytes))];
    }
  }
}
