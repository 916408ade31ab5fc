import { amplify } from '../resample.ts';
import type { EngineRequest } from '../speech-engine.ts';
import { MemoryFile, prepareWasiCommand, type WasiCommand } from './wasi.ts';
import { type PrintedLine, soundNames, type TimedSound, timedSounds } from './word-marks.ts';
import { isSaid } from './speakable-text.ts';
import { FLITE_VOICES } from './voices.ts';
import type { FliteVoice } from './voices.ts';

/** A piece of text, already in the characters that flite can say, and how to say it. */
export interface FlitePiece {
  readonly text: string;
  readonly voice: string;
  readonly speed: number;
  readonly pitch: number;
  /** Whether it is to be known when each sound is made. */
  readonly isTimed?: boolean;
}

/** Speech of a piece. */
interface FliteSpeech {
  /** Mono samples in -1..1 at the voice's rate; the same for the same piece, timed or not. */
  readonly samples: Float32Array<ArrayBuffer>;
  /** Nothing unless the piece is timed. */
  readonly sounds: readonly TimedSound[];
}

/** flite itself: one piece in, its samples out, synchronously. Belongs into a thread of its own. */
export class FliteSynthesizer {
  readonly #module: WebAssembly.Module;
  readonly #pronunciations = new Map<string, readonly string[]>();
  #next: WasiCommand | undefined;

  /** @param wasm the contents of flite.wasm */
  constructor(wasm: Uint8Array) {
    this.#module = new WebAssembly.Module(wasm);
  }

  /**
   * Does now what the next `speak` would begin with: copying 17 MB of voice data. Not for after the
   * last piece: it cannot be interrupted, so the end of the process would wait for it.
   */
  prepare(): void {
    this.#next ??= prepareWasiCommand(this.#module);
  }

  /** @throws Error when flite fails */
  speak({ isTimed = false, ...piece }: FlitePiece): FliteSpeech {
    const voice = FLITE_VOICES.find(({ id }) => id === piece.voice);
    if (voice === undefined) throw new RangeError(`flite has no voice ${piece.voice}.`);
    const settings = fliteArguments(voice, piece);
    const { lines, wav } = this.#run(piece.text, [...settings, ...(isTimed ? ['-psdur'] : [])]);
    const samples = amplify(samplesOf(wav), voice.gain);
    return { samples, sounds: timedSounds(lines, samples.length, voice.sampleRate) };
  }

  /**
   * How each token sounds alone, in the names of sounds that `speak` gives them times with. What has
   * been asked for before is remembered.
   * @param tokens without white space
   * @throws Error when flite fails
   */
  pronounce(tokens: readonly string[]): readonly (readonly string[])[] {
    if (this.#pronunciations.size > MOST_PRONUNCIATIONS) this.#pronunciations.clear();
    const unknown = [...new Set(tokens)].filter((one) => !this.#pronunciations.has(one));
    for (const [index, sounds] of this.#soundsOf(unknown).entries()) {
      this.#pronunciations.set(unknown[index] ?? '', sounds);
    }
    return tokens.map((token) => this.#pronunciations.get(token) ?? []);
  }

  /** Each token as a sentence of its own; by itself where that has more or fewer than it should. */
  #soundsOf(tokens: readonly string[]): readonly (readonly string[])[] {
    const said = tokens.filter(isSaid);
    if (said.length === 0) return tokens.map(() => []);
    const { lines } = this.#run(said.join('\n\n'), ['-voice', FASTEST_VOICE, '-ps']);
    const sounds = lines.map(({ text }) => soundNames(text));
    if (tokens.length === 1) return [sounds.flat()];
    if (lines.length !== said.length) return tokens.flatMap((token) => this.#soundsOf([token]));
    return tokens.map((token) => (isSaid(token) ? (sounds.shift() ?? []) : []));
  }

  /** @returns what flite printed, line by line, and the file that it wrote */
  #run(
    text: string,
    settings: readonly string[],
  ): { readonly lines: readonly PrintedLine[]; readonly wav: Uint8Array } {
    this.prepare();
    const command = this.#next;
    this.#next = undefined;
    // A last sentence of one word is left out where nothing comes after it.
    const files = new Map([['text', new MemoryFile(new TextEncoder().encode(`${text}\n`))]]);
    const lines: PrintedLine[] = [];
    let line = '';
    const outcome = command?.run(
      ['flite', ...settings, '-f', 'text', '-o', 'wav'],
      files,
      (printed) => {
        line += printed;
        if (!line.endsWith('\n')) return;
        // A line is printed before the sentence that it is about is written.
        const samplesBefore = countSamples(files.get('wav')?.length ?? 0);
        lines.push({ text: line.trim(), samplesBefore });
        line = '';
      },
    );
    const wav = files.get('wav')?.contents;
    if (outcome?.exitCode !== 0 || wav === undefined) {
      throw new Error(`flite ended with exit code ${outcome?.exitCode}. ${outcome?.output}`.trim());
    }
    return { lines, wav };
  }
}

/** For pronunciations; all voices say words with the same sounds. */
const FASTEST_VOICE = 'kal16';

/** How many of them are remembered before it is begun anew. */
const MOST_PRONUNCIATIONS = 5_000;

/** flite writes the plainest WAV there is: 44 bytes of header, then 16-bit samples to the end. */
const WAV_HEADER_LENGTH = 44;

function samplesOf(wav: Uint8Array): Float32Array {
  const view = new DataView(wav.buffer, wav.byteOffset, wav.byteLength);
  const count = countSamples(wav.byteLength);
  const samples = new Float32Array(count);
  for (let index = 0; index < count; index += 1) {
    samples[index] = view.getInt16(WAV_HEADER_LENGTH + index * 2, true) / 0x8000;
  }
  return samples;
}

function countSamples(wavBytes: number): number {
  return Math.max(0, Math.floor((wavBytes - WAV_HEADER_LENGTH) / 2));
}

/** Slower or faster than this nobody understands. */
const SPEED_LIMITS = { lowest: 0.25, highest: 4 } as const;

/** Median pitch, in hertz, beyond which flite's voices break up or stay where they are. */
const TONE_LIMITS = { lowest: 60, highest: 400 } as const;

/**
 * flite's settings for a voice at a speed and a pitch. Rates outside of 0.25 to 4, and shifts that
 * would put the voice's median pitch outside of 60 to 400 Hz, are limited to those. The range of the
 * pitch in semitones stays.
 *
 * @param delivery `pitch` in semitones; ignored where the voice cannot change its pitch
 */
function fliteArguments(voice: FliteVoice, delivery: FliteDelivery): string[] {
  const { speed, pitch } = delivery;
  const stretch = voice.stretch / within(SPEED_LIMITS, speed);
  const settings = setting('duration_stretch', stretch);
  return ['-voice', voice.id, ...settings, ...tone(voice, pitch)];
}

/** How a voice is to speak; speed is a factor. */
type FliteDelivery = Pick<EngineRequest, 'speed' | 'pitch'>;

function tone(voice: FliteVoice, pitch: number): string[] {
  if (voice.tone === undefined || pitch === 0) return [];
  const median = within(TONE_LIMITS, voice.tone.median * 2 ** (pitch / 12));
  const spread = (voice.tone.spread * median) / voice.tone.median;
  return [...setting('int_f0_target_mean', median), ...setting('int_f0_target_stddev', spread)];
}

function within(limits: { lowest: number; highest: number }, value: number): number {
  return Math.min(limits.highest, Math.max(limits.lowest, value));
}

function setting(name: string, value: number): string[] {
  return ['--setf', `${name}=${value.toFixed(4)}`];
}
