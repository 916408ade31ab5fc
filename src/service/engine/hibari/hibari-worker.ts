// Entry point of a worker thread that speaks. Speaks a word before it reports that it is ready, because WebAssembly compiles
// each function on its first call.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { openEnglish } from '../../../phonemes/english.ts';
import { unknownWordReader } from '../../../phonemes/unknown-word-network.ts';
import type { HibariPiece } from './synthesizer.ts';
import { HibariSynthesizer } from './synthesizer.ts';

if (parentPort === null) throw new Error('This file runs as a worker thread only.');
const port = parentPort;

const kernels = fileURLToPath(new URL('packages', import.meta.url));
const folder = fileURLToPath(new URL('../assets/voice', import.meta.url));
const synthesizer = new HibariSynthesizer({
  kernels,
  weights: readFileSync(`${folder}/voice.safetensors`),
  english: openEnglish(
    folder,
    unknownWordReader(`${kernels}/kernels.wasm`, `${folder}/unknown-words.safetensors`),
  ),
});
port.postMessage({ kind: 'ready' });

port.on('message', (piece: HibariPiece) => {
  try {
    const { samples, tokens } = synthesizer.speak(piece);
    port.postMessage({ kind: 'done', samples, tokens }, [samples.buffer]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    port.postMessage({ kind: 'failed', message });
  }
});
