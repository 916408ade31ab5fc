import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { decodeAudio } from './decode-audio.ts';
import { installPythonTools } from './python-tools.ts';
import { findOnPath } from './require-tool.ts';
import { writeWav } from './wav.ts';

/** The words of each slot, in the order of a sentence: the same as in `fixtures/slots.gram`. */
export const SLOTS = [
  ['anna', 'peter', 'maria', 'robert'],
  ['bought', 'painted', 'carried', 'borrowed'],
  ['three', 'seven', 'eleven', 'forty'],
  ['yellow', 'purple', 'orange', 'silver'],
  ['bicycles', 'umbrellas', 'lanterns', 'mirrors'],
  ['london', 'paris', 'chicago', 'montana'],
  ['monday', 'thursday', 'saturday', 'wednesday'],
  ['morning', 'evening', 'afternoon', 'night'],
] as const;

export interface MonoSound {
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

/** What a recogniser made of a sound; `words` has one of each slot, or none when it heard none. */
export type Hearing =
  | { readonly words: readonly string[] }
  | { readonly words: undefined; readonly reason: string };

/** The program that listens; a test asks for it with `requireTool`. */
export const LISTENER = 'pocketsphinx_batch';

/** The sentence that says a word of each slot, chosen by their places in `SLOTS`. */
export function slotSentence(choices: readonly number[]): string {
  const words = slotWords(choices);
  const [who = '', did, count, color, things, place, day, part] = words;
  const name = who.charAt(0).toUpperCase() + who.slice(1);
  return `${name} ${did} ${count} ${color} ${things} in ${place} on ${day} ${part}.`;
}

/** The words that `slotSentence` says of the slots. */
export function slotWords(choices: readonly number[]): string[] {
  return SLOTS.map((slot, index) => slot[(choices[index] ?? 0) % slot.length] ?? '');
}

/**
 * The slot words that are said in a sound: what a listener independent of every engine hears, who
 * expects a sentence of `slotSentence` but not which. By chance one word in four is right.
 *
 * @param sound samples, or the path of a mp3, ogg or wav file
 */
export async function spokenWords(sound: MonoSound | string): Promise<Hearing> {
  const listener = findOnPath(LISTENER);
  if (listener === undefined) return { words: undefined, reason: `${LISTENER} is not installed` };
  const samples = typeof sound === 'string' ? await soundOf(sound) : sound;
  return inFolderOf(samples, async (folder) => {
    await writeFile(path.join(folder, 'list'), 'sound\n');
    await execa(listener, listenerArguments(folder));
    return { words: wordsOf(await readFile(path.join(folder, 'heard'), 'utf8')) };
  });
}

interface HeardWord {
  /** In lower case. */
  readonly word: string;
  readonly startMs: number;
  readonly endMs: number;
}

const PYTHON_FILES = fileURLToPath(new URL('../check/python', import.meta.url));

/**
 * Returns when pocketsphinx, a recognizer that is independent of every engine, hears each of the words in a sound, to a
 * hundredth of a second. It gets the words, and none of their times. Installs pocketsphinx from PyPI.
 *
 * @param words in lower case, as its dictionary has them
 */
export async function heardWords(
  sound: MonoSound,
  words: readonly string[],
): Promise<readonly HeardWord[]> {
  const bin = await installPythonTools(path.join(PYTHON_FILES, 'recognizer.txt'));
  return inFolderOf(sound, async (folder) => {
    const script = path.join(PYTHON_FILES, 'hear_words.py');
    const args = [script, path.join(folder, 'sound.wav'), words.join(' ')];
    const { stdout } = await execa(path.join(bin, 'python'), args);
    return stdout.split('\n').map((line) => {
      const [start, end, word = ''] = line.split(' ');
      const [startMs = NaN, endMs = NaN] = [start, end].map(
        (ms) => Number(ms) - LISTENING_MARGIN_MS,
      );
      return { word, startMs, endMs };
    });
  });
}

/** Listens to a sound that is in the file `sound.wav` of a folder, which is removed then. */
async function inFolderOf<Result>(
  sound: MonoSound,
  listen: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'foley-hearing-'));
  try {
    const { samples } = prepared(sound);
    await writeFile(path.join(folder, 'sound.wav'), writeWav(samples, LISTENING_RATE));
    return await listen(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const GRAMMAR = fileURLToPath(new URL('../fixtures/slots.gram', import.meta.url));
/** Samples a second that the listener takes. */
const LISTENING_RATE = 16_000;
/** Silence that it is given before and after a sound. */
const LISTENING_MARGIN_MS = 200;
const WAV_HEADER_LENGTH = 44;

function listenerArguments(folder: string): string[] {
  const files = { cepdir: '', ctl: 'list', hyp: 'heard', logfn: 'log' };
  return [
    ...`-adcin yes -adchdr ${WAV_HEADER_LENGTH} -cmn batch -cepext .wav`.split(' '),
    ...Object.entries(files).flatMap(([flag, name]) => [`-${flag}`, path.join(folder, name)]),
    '-jsgf',
    GRAMMAR,
  ];
}

/** A line is the words and then, in brackets, the name of the sound and a score. */
function wordsOf(heard: string): string[] {
  const words = heard.replace(/\(.*$/su, '').trim().split(/\s+/u);
  const known = new Set<string>(SLOTS.flat());
  return words.filter((word) => known.has(word));
}

async function soundOf(file: string): Promise<MonoSound> {
  const { channels, sampleRate } = await decodeAudio(await readFile(file));
  const [first = new Float32Array(0)] = channels;
  return { samples: first, sampleRate };
}

/** As the listener likes it: its rate, the same loudness for all, silence around it. */
export function prepared(sound: MonoSound): MonoSound {
  const samples = resampled(sound);
  const peak = samples.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 1e-6);
  const silence = (LISTENING_RATE * LISTENING_MARGIN_MS) / 1000;
  const padded = new Float32Array(samples.length + 2 * silence);
  padded.set(
    samples.map((sample) => (sample * 0.7) / peak),
    silence,
  );
  return { samples: padded, sampleRate: LISTENING_RATE };
}

/** By a windowed sinc: slow, plain, and not what the program itself does. */
function resampled({ samples, sampleRate }: MonoSound): Float32Array {
  if (sampleRate === LISTENING_RATE) return samples;
  const step = sampleRate / LISTENING_RATE;
  const cutoff = Math.min(1, 1 / step);
  const reach = Math.ceil(16 / cutoff);
  return Float32Array.from({ length: Math.floor(samples.length / step) }, (_, index) => {
    const center = index * step;
    let sum = 0;
    for (let at = Math.ceil(center - reach); at <= center + reach; at += 1) {
      const distance = at - center;
      const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / reach);
      sum += (samples[at] ?? 0) * cutoff * sinc(distance * cutoff) * window;
    }
    return sum;
  });
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}
