import type { CaptionFormat } from '../../captions/caption-files.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { hasErrno } from '../../files/errno.ts';
import { captionNames } from '../run/aligned-speaker.ts';

/** A caption of a page. */
export interface ShownCue {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
}

/** The captions that foley wrote beside an output; none where there are no subtitles. */
export async function cuesBeside(
  output: string,
  formats: readonly CaptionFormat[],
  files: Pick<FileSystem, 'readFile'>,
): Promise<ShownCue[]> {
  const subtitles = formats.filter((format) => format !== 'json');
  const [name] = captionNames(output, subtitles);
  if (name === undefined) return [];
  try {
    return readCues((await files.readFile(name)).toString());
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'EACCES')) return [];
    throw error;
  }
}

const TIMES = /^(\d+:\d\d:\d\d[.,]\d{3}|\d\d:\d\d\.\d{3}) --> (\S+)/;

/** Reads SubRip and WebVTT as foley writes them; words with times of their own lose those. */
function readCues(subtitles: string): ShownCue[] {
  return subtitles.split('\n\n').flatMap((block) => {
    const lines = block.split('\n');
    const at = lines.findIndex((line) => TIMES.test(line));
    const [, start = '', end = ''] = TIMES.exec(lines[at] ?? '') ?? [];
    if (at === -1) return [];
    const text = lines
      .slice(at + 1)
      .join('\n')
      .trimEnd();
    return [{ startMs: milliseconds(start), endMs: milliseconds(end), text: unmarked(text) }];
  });
}

function milliseconds(time: string): number {
  const [seconds = 0, minutes = 0, hours = 0] = time
    .replace(',', '.')
    .split(':')
    .map(Number)
    .toReversed();
  return Math.round((hours * 3600 + minutes * 60 + seconds) * 1000);
}

function unmarked(text: string): string {
  const plain = text.replaceAll(/<[^>]*>/g, '');
  return plain.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
