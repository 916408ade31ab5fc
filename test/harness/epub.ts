import { crc32, deflateRawSync } from 'node:zlib';

/** Returns a zip archive of these files, compressed except for the media type of an EPUB or OpenDocument text. */
export function zipOf(files: Readonly<Record<string, string | Uint8Array>>): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [file, content] of Object.entries(files)) {
    const name = Buffer.from(file);
    const bytes = Buffer.from(content);
    const isStored = file === 'mimetype';
    const packed = isStored ? bytes : deflateRawSync(bytes);
    const sizes = Buffer.alloc(12);
    sizes.writeUInt32LE(crc32(bytes), 0);
    sizes.writeUInt32LE(packed.length, 4);
    sizes.writeUInt32LE(bytes.length, 8);
    // Version 2.0, UTF-8 names, method, no date.
    const method = Buffer.from([20, 0, 0, 8, isStored ? 0 : 8, 0, 0, 0, 0, 0]);
    const lengths = Buffer.alloc(4);
    lengths.writeUInt16LE(name.length, 0);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), method, sizes, lengths, name, packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const made = Buffer.from([20, 0]);
    central.push(
      Buffer.concat([Buffer.from('PK\x01\x02'), made, method, sizes, lengths, place, name]),
    );
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(central.length, 8);
  end.writeUInt16LE(central.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

/** Returns an EPUB with these chapters, each the body of an XHTML file, and these other files. */
export function epubOf(
  chapters: readonly string[],
  others: Readonly<Record<string, string | Uint8Array>> = {},
  {
    items: more = '',
    metadata = '',
    nav,
    ncx,
  }: {
    readonly nav?: string;
    readonly ncx?: string;
    /** Elements of the metadata and of the manifest. */
    readonly metadata?: string;
    readonly items?: string;
  } = {},
): Buffer {
  const ids = chapters.map((_, index) => `c${index}`);
  const items = ids.map(
    (id) => `<item id="${id}" href="text/${id}.xhtml" media-type="application/xhtml+xml"/>`,
  );
  // The manifest is in another order than the spine.
  const contents = [
    nav === undefined
      ? ''
      : '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>',
    ncx === undefined
      ? ''
      : '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>',
  ];
  const manifest = [...items.toReversed(), ...contents, more].join('');
  const spine = ids.map((id) => `<itemref idref="${id}"/>`).join('');
  const files = chapters.map((body, index) => [`OEBPS/text/c${index}.xhtml`, xhtml(body)]);
  return zipOf({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': `<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>`,
    'OEBPS/book.opf': `<?xml version="1.0"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">${metadata}</metadata><manifest>${manifest}</manifest><spine>${spine}</spine></package>`,
    ...Object.fromEntries(files),
    ...(nav === undefined ? {} : { 'OEBPS/nav.xhtml': nav }),
    ...(ncx === undefined ? {} : { 'OEBPS/toc.ncx': ncx }),
    ...others,
  });
}

function xhtml(body: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>${body}</body></html>`;
}
