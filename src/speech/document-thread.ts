import { runThread } from '../system/thread.ts';
import type { EncodingFault } from '../text/decode.ts';
import { TextEncodingError } from '../text/decode.ts';
import type { SpokenText } from '../text/document.ts';
import { decodeMarkup } from '../text/formats/decode-markup.ts';
import { DocumentError } from '../text/formats/document-error.ts';
import { readDocument } from '../text/formats/read-document.ts';
import { readLexicon } from '../text/formats/read-lexicon.ts';
import type { CodeMode, DocumentFormat } from '../text/formats/text-formats.ts';
import type { Lexicon } from '../text/lexicon.ts';
import type { LexiconEntry } from '../text/word-matcher.ts';

/** A document for the thread that reads large documents. */
export interface DocumentTask {
  readonly kind: 'document';
  readonly format: DocumentFormat;
  readonly bytes: Uint8Array;
  readonly code: CodeMode | undefined;
  /** Whether a book may lack files; they become notices. */
  readonly mayNotice: boolean;
}

/** A lexicon for the thread that reads large documents. */
export interface LexiconTask {
  readonly kind: 'lexicon';
  readonly bytes: Uint8Array;
}

/** A text for the thread that reads large documents, and the lexicon for its words. */
export interface ReplacementTask {
  readonly kind: 'replacement';
  readonly source: SpokenText;
  readonly entries: readonly LexiconEntry[];
}

export type ThreadTask = DocumentTask | LexiconTask | ReplacementTask;

/** The result of the thread: what it has read, or the error. */
export type ThreadReply =
  | {
      readonly kind: 'document';
      readonly parts: readonly SpokenText[];
      readonly notices: readonly string[];
    }
  | { readonly kind: 'lexicon'; readonly entries: readonly LexiconEntry[] }
  | { readonly kind: 'replacement'; readonly spoken: SpokenText }
  | {
      readonly kind: 'problem';
      readonly problem: string;
      readonly hint: string | undefined;
      readonly line: number | undefined;
    }
  | {
      readonly kind: 'encoding';
      readonly fault: EncodingFault;
      readonly byteOffset: number;
      readonly line: number;
      readonly byte: number;
    };

interface DocumentThreadOptions {
  /** Stops the thread. */
  readonly signal: AbortSignal | undefined;
  /** Called with a sentence about content that is missing; if undefined, such a document is refused. */
  readonly onNotice?: ((sentence: string) => void) | undefined;
}

/** Script of the worker thread. The relative path is valid both in the sources and in the build. */
const WORKER_FILE = new URL('../../dist/document-worker.cjs', import.meta.url);

// Starting a thread takes longer than reading a small document. A small zip archive may contain large files.
const SMALL_BYTES = 64 * 1024;

/**
 * Extracts the text of a document, as `readDocument` does. A thread reads large documents, so that the signal stops the
 * reading at once.
 * @throws DocumentError, TextEncodingError; on abort, the signal's abort reason
 */
export async function readDocumentUntil(
  task: Omit<DocumentTask, 'kind' | 'mayNotice'>,
  { onNotice, signal }: DocumentThreadOptions,
): Promise<readonly SpokenText[]> {
  const { bytes, code, format } = task;
  const [first, second] = bytes;
  const isArchive = first === 0x50 && second === 0x4b;
  if (!isArchive && bytes.length <= SMALL_BYTES) {
    return readDocument(format, bytes, code, onNotice);
  }
  const mayNotice = onNotice !== undefined;
  const reply = await readInThread({ kind: 'document', format, bytes, code, mayNotice }, signal);
  if (reply.kind !== 'document') throw errorOf(reply);
  for (const notice of reply.notices) onNotice?.(notice);
  return reply.parts;
}

/**
 * Reads the entries of a lexicon, as `readLexicon` does, also in a thread.
 * @throws DocumentError, TextEncodingError; on abort, the signal's abort reason
 */
export async function readLexiconUntil(
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<readonly LexiconEntry[]> {
  if (bytes.length <= SMALL_BYTES) return readLexicon(decodeMarkup(bytes));
  const reply = await readInThread({ kind: 'lexicon', bytes }, signal);
  if (reply.kind !== 'lexicon') throw errorOf(reply);
  return reply.entries;
}

/**
 * Replaces the words of a text that have a lexicon entry, as `Lexicon.apply` does. A thread does this in a long text.
 * @throws on abort, the signal's abort reason
 */
export async function applyLexiconUntil(
  lexicon: Lexicon,
  source: SpokenText,
  signal: AbortSignal,
): Promise<SpokenText> {
  if (source.text.length <= LONG_TEXT) return lexicon.apply(source);
  const { entries } = lexicon;
  const reply = await readInThread({ kind: 'replacement', source, entries }, signal);
  if (reply.kind !== 'replacement') throw errorOf(reply);
  return reply.spoken;
}

// The time for a shorter text is that of starting a thread.
const LONG_TEXT = 200_000;

function readInThread(data: ThreadTask, signal: AbortSignal | undefined): Promise<ThreadReply> {
  return runThread<ThreadReply>(WORKER_FILE, { name: 'document', data, signal });
}

function errorOf(reply: ThreadReply): Error {
  if (reply.kind === 'problem') {
    const { hint, line, problem } = reply;
    return new DocumentError(problem, hint === undefined ? { line } : { hint, line });
  }
  if (reply.kind === 'encoding') {
    const { byte, byteOffset, fault, line } = reply;
    return new TextEncodingError(fault, byteOffset, line, byte);
  }
  return new Error('The thread of the document sent another result.');
}
