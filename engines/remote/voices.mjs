// The voices of a server.

import { messageOf } from '../parts/protocol.mjs';
import { parsed, ServerError } from './requests.mjs';

/** Where servers of this interface list their voices, below the base URL. */
const PLACES = ['audio/voices', 'voices'];

const VOICE_ID = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/;
const LANGUAGE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}$/;
const MAX_VOICES = 1_000;

/**
 * @typedef {{ readonly id: string, readonly name: string, readonly title: string, readonly language: string }} RemoteVoice
 * `id` is the id for foley, and `title` the name that people read; `name` is what the server calls the voice
 */

/**
 * Returns the voices that a server lists.
 * @param {(path: string) => Promise<Buffer>} read gets a path below the base URL
 * @param {string | undefined} place path of the list, if it is not at one of the usual places
 * @param {string} language of voices whose list names none
 * @returns {Promise<RemoteVoice[]>}
 * @throws {ServerError}
 */
export async function listVoices(read, place, language) {
  const problems = [];
  for (const one of place === undefined ? PLACES : [place]) {
    try {
      const list = parsed((await read(one)).toString('utf8'));
      const voices = voicesIn(list, language);
      if (voices.length > 0) return voices;
      problems.push(
        `${one} ${list === undefined ? 'sent something else than JSON' : 'lists no voices'}`,
      );
    } catch (error) {
      if (!(error instanceof ServerError) || error.kind === 'broken') throw error;
      problems.push(`${one}: ${messageOf(error)}`);
    }
  }
  throw new ServerError(
    `${problems.join('; ')}. Name the list with --voices-from, or voices with --voice`,
    'refused',
  );
}

/**
 * Reads a list of voices: names, or objects with an id or a name, alone or in a field.
 * @param {unknown} value
 * @param {string} language
 * @returns {RemoteVoice[]}
 */
export function voicesIn(value, language) {
  const list = listIn(value);
  /** @type {Map<string, RemoteVoice>} */
  const voices = new Map();
  for (const one of list.slice(0, MAX_VOICES)) {
    const fields = typeof one === 'object' && one !== null ? one : { id: one };
    const name = textOf(fields, ['id', 'voice_id', 'voiceId', 'name', 'voice']);
    if (name === undefined) continue;
    const id = idOf(name);
    if (id === undefined || voices.has(id)) continue;
    const named = textOf(fields, ['language', 'locale', 'lang', 'language_code'])?.replace(
      '_',
      '-',
    );
    voices.set(id, {
      id,
      name,
      title: (textOf(fields, ['name', 'display_name']) ?? name).slice(0, 64),
      language: named !== undefined && LANGUAGE.test(named) ? named : language,
    });
  }
  return [...voices.values()];
}

/**
 * @param {unknown} value
 * @returns {readonly unknown[]}
 */
function listIn(value) {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null) return [];
  const fields = /** @type {Record<string, unknown>} */ (value);
  for (const name of ['voices', 'data', 'items']) {
    const inner = fields[name];
    if (Array.isArray(inner)) return inner;
    if (typeof inner === 'object' && inner !== null) return Object.keys(inner);
  }
  return [];
}

/**
 * @param {object} fields
 * @param {readonly string[]} names
 */
function textOf(fields, names) {
  const values = names.map((name) => /** @type {Record<string, unknown>} */ (fields)[name]);
  return values.find(
    /** @returns {value is string} */ (value) => typeof value === 'string' && value !== '',
  );
}

/**
 * Returns the name of a voice with only the characters that an id of foley has.
 * @param {string} name
 */
function idOf(name) {
  const id = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9._+-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64);
  return VOICE_ID.test(id) ? id : undefined;
}
