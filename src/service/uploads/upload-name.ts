import { anyOf } from '../wording/describe-allowed.ts';
import { showText } from '../wording/show-value.ts';

/**
 * What is wrong with the name of an uploaded file, as a sentence; `undefined` for a good one. A name is
 * only ever looked at: no file here gets it.
 * @param extensions that it may have, in lower case
 */
export function nameProblem(
  name: string | undefined,
  extensions: readonly string[],
): string | undefined {
  if (name === undefined || name === '') return 'a file has no name, so that its kind is not told';
  if (name.includes('\uFFFD')) return 'the name of a file is not valid UTF-8';
  if (/[/\\]/.test(name)) return `${showText(name)} is a path; a file is sent with its name alone`;
  if (/\p{Cc}/u.test(name)) return `${showText(name)} has control characters in its name`;
  const extension = /.\.([^.]+)$/u.exec(name)?.[1]?.toLowerCase();
  if (extension !== undefined && extensions.includes(extension)) return undefined;
  const given = extension === undefined ? 'has no extension' : `ends in ${showText(extension)}`;
  return `${showText(name)} ${given}; allowed is ${anyOf(extensions)}`;
}
