import type { SpokenText } from '../document.ts';
import type { Archive } from './archive.ts';
import { inFile, MAX_CONTENT_BYTES, openArchive } from './archive.ts';
import { DocumentError } from './document-error.ts';
import { DocxNumbering } from './docx-numbering.ts';
import { DocxReader } from './docx-text.ts';
import { DocxStyles } from './docx-styles.ts';
import { localName, pathOf } from './epub-contents.ts';
import type { XmlHandler } from './xml.ts';
import { readXml } from './xml.ts';

/**
 * Extracts the text of a Word document. Leaves out notes, comments, hidden text, deleted text of tracked changes, page
 * numbers, headers, footers and printed tables of contents.
 * @returns one text for each chapter
 * @throws DocumentError
 */
export async function readDocx(bytes: Uint8Array): Promise<readonly SpokenText[]> {
  const archive = await openArchive(bytes, 'a Word document', 'the document');
  const main = (await relatedFiles(archive, '')).get('officeDocument');
  if (main === undefined) throw new DocumentError('not a Word document: it names no main file');
  const related = await relatedFiles(archive, main);
  const styles = new DocxStyles();
  const numbering = new DocxNumbering();
  await readPart(archive, related.get('styles'), styles);
  await readPart(archive, related.get('numbering'), numbering);
  const reader = new DocxReader(styles, numbering);
  await readPart(archive, main, reader);
  if (!reader.hasBody) throw new DocumentError('not a Word document: it has no element <w:body>');
  return reader.html.read();
}

async function readPart(archive: Archive, file: string | undefined, to: XmlHandler): Promise<void> {
  if (file === undefined) return;
  const xml = await archive.read(file, MAX_CONTENT_BYTES);
  try {
    readXml(xml, to);
  } catch (error) {
    throw inFile(file, error);
  }
}

// Returns the files that a file names, by the kind of their relation. A main file may have any name.
async function relatedFiles(archive: Archive, from: string): Promise<ReadonlyMap<string, string>> {
  const [, folder = '', name = ''] = /^(.*\/)?([^/]*)$/.exec(from) ?? [];
  const list = archive.find(`${folder}_rels/${name}.rels`);
  const files = new Map<string, string>();
  if (!archive.has(list)) return files;
  await readPart(archive, list, {
    open(element, { Target: target = '', Type: type = '' }) {
      if (localName(element) !== 'Relationship') return;
      const kind = type.slice(type.lastIndexOf('/') + 1);
      const file = target.startsWith('/') ? pathOf(target.slice(1), '') : pathOf(target, from);
      if (archive.has(archive.find(file)) && !files.has(kind)) files.set(kind, archive.find(file));
    },
  });
  return files;
}
