import type { AudioEncoder } from './audio-encoder.ts';
import { loadWasmCodec, WasmEncoder } from './wasm-encoder.ts';

/** The rate that every player takes, and at which the format's own padding is shortest. */
export const MP3_SAMPLE_RATE = 44_100;

export const MP3_KILOBITS_PER_SECOND = 128;

/** mp3 at a constant 128 kbit/s; samples must come at 44.1 kHz. */
export async function openMp3(): Promise<AudioEncoder> {
  return new WasmEncoder(await loadWasmCodec('mp3'), MP3_SAMPLE_RATE, mp3Parameters());
}

/** Bit rate, quality of a variable rate (negative for a constant one), rate of the file. */
function mp3Parameters(): ArrayBuffer {
  const words = new DataView(new ArrayBuffer(12));
  words.setInt32(0, MP3_KILOBITS_PER_SECOND, true);
  words.setFloat32(4, -1, true);
  words.setInt32(8, MP3_SAMPLE_RATE, true);
  return words.buffer;
}
