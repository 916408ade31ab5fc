import { Parser } from 'htmlparser2';
import { DocumentError } from '../text/formats/document-error.ts';
import { localName, pathOf } from '../text/formats/epub-contents.ts';
import type { Insertion } from './mark-units.ts';
import { clockValue, escapeXml, referenceTo } from './smil.ts';

/** A text in UTF-8, and the byte order mark before it, which may be empty. */
export interface SourceText {
  readonly text: string;
  readonly byteOrderMark: string;
}

/** The package document of an EPUB 3, with the positions at which foley adds to it. */
export interface PackageDocument {
  readonly file: string;
  readonly xml: string;
  readonly byteOrderMark: string;
  /** Prefix of the names of elements with its colon; empty if there is none. */
  readonly prefix: string;
  readonly metadataEnd: number;
  readonly manifestEnd: number;
  /** For each file of the manifest, the position after the name of its `item`. */
  readonly items: ReadonlyMap<string, number>;
  readonly ids: ReadonlySet<string>;
}

/**
 * Reads the package document of a book, and checks that foley can make a read-along book from it.
 * @param find returns the name of a file in the archive
 * @throws DocumentError if the book is no EPUB 3, or already has media overlays
 */
export function readPackage(
  { byteOrderMark, text: xml }: SourceText,
  file: string,
  find: (name: string) => string,
): PackageDocument {
  const items = new Map<string, number>();
  const ids = new Set<string>();
  let [metadataEnd, manifestEnd]: (number | undefined)[] = [];
  let [version, prefix] = ['', ''];
  let hasOverlays = false;
  const parser: Parser = new Parser(
    {
      onopentag(name, attributes) {
        const { href, id } = attributes;
        if (id !== undefined) ids.add(id);
        const tag = localName(name);
        if (tag === 'package') {
          version = attributes['version'] ?? '';
          prefix = name.slice(0, -tag.length);
        }
        if (tag !== 'item' || href === undefined) return;
        items.set(find(pathOf(href, file)), parser.startIndex + 1 + name.length);
        hasOverlays ||= 'media-overlay' in attributes;
      },
      onclosetag(name) {
        const isEmpty = xml.charAt(parser.endIndex - 1) === '/';
        if (isEmpty) return;
        if (localName(name) === 'metadata') metadataEnd = parser.startIndex;
        if (localName(name) === 'manifest') manifestEnd = parser.startIndex;
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  if (!/^3(?:\.|$)/.test(version.trim())) {
    throw new DocumentError(
      `the book is EPUB ${version.trim() || '2'}; a read-along book is made from EPUB 3`,
      { hint: 'Convert it with Calibre: ebook-convert in.epub out.epub --epub-version 3' },
    );
  }
  if (hasOverlays) {
    throw new DocumentError('the book already has media overlays', {
      hint: 'Use the book from which it was made.',
    });
  }
  if (metadataEnd === undefined || manifestEnd === undefined) {
    throw new DocumentError(`${file} has no metadata or no manifest`);
  }
  return { file, xml, byteOrderMark, prefix, metadataEnd, manifestEnd, items, ids };
}

/** The media overlay of one document of a book. */
export interface DocumentOverlay {
  readonly document: string;
  readonly smil: string;
  readonly audio: string;
  readonly audioType: string;
  readonly durationMs: number;
}

/**
 * Returns what is added to the package document: the overlays, their audio files and their durations.
 * @param hasClass whether every document with an overlay has a style sheet, which `media:active-class` requires
 */
export function packageInsertions(
  { file, ids, items, manifestEnd, metadataEnd, prefix }: PackageDocument,
  overlays: readonly DocumentOverlay[],
  hasClass: boolean,
): readonly Insertion[] {
  let base = 'foley';
  while ([...ids].some((id) => id.startsWith(`${base}-`))) base += 'x';
  const meta = (property: string, value: string, of = ''): string =>
    `<${prefix}meta property="media:${property}"${of}>${value}</${prefix}meta>\n`;
  const item = (id: string, target: string, type: string): string =>
    `<${prefix}item id="${id}" href="${escapeXml(referenceTo(target, file))}" media-type="${type}"/>\n`;
  const rows = overlays.map((overlay, index) => ({
    ...overlay,
    smilId: `${base}-smil-${index + 1}`,
    audioId: `${base}-audio-${index + 1}`,
  }));
  const total = rows.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const metadata = [
    ...rows.map(({ durationMs, smilId }) =>
      meta('duration', clockValue(durationMs), ` refines="#${smilId}"`),
    ),
    meta('duration', clockValue(total)),
    ...(hasClass ? [meta('active-class', ACTIVE_CLASS)] : []),
  ];
  const manifest = rows.flatMap(({ audio, audioId, audioType, smil, smilId }) => [
    item(smilId, smil, 'application/smil+xml'),
    item(audioId, audio, audioType),
  ]);
  const attributes = rows.flatMap(({ document, smilId }) => {
    const at = items.get(document);
    return at === undefined ? [] : [{ at, text: ` media-overlay="${smilId}"` }];
  });
  return [
    { at: metadataEnd, text: metadata.join('') },
    ...attributes,
    { at: manifestEnd, text: manifest.join('') },
  ].toSorted((a, b) => a.at - b.at);
}

const ACTIVE_CLASS = '-epub-media-overlay-active';
