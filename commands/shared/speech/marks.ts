import type { Tags } from '../../../src/audio/encode/tags.ts';
import { isUnmarked, JoinedMarks } from '../../../src/audio/encode/tags.ts';
import type { Format } from '../../../src/audio/formats.ts';
import type { Context } from '../../../src/cli/command.ts';
import type { OutputPlan } from '../../../src/paid/speakers/speak-stream.ts';
import type { SpeechText } from '../../../src/speech/speech-text.ts';
import type { TagFlags } from '../flags/tags.ts';
import { hasTags, readTags, refuseTags } from '../flags/tags.ts';

/**
 * Returns the tags and the chapters of the file that a speech command writes: those of a book, unless flags say otherwise.
 * @returns undefined if there are none, or the output is no file that can have them
 * @throws Failure of kind `usage` if a flag for tags is given for such an output, or the cover is not usable
 */
export async function planMarks(
  context: Context,
  flags: TagFlags & { readonly file?: string; readonly split?: 'auto' | 'never' },
  { encoding, format, kind }: OutputPlan<Format>,
  { book, spoken }: SpeechText,
): Promise<JoinedMarks | undefined> {
  const isFile = kind === 'file' || kind === 'automatic';
  if (!isFile) {
    refuseTags(flags, kind === 'stdout' ? 'stdout' : 'what a player gets');
    return undefined;
  }
  const written = encoding ?? format;
  if (!hasTags(written)) {
    refuseTags(flags, written);
    return undefined;
  }
  const tags = await readTags(context, flags, await tagsOf(context, flags.file, book));
  // Chapters begin new requests, which --split never does not allow.
  const chapters = flags.split === 'never' ? [] : (spoken?.chapters ?? []);
  const marks = new JoinedMarks(
    tags,
    chapters.map(({ title }) => title),
  );
  return isUnmarked(marks) ? undefined : marks;
}

async function tagsOf(
  { io }: Context,
  file: string | undefined,
  book: SpeechText['book'],
): Promise<Tags | undefined> {
  if (book === undefined) return undefined;
  const { bookTags } = await import('../../../src/speech/book-tags.ts');
  return bookTags(file ?? 'stdin', book, (sentence) => io.notice(`foley: ${sentence}`));
}
