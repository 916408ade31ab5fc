import type { Option } from 'commander';
import type { Tags } from '../../../src/audio/encode/tags.ts';
import type { Context } from '../../../src/cli/command.ts';
import { textOption } from '../../../src/cli/flags/values.ts';
import { readInput } from '../../../src/cli/read-input.ts';
import type { FileFormat } from '../../../src/contract/values.ts';
import { FILE_FORMATS } from '../../../src/contract/values.ts';
import { usageFailure } from '../../../src/errors/failure.ts';

/** The flags for the tags of an audio file. */
export interface TagFlags {
  readonly title?: string;
  readonly author?: string;
  readonly album?: string;
  readonly cover?: string;
}

/** Creates the options for the tags of an audio file. */
export function tagOptions(file: string): Option[] {
  return [
    textOption('--title <text>', `title of ${file}, except wav (default: of the book)`),
    textOption('--author <text>', `author of ${file} (default: of the book)`),
    textOption('--album <text>', `album of ${file}`),
    textOption('--cover <file>', `cover of ${file}, as JPEG or PNG (default: of the book)`),
  ];
}

/** Returns whether files of a format can have tags and chapters. */
export function hasTags(format: string | undefined): boolean {
  return TAGGED.some((one) => one === format);
}

const TAGGED = FILE_FORMATS.filter((format: FileFormat) => format !== 'wav');

/**
 * @param where what has the format, such as `wav`
 * @throws Failure of kind `usage` if a flag for tags is given for a file that cannot have them
 */
export function refuseTags({ album, author, cover, title }: TagFlags, where: string): void {
  const tag = Object.entries({ album, author, cover, title }).find(
    ([, value]) => value !== undefined,
  );
  if (tag === undefined) return;
  const [tagFlag] = tag;
  throw usageFailure(
    `--${tagFlag} is given, but ${where} has no tags; these formats have them: ${TAGGED.join(', ')}`,
    `Leave --${tagFlag} out, or choose another --output.`,
  );
}

/**
 * Returns the tags of an audio file: those of the flags, and otherwise those of the book.
 * @throws Failure of kind `usage` if the cover file cannot be read, is too large or is not a valid JPEG or PNG file
 */
export async function readTags(
  context: Context,
  { album, author, cover, title }: TagFlags,
  book: Tags = {},
): Promise<Tags> {
  const tags = { title: title ?? book.title, author: author ?? book.author, album };
  if (cover === undefined) return { ...tags, cover: book.cover };
  const data = await readInput(context, cover, `--cover ${cover}`);
  const { coverOf, MOST_COVER_BYTES } = await import('../../../src/audio/cover.ts');
  if (data.length > MOST_COVER_BYTES) {
    throw usageFailure(
      `--cover ${cover} has ${data.length} bytes; a cover has at most ${MOST_COVER_BYTES >> 20} MiB`,
      'Save the picture in a smaller size.',
    );
  }
  const { picture, problem } = coverOf(data);
  if (picture === undefined) throw usageFailure(`--cover ${cover} ${problem}`);
  return { ...tags, cover: picture };
}
