import type { BookOptions } from '../../read-along/books.ts';
import { PANDOC_BOOK } from '../../read-along/books.ts';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const IMAGE = '<item id="image" href="text/image.png" media-type="image/png"/>\n';

/** Books in the forms that the common tools give them, and books with content that is hard to mark. */
export const BOOKS: Readonly<Record<string, BookOptions>> = {
  pandoc: PANDOC_BOOK,
  ebooklib: {
    documents: [
      {
        name: 'chap_01.xhtml',
        root: ' lang="en" xml:lang="en"',
        body: '\n    <h1>Intro heading</h1>\n    <p>Hello there. This is a <b>test</b>.</p><p/>\n  ',
      },
      {
        name: 'chap_02.xhtml',
        body: '<h1 id="x">Two</h1><div>Text in a div. Without a paragraph.</div>',
      },
    ],
  },
  'a chapter in two files, as Calibre splits it': {
    documents: [
      {
        name: 'index_split_000.html',
        root: ' xml:lang="en"',
        body: '<p class="calibre1"><span class="calibre2"><b class="calibre3">Chapter one</b></span></p>\n<p class="calibre1">It was late. <span class="italic">He said “no.” She</span> did not hear.</p>\n<div class="mbp_pagebreak" id="calibre_pb_0"></div>\n',
      },
      {
        name: 'index_split_001.html',
        body: '<p class="calibre1">The same chapter goes on. It ends here.</p>',
      },
    ],
    nav: '<li><a href="text/index_split_000.html">Chapter one</a></li>',
  },
  'notes and page breaks': {
    documents: [
      {
        name: 'notes.xhtml',
        body: `<section epub:type="chapter"><h2>Notes</h2>
<p>A claim.<a epub:type="noteref" href="#n1" id="r1">1</a> <span epub:type="pagebreak" role="doc-pagebreak" id="page12" title="12"></span>Another claim<sup><a href="#n1">[2]</a></sup> follows.</p>
<p hidden="hidden">Hidden text.</p>
<aside epub:type="footnote" id="n1"><p>The note. <a href="#r1">↩</a></p></aside></section>`,
      },
    ],
  },
  ruby: {
    documents: [
      {
        name: 'ruby.xhtml',
        body: '<p>The word <ruby>漢<rt>kan</rt>字<rt>ji</rt></ruby> is here. It has <ruby>two<rp>(</rp><rt>2</rt><rp>)</rp></ruby> signs.</p><p><ruby>One. Two<rt>pronounced</rt></ruby> three.</p>',
      },
    ],
  },
  'formulas and images': {
    documents: [
      {
        name: 'formulas.xhtml',
        properties: 'mathml',
        body: '<p>We know <math xmlns="http://www.w3.org/1998/Math/MathML" alttext="x plus one"><mi>x</mi><mo>+</mo><mn>1</mn></math> well. The rest is <math xmlns="http://www.w3.org/1998/Math/MathML" display="block" alttext="y"><mi>y</mi></math></p><figure><img src="image.png" alt="A red dog."/><figcaption>A dog. It is red.</figcaption></figure><p>E = mc<sup>2</sup>. See <code>a &lt; b</code>.</p><pre>let x = 1;</pre>',
      },
    ],
    manifest: IMAGE,
    files: { 'EPUB/text/image.png': PIXEL },
  },
  'lists, tables and quotes': {
    documents: [
      {
        name: 'lists.xhtml',
        body: '<ul><li>One</li><li>Two. Three.<ul><li>Inner</li></ul></li></ul><table><caption>A table</caption><tr><th>Name</th><td>Ada</td></tr></table><dl><dt>Term</dt><dd>Its meaning. More.</dd></dl><blockquote>Bare text in a quote.<p>A paragraph.</p></blockquote><p><a href="#t"><b>All bold. And linked</b></a> text.<br/>Next line</p><p id="t">End.</p>',
      },
    ],
  },
  'nested contents, and a name with a space': {
    documents: [
      {
        name: 'a%20b.xhtml',
        body: '<section id="s1"><h1>One</h1><section id="s2"><h2>Inside</h2><p>Text here.</p></section></section>',
      },
    ],
    nav: '<li><a href="text/a%20b.xhtml">One</a><ol><li><a href="text/a%20b.xhtml#s2">Inside</a></li></ol></li>',
  },
  'right-to-left': {
    documents: [
      {
        name: 'rtl.xhtml',
        root: ' dir="rtl"',
        body: '<h1>Hello</h1><p dir="rtl">This is one. <bdi>That</bdi> is <bdo dir="ltr">two. And</bdo> three.</p>',
      },
    ],
    spine: ' page-progression-direction="rtl"',
  },
  'vertical text': {
    documents: [
      {
        name: 'vertical.xhtml',
        body: '<div style="writing-mode: vertical-rl"><p>One sentence. <span style="text-combine-upright: all">12</span> more.</p></div>',
      },
    ],
    spine: ' page-progression-direction="rtl"',
  },
  'no style sheet in a document': {
    documents: [
      { name: 'styled.xhtml', body: '<p>With a style sheet.</p>' },
      { name: 'plain.xhtml', body: '<p>Without one.</p>', isStyled: false },
    ],
  },
};
