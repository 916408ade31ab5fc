import { zipOf } from './epub.ts';

const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

/** Returns a Word document with this body, these styles and these lists, as XML. */
export function docxOf(
  body: string,
  styles = '',
  numbering = '',
  others: Readonly<Record<string, string>> = {},
): Buffer {
  return zipOf({
    ...others,
    '[Content_Types].xml': `<Types xmlns="${PACKAGE}/content-types"/>`,
    '_rels/.rels': relations(relation('officeDocument', 'word/document2.xml')),
    'word/_rels/document2.xml.rels': relations(
      relation('styles', 'styles2.xml') + relation('numbering', '/word/numbering.xml'),
    ),
    'word/document2.xml': wordRoot('document', `<w:body>${body}</w:body>`),
    'word/styles2.xml': wordRoot('styles', styles),
    'word/numbering.xml': wordRoot('numbering', numbering),
    'word/footnotes.xml': wordRoot('footnotes', '<w:p><w:r><w:t>NOTE</w:t></w:r></w:p>'),
    'word/header1.xml': wordRoot('hdr', '<w:p><w:r><w:t>HEADER</w:t></w:r></w:p>'),
  });
}

/** Returns an OpenDocument text with this text, these automatic styles, these common styles and these other files. */
export function odtOf(
  text: string,
  automatic = '',
  styles = '',
  others: Readonly<Record<string, string>> = {},
): Buffer {
  return zipOf({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'META-INF/manifest.xml': '<manifest:manifest xmlns:manifest="m"/>',
    ...others,
    'content.xml': officeRoot(
      'document-content',
      `<office:automatic-styles>${automatic}</office:automatic-styles><office:body><office:text>${text}</office:text></office:body>`,
    ),
    'styles.xml': officeRoot(
      'document-styles',
      `<office:styles>${styles}</office:styles><office:master-styles><text:p>HEADER</text:p></office:master-styles>`,
    ),
  });
}

/** Returns a FictionBook with these bodies, as XML. */
export function fb2Of(bodies: string, titleInfo = ''): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink">
<description><title-info><book-title>DESCRIPTION</book-title><annotation><p>ANNOTATION</p></annotation>${titleInfo}</title-info></description>
${bodies}<binary id="a.png" content-type="image/png">QUJD</binary></FictionBook>`;
}

function wordRoot(name: string, content: string): string {
  return `<?xml version="1.0"?><w:${name} xmlns:w="${WORD}" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:mc="a" xmlns:wp="b" xmlns:wps="c" xmlns:v="d">${content}</w:${name}>`;
}

function relation(kind: string, target: string): string {
  return `<Relationship Id="${kind}" Type="${RELATIONS}/${kind}" Target="${target}"/>`;
}

function relations(content: string): string {
  return `<?xml version="1.0"?><Relationships xmlns="${PACKAGE}/relationships">${content}</Relationships>`;
}

function officeRoot(name: string, content: string): string {
  return `<?xml version="1.0"?><office:${name} xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:style="s" xmlns:draw="d" xmlns:svg="v" xmlns:xlink="x">${content}</office:${name}>`;
}
