import { zipOf } from '../harness/epub.ts';

/** A document of a book for tests: its name in `EPUB/text`, as in a URL, and the content of its body. */
export interface BookDocument {
  readonly name: string;
  readonly body: string;
  /** Attributes of the root element. */
  readonly root?: string;
  readonly properties?: string;
  /** Whether the document names the style sheet; default: true. */
  readonly isStyled?: boolean;
}

export interface BookOptions {
  readonly documents: readonly BookDocument[];
  readonly version?: string;
  readonly metadata?: string;
  /** Rows of the manifest, and files, that are added. */
  readonly manifest?: string;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly spine?: string;
  /** The list of the navigation document; default: each document. */
  readonly nav?: string;
}

/** Returns a valid EPUB 3 book. */
export function bookOf(options: BookOptions): Buffer {
  const {
    documents,
    files = {},
    manifest = '',
    metadata = '',
    spine = '',
    version = '3.0',
  } = options;
  const entries = documents.map(({ name }) => `<li><a href="text/${name}">${name}</a></li>`);
  const nav = options.nav ?? entries.join('');
  const items = documents.map(({ name, properties }, index) => {
    const own = properties === undefined ? '' : ` properties="${properties}"`;
    return `    <item id="c${index}" href="text/${name}" media-type="application/xhtml+xml"${own}/>\n`;
  });
  const refs = documents.map((_, index) => `<itemref idref="c${index}"/>`);
  return zipOf({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': CONTAINER,
    'EPUB/style.css': 'p { margin: 0 }\n',
    ...Object.fromEntries(
      documents.map((one) => [`EPUB/text/${decodeURIComponent(one.name)}`, xhtmlOf(one)]),
    ),
    ...files,
    'EPUB/nav.xhtml': `<?xml version="1.0" encoding="utf-8"?>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>Contents</title></head>
<body><nav epub:type="toc"><ol>${nav}</ol></nav></body></html>\n`,
    'EPUB/package.opf': `<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="${version}" unique-identifier="id">
  <metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
    <dc:identifier id="id">urn:uuid:2f5c5e3a-7d0f-4a3a-9a1e-0d4f3b6c7a11</dc:identifier>
    <dc:title>A book</dc:title><dc:language>en</dc:language>
    <meta property="dcterms:modified">2026-01-01T00:00:00Z</meta>${metadata}
  </metadata>
  <manifest>
    <item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>
    <item id="css" href="style.css" media-type="text/css"/>
${items.join('')}${manifest}  </manifest>
  <spine${spine}>${refs.join('')}</spine>
</package>\n`,
  });
}

function xhtmlOf({ body, isStyled = true, root = '' }: BookDocument): string {
  const style = isStyled ? '<link rel="stylesheet" type="text/css" href="../style.css"/>' : '';
  return `<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"${root}>
<head><title>A document</title>${style}</head>
<body>${body}</body>
</html>\n`;
}

const CONTAINER = `<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>\n`;

/** A book in the form that pandoc gives it. */
export const PANDOC_BOOK: BookOptions = {
  documents: [
    {
      name: 'ch001.xhtml',
      body: `
<section id="the-bridge" class="level1" data-number="1">
<h1 data-number="1">The <em>old</em> bridge</h1>
<p>The old bridge is open again. The weather <em>is good. People</em> walk &amp; talk.<a href="#fn1" class="footnote-ref" id="fnref1" epub:type="noteref">1</a></p>
<blockquote>
<p>She asked, “Who are you?” Nobody knew.</p>
</blockquote>
<ol><li><p>The first item.</p></li><li>The second item</li></ol>
<aside epub:type="footnote" id="fn1"><p>A note is not spoken.</p></aside>
</section>`,
    },
    {
      name: 'ch002.xhtml',
      body: `
<section id="the-rain" class="level1"><h1>The rain</h1>
<p>The rain has stopped at last.</p>
<p>Goodbye.</p></section>`,
    },
  ],
};
