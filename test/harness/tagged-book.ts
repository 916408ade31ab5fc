import { crc32, deflateSync } from 'node:zlib';
import { epubOf } from './epub.ts';

export const TITLES = ['The Harbour', 'The Boat', 'The Hill'] as const;

/** A grey picture of 8 × 8. */
export const COVER = png();

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

function png(): Buffer {
  const size = 8;
  const header = Buffer.from([0, 0, 0, size, 0, 0, 0, size, 8, 0, 0, 0, 0]);
  const rows = Buffer.alloc(size * (size + 1), 0x80);
  for (let row = 0; row < size; row += 1) rows[row * (size + 1)] = 0;
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', new Uint8Array(0)),
  ]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
