// Finds Piper voices in a folder: `NAME.onnx` is the model, `NAME.onnx.json` describes it.

import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../parts/protocol.mjs';

/** Limits of foley on the voices of an engine. */
const MAX_VOICES = 1000;
const ID = /^[\w.+-]{1,64}$/;

/**
 * @typedef {object} PiperVoice
 * @property {string} id `NAME`, or `NAME+SPEAKER` if the model has several speakers
 * @property {string} language BCP 47 code
 * @property {number} sampleRate
 * @property {boolean} words whether the language separates words, so that each has its time
 * @property {string[] | undefined} scripts scripts that the voice reads (ISO 15924); undefined if only its symbols limit them, or if they are unknown
 * @property {string} file path of the model
 * @property {number | undefined} speaker number of the speaker
 * @property {'espeak' | 'text'} symbolType what the model reads: phonemes of espeak-ng, or letters
 * @property {string} espeakVoice espeak-ng's name of the language
 * @property {ReadonlyMap<string, readonly number[]>} symbols ids of each symbol
 * @property {number} lengthScale duration of the sounds at the normal speed
 *
 * @typedef {object} Description content of `NAME.onnx.json`; nothing is certain before it is checked
 * @property {{ sample_rate?: number }} [audio]
 * @property {{ voice?: string }} [espeak]
 * @property {{ length_scale?: number }} [inference]
 * @property {{ code?: string }} [language]
 * @property {number} [num_speakers]
 * @property {Record<string, number>} [speaker_id_map]
 * @property {Record<string, number[]>} [phoneme_id_map]
 * @property {string} [phoneme_type]
 */

/**
 * Reads the voices of a folder, in the order of their names. Leaves out voices that this engine cannot
 * speak.
 * @param {string} folder
 * @param {(message: string) => void} onLeftOut called with the reason
 * @returns {Promise<PiperVoice[]>}
 * @throws {Error} if the folder has no voice
 */
export async function findVoices(folder, onLeftOut) {
  const files = await readdir(folder);
  const described = files.filter((file) => files.includes(`${file}.json`));
  /** @type {PiperVoice[]} */
  const voices = [];
  for (const file of described.sort((one, other) => (one < other ? -1 : 1))) {
    if (!file.endsWith('.onnx')) continue;
    try {
      const description = JSON.parse(await readFile(path.join(folder, `${file}.json`), 'utf8'));
      voices.push(...voicesOf(path.join(folder, file), description));
    } catch (error) {
      onLeftOut(`${file}: ${messageOf(error)}`);
    }
  }
  if (voices.length === 0) throw new Error(`The folder ${folder} has no Piper voice`);
  const leftOut = voices.splice(MAX_VOICES);
  const [first] = leftOut;
  if (first !== undefined) onLeftOut(`${leftOut.length} voices from ${first.id} on: too many`);
  return voices;
}

/**
 * Returns the voices of a model, one for each speaker.
 * @param {string} file path of the model
 * @param {Description} description
 * @returns {PiperVoice[]}
 * @throws {Error} if the description is incomplete, or of a kind that this engine does not know
 */
export function voicesOf(file, description) {
  const { audio, espeak, inference, num_speakers: speakers = 1 } = description;
  const { phoneme_id_map: symbols = {}, phoneme_type: symbolType = 'espeak' } = description;
  const sampleRate = audio?.sample_rate;
  if (sampleRate === undefined || !Number.isInteger(sampleRate)) {
    throw new Error('audio.sample_rate is missing');
  }
  for (const symbol of ['^', '_', '$']) {
    if (!Array.isArray(symbols?.[symbol])) throw new Error(`phoneme_id_map has no ${symbol}`);
  }
  if (symbolType !== 'espeak' && symbolType !== 'text') {
    throw new Error(`phoneme_type ${symbolType} is not supported`);
  }
  const name = path.basename(file, '.onnx');
  const code = description.language?.code ?? /^[a-z]{2,3}(?:_[A-Z]{2})?/.exec(name)?.[0];
  const language = (code ?? espeak?.voice ?? 'en').replaceAll('_', '-');
  const espeakVoice = espeak?.voice ?? language.toLowerCase();
  /** @type {Omit<PiperVoice, 'id' | 'speaker'>} */
  const common = {
    language,
    sampleRate,
    words: !/^(?:zh|ja|th|km|lo|my)\b/.test(language),
    scripts: symbolType === 'espeak' ? scriptsOf(language) : undefined,
    file,
    symbolType,
    espeakVoice,
    symbols: new Map(Object.entries(symbols)),
    lengthScale: inference?.length_scale ?? 1,
  };
  if (speakers <= 1) return [{ ...common, id: name, speaker: undefined }];
  const names = new Map(
    Object.entries(description.speaker_id_map ?? {}).map(([speaker, number]) => [number, speaker]),
  );
  return Array.from({ length: speakers }, (_, speaker) => {
    const id = `${name}+${names.get(speaker) ?? speaker}`;
    return { ...common, id: ID.test(id) ? id : `${name}+${speaker}`, speaker };
  });
}

/** Scripts of the languages that are written in several, or that have a code of their own. */
const SEVERAL_SCRIPTS = new Map([
  ['Hans', ['Hani']],
  ['Hant', ['Hani']],
  ['Jpan', ['Hani', 'Hira', 'Kana']],
  ['Kore', ['Hang', 'Hani']],
]);

/**
 * Returns the script of a language, and Latin letters, which espeak-ng reads in every language; undefined if the script
 * of the language is unknown.
 * @param {string} language
 */
function scriptsOf(language) {
  const own = language.startsWith('sr') ? 'Cyrl' : new Intl.Locale(language).maximize().script;
  if (own === undefined) return undefined;
  return [...new Set(['Latn', ...(SEVERAL_SCRIPTS.get(own) ?? [own])])];
}
