import { describe, expect, it } from 'vitest';
import { readDocument } from '../../../src/text/formats/read-document.ts';
import { documentFormat } from '../../../src/text/formats/text-formats.ts';
import { DOCUMENT_FILES, readDocumentFile } from './document-files.ts';

describe('the text of the document', () => {
  it.each(DOCUMENT_FILES)('$name', async ({ name, text }) => {
    const format = documentFormat('auto', name);
    if (format === undefined) throw new Error(`${name} is no document`);
    const parts = await readDocument(format, await readDocumentFile(name));
    expect(parts.map((part) => part.text).join('\n\n')).toBe(text);
  });
});
