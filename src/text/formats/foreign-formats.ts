import { DocumentError } from './document-error.ts';
import type { DocumentFormat } from './text-formats.ts';
import { documentFormat } from './text-formats.ts';

/** A format of texts that foley does not read. */
interface ForeignFormat {
  /** The name with its article, such as `a PDF file`. */
  readonly name: string;
  readonly extensions: readonly string[];
  /** Matches the first bytes, decoded as Latin-1; undefined if only the extension tells the format. */
  readonly signature?: RegExp;
  /** A command that converts the file. */
  readonly convert?: string;
  /** A sentence with what else to do. */
  readonly hint?: string;
}

const PANDOC = 'pandoc FILE -o FILE.html';
const CALIBRE = 'ebook-convert FILE FILE.epub';
const FFMPEG = 'ffmpeg -i FILE FILE.srt';

// The beginning of an XML document, before its first element.
const PROLOG = String.raw`^\s*(?:<(?:\?|!(?!--))[^<>]{0,400}>\s*|<!--(?:(?!-->)[^]){0,400}-->\s*){0,9}`;
const root = (element: string): RegExp => new RegExp(PROLOG + element, 'i');

const pandocFrom = (format: string): string => `pandoc -f ${format} FILE -o FILE.html`;

// A signature that another one includes comes later.
const FORMATS: readonly ForeignFormat[] = [
  {
    name: 'a PDF file',
    extensions: ['pdf'],
    signature: /^%PDF-/,
    convert: 'pdftotext FILE FILE.txt',
  },
  {
    name: 'a PostScript file',
    extensions: ['ps'],
    signature: /^%!PS/,
    convert: 'ps2ascii FILE FILE.txt',
  },
  {
    name: 'subtitles in the format ASS',
    extensions: ['ass', 'ssa'],
    signature: /^\W{0,3}\[Script Info\]/i,
    convert: FFMPEG,
  },
  {
    name: 'subtitles in TTML',
    extensions: ['ttml', 'dfxp'],
    signature: root(String.raw`<(?:\w{1,20}:)?tt\s[^<>]*ns/ttml`),
    convert: FFMPEG,
  },
  {
    name: 'subtitles in SAMI',
    extensions: ['smi', 'sami'],
    signature: root(String.raw`<SAMI\b`),
    convert: FFMPEG,
  },
  {
    name: 'subtitles in MicroDVD',
    extensions: ['sub'],
    signature: /^\{\d+\}\{\d+\}/,
    convert: FFMPEG,
  },
  { name: 'captions in SCC', extensions: ['scc'], signature: /^Scenarist_SCC/, convert: FFMPEG },
  {
    name: 'a DocBook document',
    extensions: ['docbook', 'dbk'],
    signature: /^\s*<[^]{0,400}(?:DTD DocBook|docbook\.org\/ns\/docbook)/,
    convert: pandocFrom('docbook'),
  },
  {
    name: 'an outline in OPML',
    extensions: ['opml'],
    signature: root(String.raw`<opml\b`),
    convert: pandocFrom('opml'),
  },
  {
    name: 'a feed',
    extensions: ['rss', 'atom'],
    signature: root(String.raw`<(?:rss\b|feed\s[^<>]*/2005/Atom)`),
  },
  {
    name: 'a Jupyter notebook',
    extensions: ['ipynb'],
    signature: /^\s*\{\s*"(?:cells|nbformat)"\s*:/,
    convert: 'jupyter nbconvert --to markdown FILE',
  },
  {
    name: 'a LaTeX document',
    extensions: ['tex', 'latex'],
    signature: /^\s*(?:%[^\n]*\s+)*\\documentclass\b/,
    convert: PANDOC,
  },
  { name: 'reStructuredText', extensions: ['rst'], convert: PANDOC },
  { name: 'AsciiDoc', extensions: ['adoc', 'asciidoc'], convert: 'asciidoctor FILE -o FILE.html' },
  { name: 'an Org document', extensions: ['org'], convert: PANDOC },
  { name: 'Textile', extensions: ['textile'], convert: PANDOC },
  {
    name: 'text of a wiki',
    extensions: ['mediawiki', 'wiki', 'wikitext'],
    convert: pandocFrom('mediawiki'),
  },
  {
    name: 'a manual page',
    extensions: ['roff', 'man', 'mdoc'],
    signature: /^(?:[.']\\"[^\n]{0,400}\n){0,40}\.(?:TH|Dd) /,
    convert: pandocFrom('man'),
  },
  {
    name: 'an e-mail',
    extensions: ['eml', 'mbox', 'msg'],
    signature:
      /^(?:Return-Path|Received|MIME-Version|Message-ID|Delivered-To): [^]*\n(?:From|To): /i,
  },
  {
    name: 'a saved web page',
    extensions: ['mhtml', 'mht'],
    signature: /^From: <Saved by/,
    hint: 'Open it in a browser, and save it as .html.',
  },
  {
    name: 'an XML document',
    extensions: ['xml'],
    hint: 'Save its text as .txt, or name its format, such as --text-format html or ssml.',
  },
  { name: 'JSON', extensions: ['json'], convert: 'jq -r .text FILE > FILE.txt' },
  {
    name: 'a list in JSON Lines',
    extensions: ['jsonl', 'ndjson'],
    hint: 'Speak its items with `foley batch --jsonl FILE`.',
  },
  {
    name: 'a table',
    extensions: ['csv', 'tsv'],
    hint: 'Speak its rows with `foley batch FILE`.',
  },
  { name: 'YAML', extensions: ['yaml', 'yml'], convert: 'yq -r .text FILE > FILE.txt' },
  { name: 'a settings file', extensions: ['toml', 'ini', 'plist'] },
  {
    name: 'an Office document',
    extensions: ['odp', 'ods', 'pptx', 'xlsx'],
    signature: /^PK\x03\x04[^]*?(?:\[Content_Types\]\.xml|mimetypeapplication\/vnd\.oasis)/,
    convert: 'soffice --headless --convert-to pdf FILE, then pdftotext FILE.pdf FILE.txt',
  },
  {
    name: 'a Pages document',
    extensions: ['pages'],
    signature: /^PK\x03\x04[^]*?Index\/Document\.iwa/,
  },
  {
    name: 'an old Word document',
    extensions: ['doc'],
    signature: /^\xd0\xcf\x11\xe0/,
    convert: 'soffice --headless --convert-to html FILE',
  },
  {
    name: 'a Kindle book',
    extensions: ['mobi', 'azw', 'azw3'],
    signature: /^[^]{60}BOOKMOBI/,
    convert: CALIBRE,
  },
  {
    name: 'a DjVu document',
    extensions: ['djvu'],
    signature: /^AT&TFORM/,
    convert: 'djvutxt FILE FILE.txt',
  },
  { name: 'a zip archive', extensions: ['zip'], signature: /^PK\x03\x04/ },
  {
    name: 'a compressed file',
    extensions: ['gz', 'xz', 'bz2', 'zst', '7z', 'rar'],
    signature: /^(?:\x1f\x8b|\xfd7zXZ|BZh|\x28\xb5\x2f\xfd|7z\xbc\xaf|Rar!)/,
  },
  { name: 'a picture', extensions: [], signature: /^(?:\x89PNG|\xff\xd8\xff|GIF8|RIFF[^]{4}WEBP)/ },
  {
    name: 'an audio or video file',
    extensions: [],
    signature: /^(?:ID3|\xff\xfb|RIFF[^]{4}WAVE|OggS|fLaC|\x1aE\xdf\xa3|[^]{4}ftyp)/,
  },
];

/** Number of bytes at the beginning of a file that tell its format. */
const HEAD_BYTES = 4_096;

/** A format of documents that foley reads, and how its content is recognised. */
interface KnownDocument {
  readonly format: DocumentFormat;
  readonly name: string;
  /** Matches the first bytes, decoded as Latin-1. */
  readonly signature?: RegExp;
  /** Matches the list of the files in a zip archive. */
  readonly files?: RegExp;
}

const DOCUMENTS: readonly KnownDocument[] = [
  { format: 'rtf', name: 'a Rich Text document', signature: /^\s*\{\\rtf/ },
  { format: 'fb2', name: 'a FictionBook', signature: root(String.raw`<FictionBook\b`) },
  {
    format: 'odt',
    name: 'an OpenDocument text',
    signature: /^PK\x03\x04[^]*?mimetypeapplication\/vnd\.oasis\.opendocument\.text/,
  },
  { format: 'epub', name: 'an EPUB', files: /META-INF\/container\.xml/ },
  {
    format: 'docx',
    name: 'a Word document',
    files: /word\/[^]*\[Content_Types\]\.xml|\[Content_Types\]\.xml[^]*word\//,
  },
  { format: 'fb2', name: 'a FictionBook', files: /[^/]\.fb2/i },
];

/** Returns the format of a document that its content tells, such as `docx`; undefined for text and for other formats. */
export function formatOfContent(bytes: Uint8Array): DocumentFormat | undefined {
  return knownDocument(bytes)?.format;
}

function knownDocument(bytes: Uint8Array): KnownDocument | undefined {
  const head = headOf(bytes);
  const names = head.startsWith('PK\x03\x04') ? directoryOf(bytes) : '';
  return DOCUMENTS.find(({ files, signature }) => signature?.test(head) ?? files?.test(names));
}

// Returns the part of a zip archive that lists its files. The list is at the end, where another list tells its place.
function directoryOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = buffer.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  if (end === -1 || end + 20 > buffer.length) return '';
  const from = buffer.readUInt32LE(end + 16);
  return buffer.toString('latin1', from, Math.min(end, from + MAX_DIRECTORY_BYTES));
}

const MAX_DIRECTORY_BYTES = 1024 * 1024;

/**
 * Refuses a document whose content has another format than `format`, such as a PDF file with the extension `.docx`.
 * @throws DocumentError that names the format of the content, and what to do
 */
export function refuseOtherFormat(format: DocumentFormat, bytes: Uint8Array): void {
  const known = formatOfContent(bytes);
  // The reader of EPUB names what an archive lacks.
  if (known !== format && (known !== undefined || format !== 'epub')) {
    refuseForeign(undefined, bytes);
  }
}

/**
 * Refuses a file that is no text, because foley would speak its markup. Its content tells the format; otherwise its
 * extension.
 * @param name name of the file; undefined for other sources
 * @param flag the flag that names the format of a document that foley reads
 * @throws DocumentError that names the format, and the flag or a program that converts it
 */
export function refuseForeign(
  name: string | undefined,
  bytes: Uint8Array,
  flag: '--script-format' | '--text-format' = '--text-format',
): void {
  const head = headOf(bytes);
  const known = knownDocument(bytes);
  if (known !== undefined) {
    throw new DocumentError(`it is ${known.name}`, {
      hint: `Read it with ${flag} ${known.format}.`,
    });
  }
  const found = FORMATS.find(({ signature }) => signature?.test(head)) ?? formatOfName(name);
  if (found === undefined) return;
  const { convert, hint = 'Save its text as .txt.' } = found;
  const way = convert === undefined ? hint : `Convert it, for example with: ${convert}`;
  const asItIs = '--text-format plain speaks it with its markup.';
  throw new DocumentError(`it is ${found.name}, which foley does not read`, {
    hint: isText(head) ? `${way.replace(/\.$/, '')}. ${asItIs}` : way,
  });
}

/** Returns true if a file name has the extension of a text or document, except for those that many host names end with. */
export function hasTextExtension(name: string): boolean {
  const extension = extensionOf(name);
  if (extension === undefined || HOST_ENDINGS.has(extension)) return false;
  if (extension === 'txt' || extension === 'text') return true;
  return documentFormat('auto', name) !== undefined || formatOfName(name) !== undefined;
}

const HOST_ENDINGS: ReadonlySet<string> = new Set(['man', 'org', 'ps', 'wiki', 'zip']);

function formatOfName(name: string | undefined): ForeignFormat | undefined {
  const extension = extensionOf(name);
  if (extension === undefined) return undefined;
  return FORMATS.find(({ extensions }) => extensions.includes(extension));
}

function extensionOf(name: string | undefined): string | undefined {
  return /\.([a-z\d]+)$/i.exec(name ?? '')?.[1]?.toLowerCase();
}

const BYTE_ORDER_MARK = /^\u00ef\u00bb\u00bf/;

function headOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1').replace(BYTE_ORDER_MARK, '');
}

function isText(head: string): boolean {
  return !head.includes('\0') && !/^%PDF|\x03\x04/.test(head);
}
