import path, { posix } from 'node:path';
import type { FileDeps } from '../durable/files.ts';
import type { Output, Published } from '../durable/output.ts';
import type { SpokenLine } from '../script/recording/recording.ts';
import { openRecording } from '../script/recording/recording.ts';
import type { BookParagraph } from '../script/script.ts';
import type { Timings } from '../captions/timings.ts';
import type { Book } from './book.ts';
import { markDocument } from './book.ts';
import { insert } from './mark-units.ts';
import type { Overlay, OverlayAudio } from './overlay.ts';
import { OVERLAY_MEDIA_TYPES } from './overlay.ts';
import type { DocumentOverlay } from './package-document.ts';
import { packageInsertions } from './package-document.ts';
import { clipsOf, referenceTo, smilDocument } from './smil.ts';
import type { AddedFile } from './write-book.ts';
import { writeBook } from './write-book.ts';

/** A spoken text of a book. */
export interface BookLine extends SpokenLine {
  readonly paragraph: BookParagraph;
  readonly timings: Timings | undefined;
}

export interface ReadAlongOptions extends FileDeps {
  readonly book: Book;
  readonly overlay: Overlay;
  readonly format: OverlayAudio;
  /** The read-along book. The caller publishes or abandons it if this fails. */
  readonly output: Output;
  /** Folder for temporary files, on the same disk as the output. */
  readonly temporaryFolder: string;
  /** Target loudness of each audio file in LUFS, or `off` to leave the loudness unchanged. */
  readonly loudness: number | 'off';
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
 * Makes a read-along book: mixes the audio of each document into a file, adds ids to the documents, and writes a media
 * overlay for each document (EPUB 3.3, section 9).
 * @throws Failure of kind `output` if the book cannot be written
 * @throws Failure of kind `state` if the audio of a line cannot be read
 * @throws the signal's abort reason on abort
 */
export async function makeReadAlong(
  lines: readonly BookLine[],
  options: ReadAlongOptions,
): Promise<ReadAlong> {
  const { book, files, format, output, temporaryFolder } = options;
  const folder = newFolder(book);
  const overlays: DocumentOverlay[] = [];
  const replaced = new Map<string, Uint8Array>();
  const added: AddedFile[] = [];
  const sounds: string[] = [];
  let clipCount = 0;
  let hasClass = true;
  try {
    for (const [document, own] of linesByDocument(lines)) {
      const number = String(overlays.length + 1).padStart(4, '0');
      const sound = path.join(temporaryFolder, `${number}.${format}`);
      sounds.push(sound);
      const { durationMs, places } = await recordDocument(own, sound, options);
      const texts = own.map(({ paragraph, text, timings }, index) => {
        return { text, paragraph, startMs: places[index] ?? 0, timings };
      });
      const marked = await markDocument(book, document, texts, options.overlay);
      if (marked.parts.length === 0) continue;
      const clips = clipsOf(marked.parts, durationMs);
      const [smil, audio] = [`${folder}/${number}.smil`, `${folder}/${number}.${format}`];
      const overlay = smilDocument(referenceTo(document, smil), referenceTo(audio, smil), clips);
      const lengthMs = Math.floor(durationMs);
      const audioType = OVERLAY_MEDIA_TYPES[format];
      overlays.push({ document, smil, audio, audioType, durationMs: lengthMs });
      replaced.set(document, marked.bytes);
      added.push({ name: smil, content: Buffer.from(overlay) });
      added.push({ name: audio, content: { path: sound } });
      clipCount += clips.length;
      hasClass &&= marked.hasStyle;
    }
    const insertions = packageInsertions(book.package, overlays, hasClass);
    const { byteOrderMark, file, xml } = book.package;
    replaced.set(file, Buffer.from(byteOrderMark + insert(xml, insertions)));
    await writeBook({ ...options, book: book.bytes, replaced, added });
  } finally {
    for (const sound of sounds) await files.rm(sound, { force: true });
  }
  return {
    ...(await output.publish()),
    durationMs: overlays.reduce((sum, { durationMs }) => sum + durationMs, 0),
    documents: overlays.length,
    clips: clipCount,
    hasClass,
  };
}

function linesByDocument(lines: readonly BookLine[]): ReadonlyMap<string, readonly BookLine[]> {
  const documents = new Map<string, BookLine[]>();
  for (const line of lines) {
    const own = documents.get(line.paragraph.file);
    if (own === undefined) documents.set(line.paragraph.file, [line]);
    else own.push(line);
  }
  return documents;
}

async function recordDocument(
  lines: readonly BookLine[],
  sound: string,
  options: ReadAlongOptions,
): Promise<{ readonly durationMs: number; readonly places: readonly number[] }> {
  const recording = await openRecording({
    ...options,
    path: sound,
    timing: 'stretch',
    endPauseMs: lines.at(-1)?.pauseAfterMs,
  });
  try {
    const made = await recording.make(lines.map((line) => ({ ...line, chapter: undefined })));
    return { durationMs: made.durationMs, places: made.lines.map(({ startMs }) => startMs) };
  } finally {
    await recording.abandon();
  }
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
