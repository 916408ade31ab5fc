import { BYTES_PER_SAMPLE, samplesOf, WAV_HEADER_LENGTH } from '../../../src/audio/encode/pcm.ts';
import { amplify, gainOf } from '../../../src/audio/resample.ts';
import type { EngineRequest } from '../../../src/service/engine/speech-engine.ts';
import { isSaid } from './speakable-text.ts';
import { FLITE_VOICES, fliteArguments, fliteGainDb, REFERENCE_VOICE } from './voices.ts';
import { MemoryFile, WasiCommand } from './wasi.ts';
import { type PrintedLine, soundNames, type TimedSound, timedSounds } from './word-marks.ts';

/** A text with only characters that flite supports, and the voice, speed and pitch to speak it. */
export type FlitePiece = Pick<EngineRequest, 'isTimed' | 'pitch' | 'speed' | 'text' | 'voice'>;

/** Runs flite synchronously, one text at a time; meant for a worker thread. */
export class FliteSynthesizer {
  readonly #module: WebAssembly.Module;
  readonly #pronunciations = new Map<string, readonly string[]>();
  #next: WasiCommand | undefined;

  /** @param wasm the contents of flite.wasm */
  constructor(wasm: Uint8Array) {
    this.#module = new WebAssembly.Module(wasm);
  }

  /**
   * Copies the 17 MB of voice data that the next `speak` needs. Do not call `prepare` after the last `speak`: the copy
   * cannot be interrupted and would delay the exit of the process.
   */
  prepare(): void {
    this.#next ??= new WasiCommand(this.#module);
  }

  /**
   * Speaks a text at the sample rate of the voice. The output is deterministic.
   * @returns `samples`: mono, with peaks that may exceed 1; `sounds`: the phonemes with their times, empty unless
   * `isTimed`
   * @throws Error when flite fails
   */
  speak({ isTimed = false, ...piece }: FlitePiece): {
    readonly samples: Float32Array<ArrayBuffer>;
    readonly sounds: readonly TimedSound[];
  } {
    const voice = FLITE_VOICES.find(({ id }) => id === piece.voice);
    if (voice === undefined) throw new RangeError(`flite has no voice ${piece.voice}.`);
    const settings = fliteArguments(voice, piece);
    const { lines, wav } = this.#run(piece.text, [...settings, ...(isTimed ? ['-psdur'] : [])]);
    const samples = amplify(
      samplesOf(wav.subarray(WAV_HEADER_LENGTH)),
      gainOf(fliteGainDb(voice, piece)),
    );
    return { samples, sounds: timedSounds(lines, samples.length, voice.sampleRate) };
  }

  /**
   * Returns the phonemes of each token, as flite speaks the token alone.
   * @param tokens must not contain white space
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

  #soundsOf(tokens: readonly string[]): readonly (readonly string[])[] {
    const said = tokens.filter(isSaid);
    if (said.length === 0) return tokens.map(() => []);
    const { lines } = this.#run(said.join('\n\n'), ['-voice', REFERENCE_VOICE, '-ps']);
    const sounds = lines.map(({ text }) => soundNames(text));
    if (tokens.length === 1) return [sounds.flat()];
    if (lines.length !== said.length) return tokens.flatMap((token) => this.#soundsOf([token]));
    return tokens.map((token) => (isSaid(token) ? (sounds.shift() ?? []) : []));
  }

  #run(
    text: string,
    settings: readonly string[],
  ): { readonly lines: readonly PrintedLine[]; readonly wav: Uint8Array } {
    this.prepare();
    const command = this.#next;
    this.#next = undefined;
    // Without the line feed, flite drops a last sentence of one word.
    const files = new Map([['text', new MemoryFile(new TextEncoder().encode(`${text}\n`))]]);
    const lines: PrintedLine[] = [];
    let line = '';
    const outcome = command?.run(
      ['flite', ...settings, '-f', 'text', '-o', 'wav'],
      files,
      (printed) => {
        line += printed;
        if (!line.endsWith('\n')) return;
        // flite prints a line before it writes its sentence.
        const samplesBefore = countSamples(files.get('wav')?.contents.length ?? 0);
        lines.push({ text: line.trim(), samplesBefore });
        line = '';
      },
    );
    const wav = files.get('wav')?.contents;
    if (outcome?.exitCode !== 0 || wav === undefined) {
      throw new Error(`flite exited with code ${outcome?.exitCode}. ${outcome?.output}`.trim());
    }
    return { lines, wav };
  }
}

const MOST_PRONUNCIATIONS = 5_000;

function countSamples(wavBytes: number): number {
  return Math.max(0, Math.floor((wavBytes - WAV_HEADER_LENGTH) / BYTES_PER_SAMPLE));
}
