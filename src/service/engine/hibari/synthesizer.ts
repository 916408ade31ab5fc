import { amplify, gainOf } from '../../../audio/resample.ts';
import type { Kernels } from '../../../neural/kernels.ts';
import { startFastestKernels } from '../../../neural/kernels.ts';
import { Network } from '../../../neural/network.ts';
import { readSafetensors } from '../../../neural/safetensors.ts';
import type { English, GivenSound, PhonemeToken } from '../../../phonemes/english.ts';
import type { SpokenToken } from './fit-to-pauses.ts';
import { fitToPauses } from './fit-to-pauses.ts';
import { FRAME_MS, FRAME_SAMPLES, soundOf } from './sound.ts';
import { PHONEME_IDS } from './phoneme-ids.ts';
import { speakPhonemes } from './voice-model.ts';
import type { Variation } from './cast.ts';
import { gainDbOf } from './cast.ts';

/** The parts of a voice. */
export interface VoiceParts {
  /** Path of the folder of kernels.wasm. */
  readonly kernels: string;
  /** The weights of the model, as the bytes of a safetensors file. */
  readonly weights: Uint8Array;
  /** Reads the text. */
  readonly english: English;
}

/** A text of plain words and marks, and how to speak it. */
export interface PlainText {
  readonly text: string;
  /** Factor of the speaking rate. */
  readonly speed: number;
  /** Shift of the pitch in semitones. */
  readonly pitch: number;
}

/** A sentence or clause of a text, and how to speak it. */
export interface HibariPiece extends PlainText {
  readonly voice: Variation;
  /** Milliseconds of silence after the last sound at normal speed. */
  readonly pauseMs: number;
  /** Positions in `text`, in UTF-16 units, of letters that are read by their names, such as the `A` of `API`. */
  readonly spelled: readonly number[];
  /** Words of `text` with given phonemes, in IPA, as ranges in UTF-16 units. */
  readonly pronounced?: readonly GivenSound[];
}

export interface SpokenPiece {
  /** Mono, at 24 kHz. Empty if nothing in the text can be spoken. */
  readonly samples: Float32Array<ArrayBuffer>;
  readonly tokens: readonly SpokenToken[];
}

/** Frames by which a sound is heard before its time in the model's durations, at normal speed; as measured after pauses. */
const LAG_FRAMES = 3;
/** Frames before the time of the first phoneme in which its sound may begin. */
const SEARCH_FRAMES = 10;
const SILENCE_LEVEL = 10 ** (-50 / 20);
/** Silence before the first sound of a piece, in frames. */
const LEAD_FRAMES = 2;
/** The sound that is kept after the last phoneme of a piece, in frames. */
const TAIL_FRAMES = 8;
const FADE_SAMPLES = 2 * FRAME_SAMPLES;
/** The model speaks at most about 400 phonemes at once. */
const MOST_PHONEMES = 360;
/** Silence between two groups of phonemes of a clause. */
const GROUP_PAUSE_MS = 100;

/** Speaks synchronously; meant for a worker thread. */
export class HibariSynthesizer {
  readonly #kernels: Kernels;
  readonly #network: Network;
  readonly #english: English;

  constructor({ english, kernels, weights }: VoiceParts) {
    this.#kernels = startFastestKernels(kernels);
    const scratch = this.#kernels.memory.buffer.byteLength;
    const start = this.#kernels.reserve(scratch, this.#kernels.SCRATCH.value);
    this.#kernels.prepare(scratch);
    this.#network = new Network(this.#kernels, readSafetensors(weights), start);
    this.#english = english;
  }

  /** Speaks a piece. The output is deterministic. */
  speak(piece: HibariPiece): SpokenPiece {
    const { pauseMs, pronounced, spelled, text } = piece;
    const phonemes = phonemesOf(this.#english.phonemes(text, pronounced), spelled);
    const groups = groupsOf(phonemes).filter((group) => group.some(isOfWord));
    const parts = groups.map((group, index) =>
      this.#speakGroup(group, piece, index === groups.length - 1 ? pauseMs : GROUP_PAUSE_MS),
    );
    return joined(parts);
  }

  #speakGroup(
    group: readonly Phoneme[],
    { pitch, speed, voice }: HibariPiece,
    pauseMs: number,
  ): SpokenPiece {
    const phonemes = [END, ...group, END];
    const first = phonemes.findIndex(isOfWord);
    const last = phonemes.findLastIndex(isOfWord);
    this.#network.release();
    const rate = clamp(speed, 0.5, 2) * voice.pace;
    const ids = phonemes.map((phoneme) => phoneme.id);
    const spoken = speakPhonemes(this.#network, ids, rate);
    const timbre = { ...voice, pitch: voice.pitch * 2 ** (clamp(pitch, -12, 12) / 12) };
    const sound = soundOf(this.#kernels, this.#network, spoken, timbre, hashOf(ids));
    // The model surrounds the speech with silence.
    const lag = Math.round(LAG_FRAMES / rate);
    const ends = cumulative(spoken.durations).map((frame) => Math.max(0, frame - lag));
    const gain = gainOf(gainDbOf(timbre));
    const onset = onsetOf(sound, (ends[first - 1] ?? 0) - SEARCH_FRAMES, SILENCE_LEVEL / gain);
    const from = Math.max(0, onset - LEAD_FRAMES);
    ends[first - 1] = Math.min(onset, (ends[first] ?? 1) - 1);
    const spokenEnd = ends[last] ?? 0;
    const to = Math.min(spoken.frames.rows, spokenEnd + lag + TAIL_FRAMES);
    const pauseEnd = spokenEnd + Math.round(pauseMs / FRAME_MS / rate);
    const samples = new Float32Array((Math.max(pauseEnd, to) - from) * FRAME_SAMPLES);
    samples.set(sound.subarray(from * FRAME_SAMPLES, to * FRAME_SAMPLES));
    fadeOut(samples, (to - from) * FRAME_SAMPLES);
    return {
      samples: amplify(samples, gain),
      tokens: fitToPauses(timesOf(phonemes, ends, from), samples),
    };
  }
}

/** A phoneme for the model; `word` is the word that it belongs to, undefined for marks, spaces and the two ends. */
interface Phoneme {
  readonly id: number;
  readonly word?: PhonemeToken;
}

const END: Phoneme = { id: 0 };

function isOfWord({ word }: Phoneme): boolean {
  return word !== undefined;
}

/** Divides phonemes into groups that the model can speak at once: after a mark if there is one, else between words. */
function groupsOf(phonemes: readonly Phoneme[]): readonly (readonly Phoneme[])[] {
  const groups: (readonly Phoneme[])[] = [];
  let from = 0;
  while (phonemes.length - from > MOST_PHONEMES) {
    const gaps = Array.from(
      { length: MOST_PHONEMES / 2 },
      (_, back) => from + MOST_PHONEMES - back,
    ).filter((at) => !isOfWord(phonemes[at - 1] ?? END) && isOfWord(phonemes[at] ?? END));
    const afterMark = gaps.find((at) => !isOfWord(phonemes[at - 2] ?? END));
    const to = afterMark ?? gaps[0] ?? from + MOST_PHONEMES;
    groups.push(phonemes.slice(from, to));
    from = to;
  }
  return [...groups, phonemes.slice(from)];
}

function joined(parts: readonly SpokenPiece[]): SpokenPiece {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const samples = new Float32Array(parts.reduce((sum, part) => sum + part.samples.length, 0));
  let at = 0;
  const tokens = parts.flatMap((part) => {
    const offsetMs = (at / FRAME_SAMPLES) * FRAME_MS;
    samples.set(part.samples, at);
    at += part.samples.length;
    return part.tokens.map((token) => ({
      ...token,
      startMs: token.startMs + offsetMs,
      endMs: token.endMs + offsetMs,
    }));
  });
  return { samples, tokens };
}

function phonemesOf(
  tokens: readonly PhonemeToken[],
  spelled: HibariPiece['spelled'],
): readonly Phoneme[] {
  const found: Phoneme[] = [];
  for (const token of tokens) {
    const isLetterA = token.phonemes === ARTICLE_A && spelled.includes(token.start);
    const sound = isLetterA ? LETTER_A : token.phonemes;
    const isWord = WORD.test(sound);
    for (const phoneme of token.hasSpaceAfter ? `${sound} ` : sound) {
      const id = PHONEME_IDS.get(phoneme);
      if (id === undefined) continue;
      found.push(isWord && phoneme !== ' ' ? { id, word: token } : { id });
    }
  }
  return found;
}

const ARTICLE_A = 'ɐ';
const LETTER_A = 'ˈA';

function cumulative(counts: readonly number[]): number[] {
  let sum = 0;
  return counts.map((count) => {
    sum += count;
    return sum;
  });
}

/** Returns when each word begins and ends, from the numbers of frames until the end of each phoneme. */
function timesOf(
  phonemes: readonly Phoneme[],
  ends: readonly number[],
  from: number,
): readonly SpokenToken[] {
  const times = new Map<PhonemeToken, SpokenToken>();
  for (const [index, { word }] of phonemes.entries()) {
    if (word === undefined) continue;
    const { end, start } = word;
    // The sound of a word begins in the space before it.
    const isAfterSpace = phonemes[index - 1]?.id === SPACE && isOfWord(phonemes[index - 2] ?? END);
    const begin = ends[isAfterSpace ? index - 2 : index - 1] ?? 0;
    const startMs = times.get(word)?.startMs ?? (begin - from) * FRAME_MS;
    times.set(word, { start, end, startMs, endMs: ((ends[index] ?? 0) - from) * FRAME_MS });
  }
  return Array.from(times.values());
}

const SPACE = PHONEME_IDS.get(' ');
const WORD = /[^;:,.!?—…"()“”\s]/u;

/** Returns the first frame, from `start` on, with a sample of at least `level`. */
function onsetOf(sound: Float32Array, start: number, level: number): number {
  const from = Math.max(0, start * FRAME_SAMPLES);
  const at = sound.subarray(from).findIndex((sample) => Math.abs(sample) >= level);
  return Math.floor((from + Math.max(0, at)) / FRAME_SAMPLES);
}

function fadeOut(samples: Float32Array, end: number): void {
  for (let back = 0; back < FADE_SAMPLES && back < end; back += 1) {
    const at = end - 1 - back;
    samples[at] = (samples[at] ?? 0) * (back / FADE_SAMPLES);
  }
}

function clamp(value: number, lowest: number, highest: number): number {
  return Math.min(highest, Math.max(lowest, value));
}

/** FNV-1a of 32 bits. */
function hashOf(ids: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const id of ids) hash = Math.imul(hash ^ id, 0x01000193) >>> 0;
  return hash;
}
