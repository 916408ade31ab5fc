import path from 'node:path';
import type { FileSystem } from '../effects/file-system.ts';
import { usageFailure } from '../errors/failure.ts';
import type { RegularFile } from '../files/regular-file.ts';
import { findRegularFile } from '../files/regular-file.ts';

/** A video, a sound or a picture that the service is to fetch. */
export type MediaInput =
  | { readonly kind: 'address'; readonly given: string }
  | {
      readonly kind: 'file';
      readonly given: string;
      /** Absolute. */
      readonly path: string;
      readonly file: RegularFile;
    };

/**
 * What a person gave as a URL or a FILE, checked before anything is sent.
 * @param flag the flag or argument that names it, for messages
 * @throws Failure (usage) for an address that is not one of the web, and a file that cannot be read again
 */
export async function readMediaInput(
  given: string,
  flag: string,
  { cwd, files }: { readonly cwd: () => string; readonly files: FileSystem },
): Promise<MediaInput> {
  if (given.trim() === '') throw usageFailure(`${flag} is empty`, 'Give a URL or a file.');
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(given)) return readAddress(given, flag);
  const shown = `${flag} "${given}"`;
  const file = await findRegularFile(given, shown, files);
  if (file === undefined) {
    throw usageFailure(
      `${shown} is not a regular file, and may have to be read more than once`,
      'Save it to a file first.',
    );
  }
  if (file.byteLength === 0) throw usageFailure(`${shown} is empty`);
  return { kind: 'file', given, path: path.resolve(cwd(), given), file };
}

function readAddress(given: string, flag: string): MediaInput {
  const isOfTheWeb = /^https?:\/\//i.test(given) && URL.canParse(given);
  if (isOfTheWeb) return { kind: 'address', given };
  throw usageFailure(
    `${flag} is "${given}"; it takes an http or https URL, or a file`,
    'Name a file by its path.',
  );
}
