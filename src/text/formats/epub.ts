import { countCodePoints } from '../code-points.ts';
import type { SpokenText } from '../document.ts';
import { paragraphStarts } from '../paragraphs.ts';
import type { Archive } from './archive.ts';
import { inFile, openArchive } from './archive.ts';
import { DocumentError } from './document-error.ts';
import {
  contentsLinks,
  isContentsPage,
  isFrontMatter,
  localName,
  mainTextLink,
  pathOf,
} from './epub-contents.ts';
import type { OnId } from './html.ts';
import { readHtml } from './html.ts';
import type { CodeMode } from './text-formats.ts';
import type { XmlHandler } from './xml.ts';
import { readXml } from './xml.ts';

/**
 * Extracts the text of each file in the spine of an EPUB, in order. If the book has a table of contents, each text
 * lists the chapters that begin in it. Leaves out printed tables of contents. If the book says where its main text begins,
 * each text has the length of its front matter.
 * @param onNotice called with a sentence about a file that is missing; if undefined, the book is refused
 * @throws DocumentError
 */
export async function readEpub(
  book: Uint8Array,
  code: CodeMode,
  onNotice?: (sentence: string) => void,
): Promise<readonly SpokenText[]> {
  const { archive, packagePath, xml } = await openBook(book);
  const opened = packageOf(xml, packagePath, archive);
  const entries = await contentsOf(archive, opened);
  const encrypted = archive.has(ENCRYPTION)
    ? encryptedPaths(await archive.read(ENCRYPTION))
    : new Set();
  const mainText = await mainTextOf(archive, opened);
  let isBefore = mainText !== undefined;
  const chapters: SpokenText[] = [];
  let isEmpty = true;
  for (const chapter of opened.spine) {
    if (encrypted.has(chapter)) {
      throw new DocumentError(`the book is encrypted: ${chapter}`, {
        hint: 'Use a copy without copy protection.',
      });
    }
    if (!archive.has(chapter) && onNotice !== undefined) {
      onNotice(`the book has no file ${chapter}, which is left out`);
      continue;
    }
    isEmpty = false;
    const html = await archive.read(chapter);
    const own = entries.get(chapter) ?? [];
    if (isPrintedContents(html, chapter, opened, entries)) continue;
    const places = new Map<string, number>();
    const read = readChapter(html, chapter, code, (id, paragraph) => {
      if (!places.has(id)) places.set(id, paragraph);
    });
    const at = paragraphStarts(read.text);
    const placeOf = (id = ''): number => at[places.get(id) ?? 0] ?? 0;
    const isMain = chapter === mainText?.file;
    isBefore &&= !isMain;
    const length = countCodePoints(read.text);
    const frontMatter =
      isBefore || (mainText === undefined && isFrontMatter(html))
        ? length
        : isMain
          ? placeOf(mainText?.id)
          : undefined;
    chapters.push({
      ...read,
      file: chapter,
      ...(entries.size === 0
        ? {}
        : { chapters: own.map(({ id, title }) => ({ title, at: placeOf(id) })) }),
      ...(frontMatter === undefined ? {} : { frontMatter }),
    });
  }
  const [first] = opened.spine;
  if (isEmpty && first !== undefined) throw new DocumentError(`the book has no file ${first}`);
  return chapters;
}

/** Opens an EPUB, and reads its package document. @throws DocumentError */
export async function openBook(book: Uint8Array): Promise<{
  readonly archive: Archive;
  readonly packagePath: string;
  /** The text of the package document. */
  readonly xml: string;
}> {
  const archive = await openArchive(book, 'an EPUB', 'the book');
  const packagePath = archive.find(packagePathOf(await archive.read(archive.find(CONTAINER))));
  return { archive, packagePath, xml: await archive.read(packagePath) };
}

const CONTAINER = 'META-INF/container.xml';
const ENCRYPTION = 'META-INF/encryption.xml';

// The guide of an EPUB 2 may name the page. Otherwise, its links lead to the entries of the table of contents.
function isPrintedContents(
  html: string,
  file: string,
  { guideContents, spine }: Package,
  entries: ContentsEntries,
): boolean {
  const isNamed = file === guideContents;
  if (!isNamed && entries.size < 2) return false;
  return isContentsPage(html, (href) => {
    const target = pathOf(href, file);
    if (target === file) return false;
    if (isNamed) return spine.has(target);
    const [, id] = href.split('#');
    return entries.get(target)?.some((entry) => id === undefined || entry.id === id) === true;
  });
}

function readChapter(html: string, chapter: string, code: CodeMode, onId: OnId): SpokenText {
  try {
    return readHtml(html, code, onId);
  } catch (error) {
    throw inFile(chapter, error);
  }
}

/** Reads an XML file of a book. @throws DocumentError that names the file and the line */
export function readBookXml(xml: string, file: string, handler: XmlHandler): void {
  try {
    readXml(xml, handler);
  } catch (error) {
    throw inFile(file, error);
  }
}

/**
 * Returns the path of the package document, which `META-INF/container.xml` names.
 * @throws DocumentError
 */
export function packagePathOf(container: string): string {
  let found: string | undefined;
  readBookXml(container, CONTAINER, {
    open(name, attributes) {
      if (localName(name) === 'rootfile') found ??= attributes['full-path'];
    },
  });
  if (found !== undefined) return found;
  throw new DocumentError('not an EPUB: META-INF/container.xml names no package file');
}

interface ContentsEntry {
  // Id of the element at which the chapter begins; undefined for the beginning of the file.
  readonly id: string | undefined;
  readonly title: string;
}

// The chapters of each file of the spine, in order.
type ContentsEntries = ReadonlyMap<string, readonly ContentsEntry[]>;

// Returns the first table of contents that names files of the spine.
async function contentsOf(
  archive: Archive,
  { contents, spine }: Package,
): Promise<ContentsEntries> {
  for (const file of contents.filter((one) => archive.has(one))) {
    const entries = new Map<string, ContentsEntry[]>();
    for (const { href, title } of contentsLinks(await archive.read(file))) {
      const target = archive.find(pathOf(href, file));
      if (!spine.has(target) || title === '') continue;
      const [, id] = href.split('#');
      const own = entries.get(target);
      if (own === undefined) entries.set(target, [{ id, title }]);
      else own.push({ id, title });
    }
    if (entries.size > 0) return entries;
  }
  return new Map();
}

// Returns where the main text begins, by the landmarks of the book or the guide of an EPUB 2.
async function mainTextOf(
  archive: Archive,
  { guideText, nav, spine }: Package,
): Promise<{ readonly file: string; readonly id: string | undefined } | undefined> {
  const link =
    nav !== undefined && archive.has(nav) ? mainTextLink(await archive.read(nav)) : undefined;
  const [href = '', from = ''] = link === undefined ? (guideText ?? []) : [link, nav];
  if (href === '') return undefined;
  const file = archive.find(pathOf(href, from));
  return spine.has(file) ? { file, id: href.split('#')[1] } : undefined;
}

interface Package {
  // In reading order, each file once.
  readonly spine: ReadonlySet<string>;
  // The navigation document of an EPUB 3.
  readonly nav: string | undefined;
  // The navigation document, then the NCX.
  readonly contents: readonly string[];
  // The printed table of contents, if the guide of an EPUB 2 names it.
  readonly guideContents: string | undefined;
  // The link of the guide to the main text, and the file that contains it.
  readonly guideText: readonly [string, string] | undefined;
}

interface ManifestItem {
  readonly file: string;
  readonly isText: boolean;
  readonly fallback: string | undefined;
}

function packageOf(xml: string, packagePath: string, archive: Archive): Package {
  const items = new Map<string, ManifestItem>();
  const spine: string[] = [];
  const fileOf = (href: string): string => archive.find(pathOf(href, packagePath));
  let [nav, ncx, guideContents]: (string | undefined)[] = [];
  let guideText: Package['guideText'];
  const open: XmlHandler['open'] = (name, attributes) => {
    const { fallback, href, id, idref, type } = attributes;
    const mediaType = attributes['media-type'] ?? '';
    const tag = localName(name);
    if (tag === 'item' && id !== undefined && href !== undefined) {
      const isContents = attributes['properties']?.split(/\s+/).includes('nav') === true;
      const file = fileOf(href);
      const isText = HTML_TYPE.test(mediaType) || /\.x?html?$/i.test(file);
      if (isContents) nav ??= file;
      else if (mediaType === 'application/x-dtbncx+xml') ncx ??= file;
      else items.set(id, { file, isText, fallback });
    } else if (tag === 'reference' && type === 'toc' && href !== undefined) {
      guideContents ??= fileOf(href);
    } else if (tag === 'reference' && type === 'text' && href !== undefined) {
      guideText ??= [href, packagePath];
    } else if (tag === 'itemref' && idref !== undefined && attributes['linear'] !== 'no') {
      spine.push(idref);
    }
  };
  readBookXml(xml, packagePath, { open });
  return {
    spine: new Set(spine.flatMap((id) => textOf(id, items) ?? [])),
    nav,
    contents: [nav, ncx].flatMap((file) => file ?? []),
    guideContents,
    guideText,
  };
}

// Returns the file of an item that is HTML, or of its first fallback that is.
function textOf(id: string, items: ReadonlyMap<string, ManifestItem>): string | undefined {
  let item = items.get(id);
  for (let step = 0; step < MOST_FALLBACKS && item?.isText === false; step += 1) {
    item = item.fallback === undefined ? undefined : items.get(item.fallback);
  }
  return item?.isText === true ? item.file : undefined;
}

const HTML_TYPE = /html|x-dtbook|x-oeb1-document/i;
const MOST_FALLBACKS = 10;

function encryptedPaths(xml: string): ReadonlySet<string> {
  const paths = new Set<string>();
  readBookXml(xml, ENCRYPTION, {
    open(name, { URI }) {
      if (localName(name) === 'CipherReference' && URI !== undefined) paths.add(pathOf(URI, ''));
    },
  });
  return paths;
}
