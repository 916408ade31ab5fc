import { RECORDING_MAX_MS } from '../../contract/recording-limits.ts';
import { extractDocument } from '../../speech/document-source.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { durationText } from '../../text/duration.ts';
import type { DraftLine } from '../script.ts';
import { DocumentError } from '../../text/formats/document-error.ts';
import type { Cue } from '../../text/formats/subtitles.ts';
import { clockMs, parseCues } from '../../text/formats/subtitles.ts';
import { SPEAKABLE } from '../../text/parts.ts';
import { placeFailure } from '../script.ts';
import { lineTexts, speakerIn } from './line-texts.ts';

/**
 * Reads the paragraphs of an EPUB book as lines of the narrator. The chapters come from the table of contents. In a
 * book that has no table of contents, each file is a chapter. If the first paragraph of the file is short, it becomes
 * the title of the chapter.
 * @throws Failure of kind `usage`
 */
export async function readBook(file: string, bytes: Uint8Array): Promise<readonly DraftLine[]> {
  const chapters = await extractDocument(file, 'epub', bytes, undefined);
  return chapters.flatMap(({ chapters: starts, text }, index) => {
    const paragraphs = text.split(/\n{2,}/);
    const titles = starts ?? [{ title: headingOf(paragraphs, index), paragraph: 0 }];
    return paragraphs.map((paragraph, at) => {
      const place = { file: `${file}, chapter ${index + 1}, paragraph ${at + 1}` };
      const chapter = titles.find((one) => one.paragraph === at)?.title;
      return {
        place,
        ...lineTexts(paragraph, place),
        ...(chapter === undefined ? {} : { chapter }),
      };
    });
  });
}

function headingOf(paragraphs: readonly string[], index: number): string {
  const [first = ''] = paragraphs;
  const isTitle = paragraphs.length > 1 && countCodePoints(first) <= LONGEST_TITLE;
  return isTitle ? first.replace(/\.$/, '') : `Chapter ${index + 1}`;
}

const LONGEST_TITLE = 80;

/**
 * Reads a timed script from SubRip or WebVTT subtitles. Leaves out cues without letters and digits, such as `♪`.
 * @throws Failure of kind `usage` with line and column
 */
export function readTimedCues(
  subtitles: string,
  file: string,
  cast: readonly string[],
): readonly DraftLine[] {
  return cuesOf(subtitles, file).flatMap((cue) => {
    const { endMs, line, startMs } = cue;
    if (endMs <= startMs) {
      throw placeFailure({ file, line, column: 1 }, 'this cue ends before it begins');
    }
    if (endMs > RECORDING_MAX_MS) {
      const limit = `${durationText(RECORDING_MAX_MS)}, the maximum length of a recording`;
      throw placeFailure({ file, line, column: 1 }, `this cue is after ${limit}`);
    }
    const text = cue.text.replaceAll(/(^|\n)[-–—]\s*/g, '$1').trimEnd();
    const place = { file, line: line + 1, column: 1 };
    if (text.trim() === '') throw placeFailure(place, 'this cue is empty', 'Remove it.');
    if (!SPEAKABLE.test(text)) return [];
    const named = speakerIn(text, cast, false);
    const { end, name = cue.speaker } = named ?? { end: 0 };
    const words = text.slice(end);
    const spoken = { ...place, column: end + 1 };
    if (words === '') throw placeFailure(spoken, `${name} has no text here`);
    const speaker = name === undefined ? {} : { speaker: name };
    return { place: spoken, startMs, endMs, ...speaker, ...lineTexts(words, spoken) };
  });
}

function cuesOf(subtitles: string, file: string): readonly Cue[] {
  try {
    return parseCues(subtitles);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const { hint, line = 1, message } = error;
    const row = subtitles.split(/\r\n|\n|\r/)[line - 1] ?? '';
    const [from = '', to = ''] = row.split('-->');
    const isFirst = clockMs(from) === undefined || to === '';
    const column = isFirst ? 1 : row.length - to.trimStart().length + 1;
    throw placeFailure({ file, line, column }, message, hint);
  }
}
