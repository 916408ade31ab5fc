import { DocumentError } from './document-error.ts';
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
  { name: 'a Rich Text document', extensions: ['rtf'], signature: /^\s*\{\\rtf/, convert: PANDOC },
  {
    name: 'a FictionBook',
    extensions: ['fb2'],
    signature: root(String.raw`<FictionBook\b`),
    convert: PANDOC,
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
    extensions: ['docx', 'pptx', 'xlsx'],
    signature: /^PK\x03\x04[^]*?(?:word\/|\[Content_Types\]\.xml)/,
    convert: PANDOC,
  },
  {
    name: 'an OpenDocument text',
    extensions: ['odt'],
    signature: /^PK\x03\x04[^]*?mimetypeapplication\/vnd\.oasis/,
    convert: PANDOC,
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

/** Returns true if a file is an EPUB: a zip archive with the file that names the book's package. */
export function isEpub(bytes: Uint8Array): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.subarray(0, 4).equals(ZIP) && buffer.includes('META-INF/container.xml');
}

/**
 * Refuses a file in a format that foley does not read, because foley would speak its markup. Its first bytes tell the
 * format; otherwise its extension.
 * @param name name of the file; undefined for other sources
 * @throws DocumentError that names the format, and a program that converts it
 */
export function refuseForeign(name: string | undefined, bytes: Uint8Array): void {
  const head = headOf(bytes);
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
const ZIP = Buffer.from('PK\x03\x04', 'latin1');

function headOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1').replace(BYTE_ORDER_MARK, '');
}

function isText(head: string): boolean {
  return !head.includes('\0') && !/^%PDF|\x03\x04/.test(head);
}
