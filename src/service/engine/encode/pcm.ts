import type { AudioEncoder } from './audio-encoder.ts';

/** The rate that clients of the third-party speech interfaces take raw samples to have. */
export const PCM_SAMPLE_RATE = 24_000;

/** Raw samples of 16 bits, little-endian, mono, without a header; samples must come at 24 kHz. */
export function createPcmEncoder(): AudioEncoder {
  return { encode: pcmBytes, finish: () => new Uint8Array(0), close: () => {} };
}

/** Samples in -1..1 as 16 bits each, little-endian. */
export function pcmBytes(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(samples.length * BYTES_PER_SAMPLE);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < samples.length; index += 1) {
    const level = Math.min(1, Math.max(-1, samples[index] ?? 0));
    view.setInt16(index * BYTES_PER_SAMPLE, Math.round(level * 0x7fff), true);
  }
  return bytes;
}

/** Of a sample of 16 bits. */
export const BYTES_PER_SAMPLE = 2;
