// The voices of hibari whose files are in a folder.

import { readdir } from 'node:fs/promises';

/** Names such as `am_fenrir_v2.int8.onnx`: American or British, female or male, and the name of the voice. */
const FILE = /^([ab])[fm]_([a-z]+)(?:_v\d+)?\.int8\.onnx$/;

/** @typedef {{ id: string, name: string, file: string, language: string }} HibariVoice */

/**
 * Returns the voices whose files are in the folder, by name.
 * @param {string} folder
 * @returns {Promise<HibariVoice[]>}
 */
export async function voicesIn(folder) {
  const found = (await readdir(folder)).map((file) => FILE.exec(file));
  return found
    .filter((one) => one !== null)
    .map(([file, accent, id = '']) => ({
      id,
      name: id.charAt(0).toUpperCase() + id.slice(1),
      file,
      language: accent === 'b' ? 'en-GB' : 'en-US',
    }))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
}
