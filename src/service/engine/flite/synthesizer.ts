import { amplify } from '../gain.ts';
import { fliteArguments } from './controls.ts';
import { MemoryFile } from './memory-file.ts';
import { prepareWasiCommand, type WasiCommand } from './wasi-command.ts';
import { FLITE_VOICES } from './voices.ts';

/** A piece of text, already in the characters that flite can say, and how to say it. */
export interface FlitePiece {
  readonly text: string;
  readonly voice: string;
  readonly speed: number;
  readonly pitch: number;
}

/** flite itself: one piece in, its samples out, synchronously. Belongs into a thread of its own. */
export class FliteSynthesizer {
  readonly #module: WebAssembly.Module;
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

  /**
   * @returns mono samples in -1..1 at the voice's rate; the same for the same piece
   * @throws Error when flite fails
   */
  speak(piece: FlitePiece): Float32Array<ArrayBuffer> {
    const voice = FLITE_VOICES.find(({ id }) => id === piece.voice);
    if (voice === undefined) throw new RangeError(`flite has no voice ${piece.voice}.`);
    this.prepare();
    const command = this.#next;
    this.#next = undefined;
    const files = new Map([['text', new MemoryFile(new TextEncoder().encode(piece.text))]]);
    const settings = fliteArguments(voice, piece.speed, piece.pitch);
    const outcome = command?.run(['flite', ...settings, '-f', 'text', '-o', 'wav'], files);
    const wav = files.get('wav');
    if (outcome?.exitCode !== 0 || wav === undefined) {
      throw new Error(`flite ended with exit code ${outcome?.exitCode}. ${outcome?.output}`.trim());
    }
    return amplify(samplesOf(wav.contents), voice.gain);
  }
}

/** flite writes the plainest WAV there is: 44 bytes of header, then 16-bit samples to the end. */
const WAV_HEADER_LENGTH = 44;

function samplesOf(wav: Uint8Array): Float32Array {
  const view = new DataView(wav.buffer, wav.byteOffset, wav.byteLength);
  const count = Math.max(0, Math.floor((wav.byteLength - WAV_HEADER_LENGTH) / 2));
  const samples = new Float32Array(count);
  for (let index = 0; index < count; index += 1) {
    samples[index] = view.getInt16(WAV_HEADER_LENGTH + index * 2, true) / 0x8000;
  }
  return samples;
}
