import { expect, test } from 'vitest';
import { readDetails } from '../../../src/text/formats/document-details.ts';
import { zipOf } from '../../harness/epub.ts';
import { docxOf, fb2Of, odtOf } from '../../harness/office-documents.ts';

const DUBLIN_CORE = 'xmlns:dc="http://purl.org/dc/elements/1.1/"';

test('a Word document has the title and the creator of its properties', async () => {
  const core = `<?xml version="1.0"?><cp:coreProperties xmlns:cp="c" ${DUBLIN_CORE}><dc:title>The  Harbour &amp;\nthe Hill</dc:title><dc:creator>Ada</dc:creator><cp:lastModifiedBy>Bo</cp:lastModifiedBy></cp:coreProperties>`;
  const document = docxOf('<w:p/>', '', '', { 'docProps/core.xml': core });
  expect(await readDetails('docx', document)).toEqual({
    title: 'The Harbour & the Hill',
    author: 'Ada',
  });
  expect(await readDetails('docx', docxOf('<w:p/>'))).toEqual({});
});

test('an OpenDocument text has its title and its first creator', async () => {
  const meta = `<?xml version="1.0"?><office:document-meta xmlns:office="o" xmlns:meta="m" ${DUBLIN_CORE}><office:meta><dc:creator>Bo</dc:creator><meta:initial-creator>Ada</meta:initial-creator><dc:title> </dc:title></office:meta></office:document-meta>`;
  const document = odtOf('<text:p>Hi.</text:p>', '', '', { 'meta.xml': meta });
  expect(await readDetails('odt', document)).toEqual({ title: undefined, author: 'Ada' });
  expect(await readDetails('odt', odtOf('<text:p>Hi.</text:p>'))).toEqual({});
});

test('a FictionBook has its title, its authors and its cover, also in an archive', async () => {
  const names =
    '<author><first-name>Ada</first-name><middle-name>B.</middle-name><last-name>Clark</last-name></author>' +
    '<author><nickname>dee</nickname></author><author><first-name/></author>';
  const others = '<coverpage><image l:href="#a.png"/></coverpage>';
  const translator = '<translator><first-name>Eve</first-name></translator>';
  const book = Buffer.from(fb2Of('<body><p>Hi.</p></body>', names + others + translator));
  const details = { title: 'DESCRIPTION', author: 'Ada B. Clark, dee', cover: Buffer.from('ABC') };
  expect(await readDetails('fb2', book)).toEqual(details);
  expect(await readDetails('fb2', zipOf({ 'a.fb2': book }))).toEqual(details);
});

test('Rich Text has no details', async () => {
  expect(await readDetails('rtf', Buffer.from('{\\rtf1 Hi.}'))).toEqual({});
});
