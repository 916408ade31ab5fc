import path from 'node:path';
import type { FileSystem } from '../system/file-system.ts';
import { usageFailure } from '../errors/failure.ts';
import { sliceCodePoints } from '../text/code-points.ts';
import { display } from '../text/display.ts';
import { sha256 } from './checksum.ts';
import { hasErrno, outputFailure } from './file-failures.ts';

/**
 * Returns a file name made from the beginning of a text, with the characters `[a-z0-9-]`. A file with this name may
 * exist, so open it with `existing: 'number'`.
 */
export function automaticName(text: string, extension: string): string {
  return `${notReserved(slug(text))}.${safeName(extension)}`;
}

/** Returns the name of a downloaded file: `<id>.<ext>`. Replaces characters of the id that are unsafe in names. */
export function downloadName(id: string, extension: string): string {
  return `${safeName(id)}.${safeName(extension)}`;
}

/** Returns the name of a downloaded segment of a speech job: `<id>-<n>.<ext>`. */
export function segmentName(id: string, segment: number, extension: string): string {
  return `${safeName(id)}-${segment}.${safeName(extension)}`;
}

/**
 * Converts an untrusted string to a file name that is valid on every system: `[A-Za-z0-9._-]`, at most 100
 * characters. If that changes the string, appends a hash, so that different strings get different names.
 */
export function safeName(untrusted: string): string {
  const plain = untrusted
    .slice(0, SAFE_CHARACTERS)
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/\.{2,}/g, '.')
    .replace(/^[.-]+/, '')
    .replace(/[.-]+$/, '');
  const name = notReserved(plain);
  if (name === untrusted && name !== '') return name;
  const mark = sha256(untrusted).slice(0, 8);
  return name === '' ? mark : `${name.slice(0, SAFE_CHARACTERS - 9)}-${mark}`;
}

/** Returns `name.mp3` for number 1, then `name-2.mp3`, `name-3.mp3` and so on. */
export function numbered(file: string, number: number): string {
  if (number === 1) return file;
  const { dir, name, ext } = path.parse(file);
  return path.join(dir, `${name}-${number}${ext}`);
}

/**
 * Returns the path of a file with an untrusted name in `folder`. Does not create the file.
 * @throws Failure of kind `usage` for an absolute name, or one that leaves the folder through `..` or symbolic links
 */
export async function containedPath(
  folder: string,
  name: string,
  files: FileSystem,
): Promise<string> {
  const parts = name.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isPlain || /[\\\0]|^[A-Za-z]:/.test(name)) {
    throw usageFailure(
      `${display(name)} is not a valid file name inside the folder ${display(folder)}`,
      'Use names like a.mp3 or part-1/a.mp3, with / between folders.',
    );
  }
  const file = path.join(folder, ...parts);
  const root = await realpathOfExisting(folder, files);
  const real = await realpathOfExisting(file, files);
  if (real !== root && !real.startsWith(root.endsWith(path.sep) ? root : root + path.sep)) {
    throw usageFailure(`${display(name)} leads out of ${display(folder)} through a symbolic link`);
  }
  return file;
}

const SAFE_CHARACTERS = 100;

/** Appends `-file` to a name that Windows reserves for a device, such as `con`. Returns other names unchanged. */
export function notReserved(name: string): string {
  return name.replace(RESERVED, '$&-file');
}

// Windows reserves these device names in any case and with any extension.
const RESERVED =
  /^(?:con|prn|aux|nul|com[\d\u00b9\u00b2\u00b3]|lpt[\d\u00b9\u00b2\u00b3]|conin\$|conout\$)(?=\.|$)/i;

/** Returns whether a path is the null device of Windows, which discards what is written. */
export function isWindowsNullDevice(file: string): boolean {
  return /^(?:\\\\[.?]\\)?nul:?$/i.test(file);
}

/** Returns why Windows cannot store a file with this path, such as `contains a ":"`; undefined if Windows can. */
export function windowsNameProblem(file: string): string | undefined {
  const { root } = path.win32.parse(file);
  const parts = file.slice(root.length).split(/[\\/]/);
  for (const part of parts.filter((one) => one !== '.' && one !== '..')) {
    if (RESERVED.test(part.trimEnd())) return `contains the device name ${display(part)}`;
    // A colon would name a hidden stream of another file.
    const [character] = /[<>:"|?*\0-\x1f]/.exec(part) ?? [];
    if (character !== undefined) return `contains a ${display(JSON.stringify(character))}`;
    if (/[. ]$/.test(part)) return 'has a part that ends with a dot or a space';
  }
  return undefined;
}

// For a missing path, resolves the links of its nearest existing parent folder.
async function realpathOfExisting(file: string, files: FileSystem): Promise<string> {
  try {
    return await files.realpath(file);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT')) throw outputFailure(file, error, 'opening');
    const stats = await files.lstat(file).catch(() => undefined);
    if (stats?.isSymbolicLink() === true) {
      throw usageFailure(`${display(file)} is a symbolic link to a file that does not exist`);
    }
    return realpathOfExisting(path.dirname(file), files);
  }
}

const SLUG_CHARACTERS = 40;

/** Returns the beginning of a text as `[a-z0-9-]`, at most 40 characters; `speech` if no characters remain. */
export function slug(text: string): string {
  const folded = sliceCodePoints(text.trimStart(), 0, SLUG_CHARACTERS)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{Mark}+/gu, '')
    .replaceAll(/[æđðħıłøœßþ]/g, (letter) => UNDECOMPOSED[letter] ?? '-')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARACTERS);
  const name = folded.replace(/^-/, '').replace(/-$/, '');
  return name === '' ? 'speech' : name;
}

// Latin letters for which Unicode defines no base letter.
const UNDECOMPOSED: Readonly<Record<string, string>> = {
  æ: 'ae',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ø: 'o',
  œ: 'oe',
  ß: 'ss',
  þ: 'th',
};
