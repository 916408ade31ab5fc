import { isRecord } from '../api/response.ts';
import { Failure, usageFailure } from '../errors/failure.ts';
import { closest } from '../text/did-you-mean.ts';
import { display } from '../text/display.ts';
import type { ModelFile } from './download-models.ts';

const SOURCE = 'https://huggingface.co/rhasspy/piper-voices';

/**
 * Returns the URL of the catalogue of Piper voices.
 * @param revision Git revision of the voice repository, such as `v1.0.0`
 */
export function piperCatalogueUrl(revision: string): URL {
  return new URL(`${SOURCE}/resolve/${revision}/voices.json`);
}

/** A Piper voice with one or several speakers. */
export interface CataloguedVoice {
  /** Name of the voice, with its language and quality: `en_US-joe-medium`. */
  readonly name: string;
  readonly speakers: number;
  /** URL of the web page about the voice. The file MODEL_CARD on this page states the license of the recordings. */
  readonly source: string;
  /** The voice's model file, its JSON description and its model card, each with an MD5 checksum from the catalogue. */
  readonly files: readonly ModelFile[];
}

/**
 * Finds a voice in the catalogue of Piper voices.
 * @param catalogue parsed content of `voices.json`
 * @param name current or earlier name of a voice
 * @param revision Git revision of the voice repository, such as `v1.0.0`
 * @throws Failure: `usage` for an unknown voice, with the nearest names; `bad_answer` for an invalid entry
 */
export function findPiperVoice(
  catalogue: unknown,
  name: string,
  revision: string,
): CataloguedVoice {
  if (!isRecord(catalogue)) throw invalid('it is not a JSON object');
  const found = Object.entries(catalogue).find(
    ([key, entry]) =>
      [key, ascii(key)].includes(name) ||
      (isRecord(entry) && listOf(entry['aliases']).includes(name)),
  );
  if (found === undefined) throw unknownVoice(name, Object.keys(catalogue).map(ascii));
  const [key, entry] = found;
  if (!/^[\w+.-]{1,64}$/.test(ascii(key)))
    throw invalid(`it has a voice named ${JSON.stringify(key)}`);
  if (!isRecord(entry) || !isRecord(entry['files'])) throw invalid(`${key} has no files`);
  const listed = Object.entries(entry['files']);
  const files = [`${key}.onnx`, `${key}.onnx.json`, 'MODEL_CARD'].map((file) => {
    const [place, facts] = listed.find(([one]) => one.split('/').at(-1) === file) ?? [];
    if (place === undefined) throw invalid(`${key} has no file ${file}`);
    return modelFile(key, place, facts, revision);
  });
  const folder = files[0]?.url.replace(/\/[^/]*$/, '').replace('/resolve/', '/tree/') ?? SOURCE;
  const { num_speakers: speakers } = entry;
  return {
    name: ascii(key),
    speakers: typeof speakers === 'number' ? speakers : 1,
    source: folder,
    files,
  };
}

/** Suffix of the file that describes a Piper voice. */
export const PIPER_DESCRIPTION = '.onnx.json';

/**
 * Checks that foley's Piper engine can turn text into the symbols that a voice reads.
 * @param name name of the voice
 * @param description parsed content of `NAME.onnx.json`
 * @throws Failure of kind `usage`
 */
export function requireKnownSymbols(name: string, description: unknown): void {
  const type = isRecord(description) ? description['phoneme_type'] : undefined;
  if (typeof type !== 'string' || type === 'espeak' || type === 'text') return;
  throw usageFailure(
    `the voice ${name} reads phonemes of the type ${display(type, { max: 40 })}, which foley cannot make; it makes the types espeak and text`,
    'Its model was not downloaded. Choose another voice of the language, or one of espeak-ng: `foley engine add espeak-ng`.',
  );
}

function modelFile(voice: string, place: string, facts: unknown, revision: string): ModelFile {
  const { md5_digest: md5, size_bytes: bytes } = isRecord(facts) ? facts : {};
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes <= 0) {
    throw invalid(`${place} has no size`);
  }
  if (typeof md5 !== 'string' || !/^[0-9a-f]{32}$/.test(md5)) throw invalid(`${place} has no MD5`);
  const file = place.split('/').at(-1) ?? place;
  const stored = file === 'MODEL_CARD' ? `${ascii(voice)}.MODEL_CARD` : ascii(file);
  const segments = place.split('/').map((segment) => encodeURIComponent(segment));
  if (segments.some((segment) => /^\.*$/.test(segment))) throw invalid(`${place} is not a path`);
  return {
    path: `piper/${stored}`,
    bytes,
    url: `${SOURCE}/resolve/${revision}/${segments.join('/')}`,
    md5,
    sha256: SHA256.get(file),
  };
}

// The catalogue has no SHA-256. These sums of models were published elsewhere; those of joe were computed.
const SHA256: ReadonlyMap<string, string> = new Map([
  ['en_US-joe-medium.onnx', '58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06'],
  [
    'en_US-joe-medium.onnx.json',
    '3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33',
  ],
  ['en_US-lessac-medium.onnx', '5efe09e69902187827af646e1a6e9d269dee769f9877d17b16b1b46eeaaf019f'],
  ['en_US-ryan-medium.onnx', 'abf4c274862564ed647ba0d2c47f8ee7c9b717d27bdad9219100eb310db4047a'],
  ['en_GB-alba-medium.onnx', '401369c4a81d09fdd86c32c5c864440811dbdcc66466cde2d64f7133a66ad03b'],
  ['en_GB-alan-medium.onnx', '0a309668932205e762801f1efc2736cd4b0120329622adf62be09e56339d3330'],
]);

// Ids of voices are in ASCII.
function ascii(name: string): string {
  return name.normalize('NFD').replaceAll(/\p{M}/gu, '');
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function unknownVoice(name: string, names: readonly string[]): Failure {
  const language = names.filter((one) => one.startsWith(name.slice(0, 2)));
  const near = closest(name, names);
  const [few, rest] = [language.slice(0, 8), language.length - 8];
  return usageFailure(
    `piper has no voice "${name}"`,
    near.length > 0
      ? `Did you mean ${near.join(' or ')}?`
      : few.length > 0
        ? `Voices of this language: ${few.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`
        : 'Names have a language, a speaker and a quality, such as en_US-joe-medium.',
  );
}

function invalid(reason: string): Failure {
  return new Failure(`the catalogue of Piper voices cannot be used: ${reason}`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'Check the source (--from), and run the command again.',
  });
}
