// The voices of Kokoro whose language espeak-ng can turn into phonemes, and their styles.

import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** Languages by the first letter of a voice: BCP 47 code, and name in espeak-ng. */
const LANGUAGES = {
  a: { language: 'en-US', espeak: 'en-us' },
  b: { language: 'en-GB', espeak: 'en-gb-x-rp' },
  e: { language: 'es', espeak: 'es' },
  f: { language: 'fr', espeak: 'fr' },
  h: { language: 'hi', espeak: 'hi' },
  i: { language: 'it', espeak: 'it' },
  p: { language: 'pt-BR', espeak: 'pt-br' },
};

/** A voice has a style of 256 numbers for each length of a chunk in sounds. */
const STYLE = { rows: 510, columns: 256 };

/** Longest chunk in sounds. */
export const MAX_SOUNDS = STYLE.rows;

/** @typedef {{ id: string, language: string, espeak: string }} KokoroVoice */

/**
 * Returns the voices whose files are in the folder.
 * @returns {Promise<KokoroVoice[]>}
 */
export async function voicesIn(folder) {
  const names = (await readdir(folder)).map((file) => /^([abefhip])[fm]_\w+(?=\.bin$)/.exec(file));
  return names
    .filter((found) => found !== null)
    .map(([id, letter]) => ({ id, ...LANGUAGES[letter] }))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
}

/**
 * Reads the styles of a voice.
 * @returns {Promise<(sounds: number) => Float32Array>} gives the style for a number of sounds
 * @throws {Error} if the file has another size
 */
export async function readStyles(folder, id) {
  const bytes = await readFile(path.join(folder, `${id}.bin`));
  if (bytes.length !== STYLE.rows * STYLE.columns * 4) {
    throw new Error(`The file of the voice ${id} is damaged: it has ${bytes.length} bytes`);
  }
  const numbers = Float32Array.from({ length: bytes.length / 4 }, (_, at) =>
    bytes.readFloatLE(at * 4),
  );
  return (sounds) => {
    const row = Math.min(sounds, STYLE.rows - 1) * STYLE.columns;
    return numbers.slice(row, row + STYLE.columns);
  };
}
