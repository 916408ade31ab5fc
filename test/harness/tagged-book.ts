import sharp from 'sharp';
import { epubOf } from './epub.ts';

export const TITLES = ['The Harbour', 'The Boat', 'The Hill'] as const;

/** A grey picture of 8 × 8. */
export const COVER = await sharp({
  create: { width: 8, height: 8, channels: 3, background: '#808080' },
})
  .png()
  .toBuffer();

/** A book with a title, two authors, a cover, and three chapters in two files. */
export const BOOK = epubOf(
  [
    '<h1>The Harbour</h1><p>It was a quiet morning in the harbour. Nobody spoke.</p>' +
      '<h2 id="boat">The Boat</h2><p>Then the boat came in, and everybody looked.</p>',
    '<h1>The Hill</h1><p>On the hill stood a house. It was old.</p>',
  ],
  { 'OEBPS/cover.png': COVER },
  {
    metadata:
      '<dc:title id="short">Harbour</dc:title><meta refines="#short" property="title-type">short</meta>' +
      '<dc:title id="main">The Harbour &amp; the Hill</dc:title><meta refines="#main" property="title-type">main</meta>' +
      '<dc:creator id="a">Ada</dc:creator><meta refines="#a" property="role">aut</meta>' +
      '<dc:creator id="b">Bo</dc:creator><meta refines="#b" property="role">aut</meta>' +
      '<dc:creator id="c">Cy</dc:creator><meta refines="#c" property="role">ill</meta>',
    items: '<item id="cover" href="cover.png" media-type="image/png" properties="cover-image"/>',
    nav:
      '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body><nav epub:type="toc"><ol>' +
      '<li><a href="text/c0.xhtml">The Harbour</a></li><li><a href="text/c0.xhtml#boat">The Boat</a></li>' +
      '<li><a href="text/c1.xhtml">The Hill</a></li></ol></nav></body></html>',
  },
);
