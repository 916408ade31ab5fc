import { createMp3Encoder, createOggEncoder } from 'wasm-media-encoders';
import { writeWav } from '../harness/wav.ts';
import type { HeaderLines } from './http-text.ts';

/** What an answer carries: real bytes, and the headers that belong to them. */
export interface Payload {
  readonly type: string;
  readonly bytes: Buffer;
  /** Further headers, such as those of the service. */
  readonly headers?: HeaderLines;
}

export interface TinyAudio {
  readonly mp3: Payload;
  readonly ogg: Payload;
  readonly wav: Payload;
}

const RATE = 22_050;
const SAMPLES = RATE / 2;

let encoded: Promise<TinyAudio> | undefined;

/** Half a second of a tone in every format of the service: a few kB each, valid to the last byte. */
export async function tinyAudio(): Promise<TinyAudio> {
  encoded ??= encodeAll();
  return encoded;
}

async function encodeAll(): Promise<TinyAudio> {
  const samples = Float32Array.from(
    { length: SAMPLES },
    (_, index) => 0.5 * Math.sin((2 * Math.PI * 440 * index) / RATE),
  );
  const mp3 = await createMp3Encoder();
  mp3.configure({ channels: 1, sampleRate: RATE, bitrate: 64 });
  const ogg = await createOggEncoder();
  ogg.configure({ channels: 1, sampleRate: RATE });
  return {
    mp3: { type: 'audio/mpeg', bytes: run(mp3, samples) },
    ogg: { type: 'audio/ogg', bytes: run(ogg, samples) },
    wav: { type: 'audio/wav', bytes: writeWav(samples, RATE) },
  };
}

interface Encoder {
  encode(samples: readonly Float32Array[]): Uint8Array;
  finalize(): Uint8Array;
}

function run(encoder: Encoder, samples: Float32Array): Buffer {
  // The encoder reuses its output buffer, so each part is copied before the next call.
  const parts = [Buffer.from(encoder.encode([samples]))];
  parts.push(Buffer.from(encoder.finalize()));
  return Buffer.concat(parts);
}
