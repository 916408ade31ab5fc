// The voices of Kokoro whose language foley or espeak-ng can turn into phonemes, and their styles.

import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Languages by the first letter of a voice: BCP 47 code, and name in espeak-ng if that reads the language.
 * @type {Readonly<Record<string, { language: string, espeak: string | undefined }>>}
 */
const LANGUAGES = {
  a: { language: 'en-US', espeak: undefined },
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

/** @typedef {{ id: string, language: string, espeak: string | undefined }} KokoroVoice */

/**
 * Returns the voices whose files are in the folder.
 * @param {string} folder
 * @returns {Promise<KokoroVoice[]>}
 */
export async function voicesIn(folder) {
  const voices = (await readdir(folder)).flatMap((file) => {
    const [id, letter = ''] = /^([abefhip])[fm]_\w+(?=\.bin$)/.exec(file) ?? [];
    const language = LANGUAGES[letter];
    return id === undefined || language === undefined ? [] : [{ id, ...language }];
  });
  return voices.sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** @param {KokoroVoice} voice */
export function isAmerican({ espeak }) {
  return espeak === undefined;
}

/**
 * Reads the styles of a voice.
 * @param {string} folder
 * @param {string} id of the voice
 * @returns {Promise<import('./speech.mjs').StyleFor>} gives the style for a number of sounds
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

/** Loudness in LUFS of the voices as the model gives it, measured on one sentence of each voice. */
const LEVELS = new Map(
  `af_alloy -22.2, af_aoede -17.9, af_bella -21.8, af_heart -22.5, af_jessica -22.1,
  af_kore -18.5, af_nicole -22.1, af_nova -27.0, af_river -21.5, af_sarah -20.9, af_sky -24.1,
  am_adam -18.2, am_echo -22.6, am_eric -21.3, am_fenrir -19.1, am_liam -21.6,
  am_michael -24.0, am_onyx -22.9, am_puck -18.5, am_santa -23.1, bf_alice -20.8,
  bf_emma -20.1, bf_isabella -17.5, bf_lily -21.5, bm_daniel -21.4, bm_fable -22.6,
  bm_george -21.3, bm_lewis -23.2, ef_dora -23.6, em_alex -23.0, em_santa -23.0,
  ff_siwis -19.8, hf_alpha -16.5, hf_beta -17.8, hm_omega -17.2, hm_psi -19.2, if_sara -14.7,
  im_nicola -19.7, pf_dora -23.6, pm_alex -23.0, pm_santa -22.9`
    .split(/,\s+/)
    .map((entry) => {
      const [id = '', lufs] = entry.split(' ');
      return [id, Number(lufs)];
    }),
);

/**
 * Returns the loudness of a voice in LUFS; the usual loudness for a voice that was not measured.
 * @param {string} id
 */
export const levelOf = (id) => LEVELS.get(id) ?? -21;
