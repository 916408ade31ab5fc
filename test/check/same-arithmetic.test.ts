import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { startFastestKernels, startKernels } from '../../src/neural/kernels.ts';
import { Network } from '../../src/neural/network.ts';
import { readSafetensors } from '../../src/neural/safetensors.ts';
import { speakPhonemes } from '../../src/service/engine/hibari/voice-model.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGES = path.join(ROOT, 'dist/packages');
/** The phonemes of "Hello from foley", by their numbers. */
const IDS = [0, 50, 83, 54, 156, 57, 135, 16, 48, 123, 138, 55, 16, 48, 156, 57, 135, 54, 51, 0];

// scripts/node-versions.mjs runs this test under each version of Node: the first that has the faster products is 24.
describe('the fastest arithmetic that this Node and machine have', () => {
  test('gives the same frames, to the last bit, as that which every machine has', () => {
    const everywhere = startKernels(readFileSync(path.join(PACKAGES, 'kernels.wasm')));
    expect(digestOf(startFastestKernels(PACKAGES))).toBe(digestOf(everywhere));
  });

  test('is found under a Node that has it, on a machine whose products are exact', () => {
    const relaxed = readFileSync(path.join(PACKAGES, 'relaxed-kernels.wasm'));
    const isExact = WebAssembly.validate(relaxed) && startKernels(relaxed).probe?.() !== 0;
    expect(startFastestKernels(PACKAGES).probe !== undefined).toBe(isExact);
  });
});

function digestOf(kernels: ReturnType<typeof startKernels>): string {
  const voice = readFileSync(path.join(ROOT, 'assets/voice/voice.safetensors'));
  const network = new Network(kernels, readSafetensors(voice), kernels.memory.buffer.byteLength);
  const { durations, frames, pitch } = speakPhonemes(network, IDS, 1);
  const hash = createHash('sha256').update(JSON.stringify(durations)).update(pitch);
  return hash.update(network.values(frames)).digest('hex');
}
