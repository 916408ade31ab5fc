import path from 'node:path';
import type { FileSystem } from '../effects/file-system.ts';
import { usageFailure } from '../errors/failure.ts';
import { sliceCodePoints } from '../text/code-points.ts';
import { display } from '../text/display.ts';
import { sha256 } from './checksum.ts';
import { hasErrno, outputFailure } from './file-failures.ts';

/**
 * The automatic name of spoken text: its beginning as `[a-z0-9-]`, with an
 * extension. Open it with `existing: 'number'`, which finds `-2`, `-3`, … where it is taken.
 */
export function automaticName(text: string, extension: string): string {
  return `${notReserved(slug(text))}.${safeName(extension)}`;
}

/** The name of a download: `<id>.<ext>`, whatever the service calls an id. */
export function downloadName(id: string, extension: string): string {
  return `${safeName(id)}.${safeName(extension)}`;
}

/** The name of one segment of a job: `<id>-<n>.<ext>`. */
export function segmentName(id: string, segment: number, extension: string): string {
  return `${safeName(id)}-${segment}.${safeName(extension)}`;
}

/**
 * A string that is not ours as a part of a file name that every system takes: `[A-Za-z0-9._-]`, at
 * most 100 characters, neither hidden nor like a flag, no device's name. Where that changes it, a
 * mark of the original is added, so that different strings stay different.
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

/** `name.mp3` as it is for 1, then `name-2.mp3`, `name-3.mp3`, … */
export function numbered(file: string, number: number): string {
  if (number === 1) return file;
  const { dir, name, ext } = path.parse(file);
  return path.join(dir, `${name}-${number}${ext}`);
}

/**
 * The path of `name` below `folder`, for names that a list or a service gave: `name` must be relative,
 * and neither its dots nor a symbolic link may lead out. Throws a usage failure. What
 * does not exist yet is not made.
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
      `${display(name)} is not a plain name inside of ${display(folder)}`,
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

/** Windows gives these to devices, with any extension and in any case. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?=\.|$)/i;

function notReserved(name: string): string {
  return name.replace(RESERVED, '$&-file');
}

/** Where a path really leads; of what does not exist yet, where its nearest existing folder does. */
async function realpathOfExisting(file: string, files: FileSystem): Promise<string> {
  try {
    return await files.realpath(file);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT')) throw outputFailure(file, error, 'opening');
    if (await isLink(file, files))
      throw usageFailure(`${display(file)} is a link that leads nowhere`);
    return realpathOfExisting(path.dirname(file), files);
  }
}

async function isLink(file: string, files: FileSystem): Promise<boolean> {
  try {
    return (await files.lstat(file)).isSymbolicLink();
  } catch {
    return false;
  }
}

/** How much of the text an automatic name is made of. */
const SLUG_CHARACTERS = 40;

/**
 * A file name's stem from the beginning of a text: its first 40 characters as `[a-z0-9-]`, accents
 * folded, runs of anything else as one dash, none at either end. A text that leaves nothing (only
 * signs, or only letters of a script that does not fold to these) gives `speech`.
 */
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

/** Latin letters that Unicode does not take apart into a base letter and a mark. */
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
