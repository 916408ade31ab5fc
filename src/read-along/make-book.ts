import { posix } from 'node:path';
import type { Output, Published } from '../durable/output.ts';
import type { FileSystem } from '../system/file-system.ts';
import type { Book } from './book.ts';
import { markDocument } from './book.ts';
import { insert } from './mark-units.ts';
import type { Overlay } from './overlay.ts';
import type { DocumentOverlay } from './package-document.ts';
import { packageInsertions } from './package-document.ts';
import { clipsOf, referenceTo, smilDocument } from './smil.ts';
import type { PlacedText } from './units.ts';
import type { AddedFile } from './write-book.ts';
import { writeBook } from './write-book.ts';

/** A document of a book with its audio. */
export interface SpokenDocument {
  /** The file of the book. */
  readonly file: string;
  /** The spoken texts in order, with their times in the audio. */
  readonly texts: readonly PlacedText[];
  /** Path of the audio file, which must exist until the book is written. */
  readonly audio: string;
  /** Extension of the audio file in the book, such as `mp3`. */
  readonly extension: string;
  readonly mediaType: string;
  readonly durationMs: number;
}

export interface ReadAlongOptions {
  readonly book: Book;
  readonly overlay: Overlay;
  /** The read-along book. The caller abandons it if this fails. */
  readonly output: Output;
  readonly files: FileSystem;
  readonly signal: AbortSignal;
}

/** A finished read-along book. */
export interface ReadAlong extends Published {
  readonly durationMs: number;
  /** Number of documents that have a media overlay. */
  readonly documents: number;
  /** Number of elements that are highlighted. */
  readonly clips: number;
  /** False if reading systems choose the highlight, because a document has no style sheet. */
  readonly hasClass: boolean;
}

/**
 * Writes and publishes a read-along book: adds ids to the documents, and a media overlay with audio for each document
 * (EPUB 3.3, section 9).
 * @param documents the documents in the order of the spine
 * @throws Failure of kind `output` if the book cannot be written
 * @throws the signal's abort reason on abort
 */
export async function makeReadAlong(
  documents: AsyncIterable<SpokenDocument>,
  options: ReadAlongOptions,
): Promise<ReadAlong> {
  const { book, files, output, signal } = options;
  const folder = newFolder(book);
  const overlays: DocumentOverlay[] = [];
  const replaced = new Map<string, Uint8Array>();
  const added: AddedFile[] = [];
  let clipCount = 0;
  let hasClass = true;
  for await (const spoken of documents) {
    const { durationMs, extension, file, mediaType: audioType, texts } = spoken;
    const { bytes, hasStyle, parts } = await markDocument(book, file, texts, options.overlay);
    if (parts.length === 0) continue;
    const clips = clipsOf(parts, durationMs);
    const name = `${folder}/${String(overlays.length + 1).padStart(4, '0')}`;
    const [smil, audio] = [`${name}.smil`, `${name}.${extension}`];
    const overlay = smilDocument(referenceTo(file, smil), referenceTo(audio, smil), clips);
    overlays.push({ document: file, smil, audio, audioType, durationMs: Math.floor(durationMs) });
    replaced.set(file, bytes);
    added.push({ name: smil, content: Buffer.from(overlay) });
    added.push({ name: audio, content: { path: spoken.audio } });
    clipCount += clips.length;
    hasClass &&= hasStyle;
  }
  const { byteOrderMark, file, xml } = book.package;
  const insertions = packageInsertions(book.package, overlays, hasClass);
  replaced.set(file, Buffer.from(byteOrderMark + insert(xml, insertions)));
  await writeBook({ book: book.bytes, replaced, added, output, files, signal });
  return {
    ...(await output.publish()),
    durationMs: overlays.reduce((sum, { durationMs }) => sum + durationMs, 0),
    documents: overlays.length,
    clips: clipCount,
    hasClass,
  };
}

// Returns a folder that the book does not have, beside the package document.
function newFolder({ archive: { names }, package: { file } }: Book): string {
  const base = posix.join(posix.dirname(file), 'read-along');
  const isTaken = (folder: string): boolean => {
    const start = `${folder}/`.toLowerCase();
    return names.some((name) => name.toLowerCase().startsWith(start));
  };
  let folder = base;
  for (let number = 2; isTaken(folder); number += 1) folder = `${base}-${number}`;
  return folder;
}
