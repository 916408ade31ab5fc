import { expect, it } from 'vitest';
import { readDocument } from '../../../src/text/formats/read-document.ts';
import { zipOf } from '../../harness/epub.ts';
import { docxOf, fb2Of, odtOf } from '../../harness/office-documents.ts';

const DEEP = 100_000;
const deep = (element: string): string =>
  `<${element}>`.repeat(DEEP) + `</${element}>`.repeat(DEEP);
const ENTITIES = `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">${Array.from({ length: 9 }, (_, at) => `<!ENTITY a${at} "&a;&a;">`).join('')}]>`;

it.each([
  ['docx', docxOf(deep('w:ins')), /^word\/document2\.xml, line 1: .* nested more than 1000 levels/],
  ['odt', odtOf(deep('text:section')), /^content\.xml, line 1: .* nested more than 1000 levels/],
  ['fb2', Buffer.from(fb2Of(`<body>${deep('section')}</body>`)), /nested more than 1000 levels/],
  ['rtf', Buffer.from(`{\\rtf1 ${'{'.repeat(DEEP)}`), /nested more than 1000 levels/],
  ['fb2', Buffer.from(`${ENTITIES}<FictionBook>&a9;</FictionBook>`), /DOCTYPE has declarations/],
  [
    'odt',
    zipOf({ 'content.xml': Buffer.alloc(33 * 1024 * 1024, ' ') }),
    /^content\.xml is too large: at most 32 MiB/,
  ],
  ['docx', docxOf(' '.repeat(33 * 1024 * 1024)), /document2\.xml is too large: at most 32 MiB/],
  ['fb2', zipOf({ 'a.fb2': ' '.repeat(33 * 1024 * 1024) }), /^a\.fb2 is too large/],
] as const)('a hostile document in the format %s is refused', async (format, bytes, message) => {
  await expect(readDocument(format, bytes)).rejects.toThrow(message);
});
