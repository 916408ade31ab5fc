import { describe, expect, it } from 'vitest';
import { DocumentError } from '../../../src/text/formats/document-error.ts';
import { readDocument } from '../../../src/text/formats/read-document.ts';
import { epubOf, zipOf } from '../../harness/epub.ts';

const THREE = ['<h1>One</h1><p>a</p>', '<h1>Two</h1><p>b</p>', '<h1>Three</h1><p>c</p>'];

/** Returns the title of each chapter, with the paragraph at which it begins. */
async function chaptersOf(book: Buffer): Promise<readonly string[]> {
  const parts = await readDocument('epub', book);
  return parts.flatMap(({ chapters = [], text }) =>
    chapters.map(({ at, title }) => `${title}: ${text.slice(at).split('\n\n')[0]}`),
  );
}

async function textsOf(book: Buffer): Promise<readonly string[]> {
  return (await readDocument('epub', book)).map(({ text }) => text);
}

const link = (file: string, title: string): string => `<li><a href="${file}">${title}</a></li>`;
const LINKS = [0, 1, 2].map((at) => link(`text/c${at}.xhtml`, `Part ${at}`)).join('');
const nav = (...lists: readonly string[]): string =>
  `<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body>${lists.join('')}</body></html>`;
const TOC = `<nav epub:type="toc"><h1>Contents</h1><ol>${LINKS}</ol></nav>`;

const point = (file: string, title: string): string =>
  `<navPoint><navLabel><text>${title}</text></navLabel><content src="${file}"/></navPoint>`;
const POINTS = [0, 1, 2].map((at) => point(`text/c${at}.xhtml`, `Part ${at}`)).join('');
const ncx = (lists: string): string =>
  `<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><docTitle><text>Book</text></docTitle>${lists}</ncx>`;

const ALL = ['Part 0: One.', 'Part 1: Two.', 'Part 2: Three.'];

describe('the chapters of an EPUB', () => {
  it.each([
    [
      'of the navigation document do not include landmarks and pages',
      nav(
        TOC,
        `<nav epub:type="landmarks" hidden=""><ol>${link('text/c0.xhtml', 'Start')}</ol></nav>`,
        `<nav epub:type="page-list"><ol>${link('text/c1.xhtml#p2', '2')}</ol></nav>`,
      ),
    ],
    [
      'come from the table of contents, also if it is not the first list',
      nav(`<nav role="doc-pagelist"><ol>${link('text/c0.xhtml', '1')}</ol></nav>`, TOC),
    ],
    ['come from a list without a type', nav(`<nav><ol>${LINKS}</ol></nav>`)],
    ['come from a list with several types', nav(TOC.replace('"toc"', '"frontmatter toc"'))],
  ])('%s', async (_what, document) => {
    expect(await chaptersOf(epubOf(THREE, {}, { nav: document }))).toEqual(ALL);
  });

  it('of an NCX do not include pages and figures', async () => {
    const target = point('text/c2.xhtml', 'Figure 1');
    const lists = `<navMap>${POINTS}</navMap><pageList>${target.replaceAll('navPoint', 'pageTarget')}</pageList><navList>${target.replaceAll('navPoint', 'navTarget')}</navList>`;
    expect(await chaptersOf(epubOf(THREE, {}, { ncx: ncx(lists) }))).toEqual(ALL);
    const prefixed = ncx(lists)
      .replaceAll(/<(\/?)(?=\w)/g, '<$1n:')
      .replace('xmlns=', 'xmlns:n=');
    expect(await chaptersOf(epubOf(THREE, {}, { ncx: prefixed }))).toEqual(ALL);
  });

  it('are found in files whose names differ in case', async () => {
    const contents = { ncx: ncx(`<navMap>${POINTS.replaceAll('text/c', 'Text/C')}</navMap>`) };
    expect(await chaptersOf(epubOf(THREE, {}, contents))).toEqual(ALL);
  });
});

const PRINTED = `<h1>Contents</h1>${[1, 2].map((at) => `<p><a href="c${at}.xhtml">Chapter ${at}</a> ${at}</p>`).join('')}`;
const POINTS_AFTER = [1, 2].map((at) => point(`text/c${at}.xhtml`, `Part ${at}`)).join('');

describe('a printed table of contents of an EPUB 2', () => {
  const [, two = '', three = ''] = THREE;

  it('is left out if its links lead to the chapters', async () => {
    const book = epubOf(
      [PRINTED, two, three],
      {},
      { ncx: ncx(`<navMap>${POINTS_AFTER}</navMap>`) },
    );
    expect(await textsOf(book)).toEqual(['Two.\n\nb', 'Three.\n\nc']);
  });

  it('is left out if the guide names it', async () => {
    expect(await textsOf(guided(PRINTED))).toEqual(['Two.\n\nb', 'Three.\n\nc']);
  });

  it('does not hide a chapter that the guide names, or a list of figures', async () => {
    expect(
      await textsOf(guided(`<p>A chapter with <a href="c1.xhtml">a link</a>.</p>`)),
    ).toHaveLength(3);
    const figures = PRINTED.replaceAll('.xhtml', '.xhtml#figure');
    const book = epubOf(
      [figures, two, three],
      {},
      { ncx: ncx(`<navMap>${POINTS_AFTER}</navMap>`) },
    );
    expect(await textsOf(book)).toHaveLength(3);
  });

  function guided(contents: string): Buffer {
    const items = [0, 1, 2].map(
      (at) => `<item id="c${at}" href="text/c${at}.xhtml" media-type="application/xhtml+xml"/>`,
    );
    const spine = [0, 1, 2].map((at) => `<itemref idref="c${at}"/>`).join('');
    const opf = `<package><manifest>${items.join('')}</manifest><spine>${spine}</spine><guide><reference type="toc" href="text/c0.xhtml"/></guide></package>`;
    return epubOf([contents, two, three], { 'OEBPS/book.opf': opf });
  }
});

const PACKAGE = (items: string, refs: string): string =>
  `<package><manifest>${items}</manifest><spine>${refs}</spine></package>`;

describe('the files of an EPUB', () => {
  it('may be fallbacks of other files', async () => {
    const items =
      '<item id="a" href="a.bin" media-type="x/y" fallback="b"/><item id="b" href="b.pdf" media-type="application/pdf" fallback="c"/><item id="c" href="text/c0.xhtml" media-type="application/xhtml+xml"/><item id="d" href="d.bin" media-type="x/y" fallback="d"/>';
    const opf = PACKAGE(items, '<itemref idref="a"/><itemref idref="d"/>');
    expect(await textsOf(epubOf(['<p>Read me.</p>'], { 'OEBPS/book.opf': opf }))).toEqual([
      'Read me.',
    ]);
  });

  it.each([
    ['UTF-16 with a byte order mark', Buffer.from('\ufeff<p>Café</p>', 'utf16le')],
    ['big-endian UTF-16', Buffer.from('\ufeff<p>Café</p>', 'utf16le').swap16()],
    [
      'UTF-16 without a byte order mark',
      Buffer.from('<?xml version="1.0"?><p>Café</p>', 'utf16le'),
    ],
    [
      'declared Latin-1',
      Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><p>Café</p>', 'latin1'),
    ],
    [
      'UTF-8 that is declared as Latin-1',
      Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><p>Café</p>'),
    ],
  ])('may be %s', async (_what, chapter) => {
    const book = epubOf([''], { 'OEBPS/text/c0.xhtml': chapter });
    expect(await textsOf(book)).toEqual(['Café']);
  });

  it('are refused in an unknown encoding, or with bytes that are not in the declared one', async () => {
    await expect(readDeclared('x-nope')).rejects.toThrow(
      /c0\.xhtml: the encoding "x-nope" .* is not supported/,
    );
    await expect(readDeclared('utf-8')).rejects.toThrow(/c0\.xhtml is not valid UTF-8/);
    await expect(readDeclared('euc-kr')).rejects.toThrow(DocumentError);
  });

  it('may be missing, or have names that differ in case', async () => {
    const items = ['text/C0.XHTML', 'text/gone.xhtml']
      .map((href, at) => `<item id="i${at}" href="${href}" media-type="application/xhtml+xml"/>`)
      .join('');
    const opf = PACKAGE(items, '<itemref idref="i0"/><itemref idref="i1"/>');
    const notices: string[] = [];
    const book = epubOf(['<p>Here.</p>'], { 'OEBPS/book.opf': opf });
    const parts = await readDocument('epub', book, 'skip', (notice) => notices.push(notice));
    expect(parts.map(({ text }) => text)).toEqual(['Here.']);
    expect(notices).toEqual(['the book has no file OEBPS/text/gone.xhtml, which is left out']);
  });

  it('must not all be missing', async () => {
    const opf = PACKAGE(
      '<item id="a" href="gone.xhtml" media-type="application/xhtml+xml"/>',
      '<itemref idref="a"/>',
    );
    const book = zipOf({
      'META-INF/container.xml': '<container><rootfile full-path="book.opf"/></container>',
      'book.opf': opf,
    });
    await expect(textsOf(book)).rejects.toThrow('the book has no file gone.xhtml');
  });
});

function readDeclared(encoding: string): Promise<readonly string[]> {
  const xml = `<?xml version="1.0" encoding="${encoding}"?><p>\xff</p>`;
  return textsOf(epubOf([''], { 'OEBPS/text/c0.xhtml': Buffer.from(xml, 'latin1') }));
}
