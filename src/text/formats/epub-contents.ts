import { posix } from 'node:path';
import { Parser } from 'htmlparser2';

/** A link of a table of contents. `href` is relative to the file of the table. */
export interface ContentsLink {
  readonly href: string;
  readonly title: string;
}

/**
 * Returns the links of the table of contents: those of `nav[epub:type=toc]` in a navigation document (EPUB 3), or of
 * `navMap` in an NCX (EPUB 2). Landmarks, lists of pages and lists of figures are no chapters. A navigation document
 * whose `nav` elements have no type has its contents in the first.
 */
export function contentsLinks(contents: string): readonly ContentsLink[] {
  const reader = new ContentsReader();
  const parser = new Parser(reader, { xmlMode: true, decodeEntities: true });
  parser.end(contents);
  const list = reader.lists.find(({ kind }) => kind === 'contents') ?? reader.lists.at(0);
  return (list?.links ?? []).map(({ href, title }) => ({
    href,
    title: title.replaceAll(/\s+/g, ' ').trim(),
  }));
}

interface LinkList {
  readonly kind: 'contents' | 'untyped';
  readonly links: { readonly href: string; title: string }[];
}

class ContentsReader {
  readonly lists: LinkList[] = [];
  #list: LinkList | undefined;
  #label = '';

  onopentag(name: string, attributes: Readonly<Record<string, string>>): void {
    const tag = localName(name);
    if (tag === 'nav' || tag === 'navMap') this.#begin(tag, attributes);
    else if (tag === 'a' || tag === 'navLabel') {
      this.#label = '';
      if (tag === 'a') this.#list?.links.push({ href: attributes['href'] ?? '', title: '' });
    } else if (tag === 'content') {
      this.#list?.links.push({ href: attributes['src'] ?? '', title: this.#label });
    } else if (tag === 'img') this.#label += ` ${attributes['alt'] ?? ''} `;
  }

  ontext(text: string): void {
    this.#label += text;
  }

  onclosetag(name: string): void {
    const tag = localName(name);
    if (tag === 'nav' || tag === 'navMap') this.#list = undefined;
    const last = this.#list?.links.at(-1);
    if (tag === 'a' && last !== undefined) last.title = this.#label;
  }

  #begin(tag: string, attributes: Readonly<Record<string, string>>): void {
    const types = typesOf(attributes).filter((one) => one !== 'navigation');
    const isContents = tag === 'navMap' || types.includes('toc');
    if (!isContents && types.length > 0) return;
    this.#list = { kind: isContents ? 'contents' : 'untyped', links: [] };
    this.lists.push(this.#list);
  }
}

/**
 * Returns true for a printed table of contents: a page of links, of which most lead to the chapters of the book.
 * @param isChapter whether a link leads to a chapter
 */
export function isContentsPage(page: string, isChapter: (href: string) => boolean): boolean {
  let [letters, linked, links] = [0, 0, 0];
  let unread = 0;
  let isLink = false;
  const parser = new Parser(
    {
      onopentag(name, { href = '' }) {
        if (UNREAD.has(name)) unread += 1;
        if (name !== 'a') return;
        isLink = isChapter(href);
        if (isLink) links += 1;
      },
      ontext(text) {
        if (unread > 0) return;
        const count = text.replaceAll(/[^\p{L}]/gu, '').length;
        letters += count;
        if (isLink) linked += count;
      },
      onclosetag(name) {
        if (UNREAD.has(name)) unread -= 1;
        if (name === 'a') isLink = false;
      },
    },
    { recognizeSelfClosing: true },
  );
  parser.end(page);
  return links >= FEWEST_LINKS && linked >= letters * LINKED_SHARE;
}

const UNREAD = new Set(['nav', 'script', 'style', 'title']);
const FEWEST_LINKS = 2;
const LINKED_SHARE = 0.6;

/**
 * Returns the link to the main text of a book: that of type `bodymatter` in the landmarks of a navigation document (EPUB
 * Structural Semantics Vocabulary 1.1).
 */
export function mainTextLink(contents: string): string | undefined {
  let link: string | undefined;
  let isWithin = false;
  const parser = new Parser(
    {
      onopentag(name, { href, ...attributes }) {
        const types = typesOf(attributes);
        if (localName(name) === 'nav') isWithin = types.includes('landmarks');
        else if (isWithin && types.includes('bodymatter')) link ??= href;
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(contents);
  return link;
}

/** Returns whether the body of a page, or the section that it begins with, has a type of front matter, such as `cover`. */
export function isFrontMatter(page: string): boolean {
  let isFront: boolean | undefined;
  let isBody = false;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (name === 'body') isBody = true;
        const types = isBody ? typesOf(attributes) : [];
        if (types.length > 0) isFront ??= types.some((type) => FRONT_MATTER.has(type));
      },
      ontext(text) {
        // What begins later is no part of this decision.
        if (isBody && text.trim() !== '') isFront ??= false;
      },
    },
    { recognizeSelfClosing: true },
  );
  parser.end(page.slice(0, MOST_HEAD_CHARACTERS));
  return isFront === true;
}

// Long enough for the head of a page and the beginning of its body.
const MOST_HEAD_CHARACTERS = 20_000;

// EPUB Structural Semantics Vocabulary 1.1, without what readers want to hear, such as a foreword.
const FRONT_MATTER = new Set([
  'contributors',
  'copyright-page',
  'cover',
  'dedication',
  'epigraph',
  'frontmatter',
  'halftitlepage',
  'imprint',
  'imprimatur',
  'landmarks',
  'other-credits',
  'titlepage',
  'toc',
]);

function typesOf({
  'epub:type': type = '',
  role = '',
}: Readonly<Record<string, string>>): readonly string[] {
  return `${type} ${role.replaceAll('doc-', '')}`.split(/\s+/).filter((one) => one !== '');
}

/** Returns the name of an element without its prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Returns the path in the book of a reference in the file `from`. */
export function pathOf(reference: string, from: string): string {
  const [file = ''] = reference.split('#', 1);
  let decoded = file;
  try {
    decoded = decodeURIComponent(file);
  } catch {
    // A file name with a percent sign.
  }
  return posix.join(posix.dirname(from), decoded.replaceAll('\\', '/'));
}
