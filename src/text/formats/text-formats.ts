/** The allowed values of `--text-format`. */
export const TEXT_FORMATS = [
  'auto',
  'plain',
  'markdown',
  'html',
  'epub',
  'docx',
  'odt',
  'rtf',
  'fb2',
  'ssml',
  'subtitles',
] as const;
export type TextFormat = (typeof TEXT_FORMATS)[number];

/** A text format from which foley extracts the text to speak, such as Markdown. */
export type DocumentFormat = Exclude<TextFormat, 'auto' | 'plain'>;

/**
 * The allowed values of `--code`, which decides whether code blocks are read, skipped or announced.
 */
export const CODE_MODES = ['read', 'skip', 'announce'] as const;
export type CodeMode = (typeof CODE_MODES)[number];

const EXTENSIONS: Readonly<Record<string, DocumentFormat>> = {
  md: 'markdown',
  markdown: 'markdown',
  mdown: 'markdown',
  mdwn: 'markdown',
  mkd: 'markdown',
  mkdn: 'markdown',
  mdx: 'markdown',
  qmd: 'markdown',
  rmd: 'markdown',
  html: 'html',
  htm: 'html',
  xhtml: 'html',
  xht: 'html',
  epub: 'epub',
  docm: 'docx',
  docx: 'docx',
  dotm: 'docx',
  dotx: 'docx',
  odt: 'odt',
  ott: 'odt',
  rtf: 'rtf',
  fb2: 'fb2',
  fbz: 'fb2',
  ssml: 'ssml',
  srt: 'subtitles',
  vtt: 'subtitles',
  sbv: 'subtitles',
  lrc: 'subtitles',
};

/**
 * Returns the format of a document; undefined for plain text. If `format` is `auto`, the file extension decides.
 * @param file path of the document; undefined if the document is not a file
 */
export function documentFormat(
  format: TextFormat | undefined = 'auto',
  file: string | undefined,
): DocumentFormat | undefined {
  if (format === 'plain') return undefined;
  if (format !== 'auto') return format;
  const extension = /\.([a-z\d]+)$/i.exec(file ?? '')?.[1]?.toLowerCase();
  return extension === undefined ? undefined : EXTENSIONS[extension];
}

/** Returns whether documents of a format may have code blocks. */
export function hasCode(format: DocumentFormat | undefined): boolean {
  return format === 'markdown' || format === 'html' || format === 'epub';
}

/** The formats of documents that may have chapters. */
export type BookFormat = Extract<DocumentFormat, 'docx' | 'epub' | 'fb2' | 'odt' | 'rtf'>;

/** Returns whether documents of a format may have chapters. */
export function hasChapters(format: string | undefined): format is BookFormat {
  return BOOKS.some((book) => book === format);
}

const BOOKS: readonly BookFormat[] = ['docx', 'epub', 'fb2', 'odt', 'rtf'];
