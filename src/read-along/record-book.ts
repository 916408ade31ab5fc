import path from 'node:path';
import type { Timings } from '../captions/timings.ts';
import type { System } from '../system/system.ts';
import type { SpokenLine } from '../script/recording/recording.ts';
import { openRecording } from '../script/recording/recording.ts';
import type { BookParagraph } from '../script/script.ts';
import type { SpokenDocument } from './make-book.ts';
import type { OverlayAudio } from './overlay.ts';
import { OVERLAY_MEDIA_TYPES } from './overlay.ts';

/** A spoken text of a book. */
export interface BookLine extends SpokenLine {
  readonly paragraph: BookParagraph;
  /** Undefined if only the start of the text is needed. */
  readonly timings: Timings | undefined;
}

export interface BookRecordingOptions {
  readonly system: System;
  readonly format: OverlayAudio;
  /** Folder for the audio files. The caller deletes it. */
  readonly folder: string;
  /** Target loudness of each audio file in LUFS, or `off` to leave the loudness unchanged. */
  readonly loudness: number | 'off';
  readonly signal: AbortSignal;
}

/**
 * Mixes the lines of each document of a book into an audio file.
 * @throws Failure of kind `output` if a file cannot be written
 * @throws Failure of kind `state` if the audio of a line cannot be read
 * @throws the signal's abort reason on abort
 */
export async function* recordBook(
  lines: readonly BookLine[],
  options: BookRecordingOptions,
): AsyncGenerator<SpokenDocument> {
  const { folder, format } = options;
  const documents = new Map<string, BookLine[]>();
  for (const line of lines) {
    const own = documents.get(line.paragraph.file);
    if (own === undefined) documents.set(line.paragraph.file, [line]);
    else own.push(line);
  }
  for (const [place, [file, own]] of [...documents].entries()) {
    const audio = path.join(folder, `${place + 1}.${format}`);
    const recording = await openRecording({
      system: options.system,
      format: options.format,
      loudness: options.loudness,
      signal: options.signal,
      path: audio,
      temporaryFolder: folder,
      timing: 'stretch',
      endPauseMs: own.at(-1)?.pauseAfterMs,
    });
    try {
      const { durationMs, lines: places } = await recording.make(own);
      const texts = own.map(({ paragraph, text, timings }, index) => {
        return { text, paragraph, startMs: places[index]?.startMs ?? 0, timings };
      });
      const mediaType = OVERLAY_MEDIA_TYPES[format];
      yield { file, texts, audio, extension: format, mediaType, durationMs };
    } finally {
      await recording.abandon();
    }
  }
}
