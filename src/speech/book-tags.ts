import { coverOf, MOST_COVER_BYTES } from '../audio/cover.ts';
import type { Tags } from '../audio/encode/tags.ts';
import { display } from '../text/display.ts';
import { readDetails } from '../text/formats/document-details.ts';
import type { BookFormat } from '../text/formats/text-formats.ts';

/**
 * Reads the title, the authors and the cover of a book, or of another document that may have chapters.
 * @param name name of the book, for the notice
 * @param onNotice called with a sentence about a cover that is left out, because it is neither JPEG nor PNG, or too large
 * @throws DocumentError
 */
export async function bookTags(
  name: string,
  { bytes, format }: { readonly bytes: Uint8Array; readonly format: BookFormat },
  onNotice: ((sentence: string) => void) | undefined,
): Promise<Tags> {
  const { author, cover: data, title } = await readDetails(format, bytes);
  if (data === undefined) return { title, author };
  const { picture: cover, problem } =
    data.length > MOST_COVER_BYTES ? { problem: 'is too large' } : coverOf(data);
  if (problem !== undefined) {
    onNotice?.(`the cover of ${display(name)} ${problem}, so it is left out`);
  }
  return { title, author, cover };
}
