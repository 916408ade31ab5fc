import { openBook, readBookXml } from './epub.ts';
import { localName, pathOf } from './epub-contents.ts';

/** What an EPUB says about itself. */
export interface BookDetails {
  readonly title?: string | undefined;
  /** The names of its authors, separated by commas. */
  readonly author?: string | undefined;
  /** The bytes of the picture that is its cover. */
  readonly cover?: Uint8Array | undefined;
}

/**
 * Reads title, authors and cover of an EPUB (EPUB 3.3, section 5.5; Open Packaging Format 2.0.1, section 2.2). If several
 * people have roles, the authors are those with the role `aut`.
 * @throws DocumentError
 */
export async function readBookDetails(book: Uint8Array): Promise<BookDetails> {
  const { archive, packagePath, xml } = await openBook(book);
  const { metadata, refinements, items, coverId } = packageDetails(xml, packagePath);
  const refined = ({ id }: Entry, property: string): string | undefined =>
    refinements.find((one) => one.refines === `#${id}` && one.property === property)?.text.trim();
  const titles = metadata.filter(({ name }) => name === 'title');
  const main = titles.find((title) => refined(title, 'title-type') === 'main') ?? titles.at(0);
  const creators = metadata.filter(({ name }) => name === 'creator');
  const authors = creators.filter(
    (creator) => (refined(creator, 'role') ?? creator.role) === 'aut',
  );
  const names = (authors.length > 0 ? authors : creators).map(({ text }) => oneLine(text));
  const cover =
    items.find(({ isCover }) => isCover) ??
    items.find(({ href, id }) => id === coverId || href === coverId);
  const file = cover && archive.find(pathOf(cover.href, packagePath));
  return {
    title: main === undefined ? undefined : nonEmpty(oneLine(main.text)),
    author: nonEmpty(names.filter((name) => name !== '').join(', ')),
    cover: file === undefined || !archive.has(file) ? undefined : await archive.readBytes(file),
  };
}

interface Entry {
  readonly name: string;
  readonly id: string;
  readonly role: string | undefined;
  text: string;
}

interface Refinement {
  readonly refines: string;
  readonly property: string;
  text: string;
}

interface Item {
  readonly id: string;
  readonly href: string;
  readonly isCover: boolean;
}

function packageDetails(xml: string, file: string) {
  const metadata: Entry[] = [];
  const refinements: Refinement[] = [];
  const items: Item[] = [];
  let coverId: string | undefined;
  let open: { text: string } | undefined;
  readBookXml(xml, file, {
    open(name, attributes) {
      const tag = localName(name);
      const { content, href, id = '', name: meta, property, refines } = attributes;
      open = undefined;
      if (tag === 'title' || tag === 'creator') {
        const entry = { name: tag, id, role: attributes['opf:role'], text: '' };
        metadata.push(entry);
        open = entry;
      } else if (tag === 'meta' && refines !== undefined && property !== undefined) {
        const refinement = { refines, property, text: '' };
        refinements.push(refinement);
        open = refinement;
      } else if (tag === 'meta' && meta === 'cover') {
        coverId ??= content;
      } else if (tag === 'item' && href !== undefined) {
        const isCover = attributes['properties']?.split(/\s+/).includes('cover-image') === true;
        items.push({ id, href, isCover });
      }
    },
    close: () => (open = undefined),
    text(text) {
      if (open !== undefined) open.text += text;
    },
  });
  return { metadata, refinements, items, coverId };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function nonEmpty(text: string): string | undefined {
  return text === '' ? undefined : text;
}
