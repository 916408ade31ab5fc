import type { AudioEncoder } from './audio-encoder.ts';
import { loadWasmCodec, WasmEncoder } from './wasm-encoder.ts';

export const OGG_SAMPLE_RATE = 44_100;

/** -1 to 10; about 50 kbit/s for our speech. */
const QUALITY = 3;

/** Tells apart the streams of one file; ours have one, and equal speech gives equal bytes. */
const SERIAL_NUMBER = 1;

/** Ogg Vorbis at a variable rate; samples must come at 44.1 kHz. */
export async function openOgg(): Promise<AudioEncoder> {
  return new WasmEncoder(await loadWasmCodec('ogg'), OGG_SAMPLE_RATE, oggParameters());
}

/** Quality, serial number. */
function oggParameters(): ArrayBuffer {
  const words = new DataView(new ArrayBuffer(8));
  words.setFloat32(0, QUALITY, true);
  words.setInt32(4, SERIAL_NUMBER, true);
  return words.buffer;
}
