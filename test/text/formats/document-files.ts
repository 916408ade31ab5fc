import { readFile } from 'node:fs/promises';
import FILES from './document-files.json' with { type: 'json' };

/** A document, the text that foley speaks, and its differences from the text that other readers show. */
export interface DocumentFile {
  readonly name: string;
  readonly text: string;
  /** Words that other readers show, and that foley leaves out or replaces on purpose. */
  readonly leftOut?: string;
  /** Words that foley adds, or speaks in their place. */
  readonly added?: string;
  /** For HTML, each place at which foley speaks other words than a browser shows, in order. */
  readonly browser?: readonly BrowserDifference[];
}

/** A place at which foley speaks other words than a browser shows. Either may be empty. */
interface BrowserDifference {
  readonly shown: string;
  readonly spoken: string;
  readonly reason: string;
}

/** The documents of `test/fixtures/documents`, from `document-files.json`. */
export const DOCUMENT_FILES: readonly DocumentFile[] = FILES.map(({ text, ...file }) => ({
  ...file,
  text: text.join('\n'),
}));

/** Returns the bytes of a document of {@link DOCUMENT_FILES}. */
export function readDocumentFile(name: string): Promise<Buffer> {
  return readFile(new URL(`../../fixtures/documents/${name}`, import.meta.url));
}
