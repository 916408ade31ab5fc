import { readFileSync } from 'node:fs';
import { startKernels } from '../neural/kernels.ts';
import { Network } from '../neural/network.ts';
import { readSafetensors } from '../neural/safetensors.ts';

const LAYERS = 4;
const HEADS = 4;
/** Places for phonemes per letter. */
const SLOTS = 4;
/** The network was trained with words of at most 24 letters. */
const LONGEST = 24;

/**
 * Returns a function that reads a word letter by letter with a small network, which is loaded at the first use. Skips
 * letters that the network does not know, and those after the 24th.
 * @param kernels path of kernels.wasm
 * @param weights path of unknown-words.safetensors
 */
export function unknownWordReader(kernels: string, weights: string): (word: string) => string {
  let read: ((word: string) => string) | undefined;
  return (word) => {
    read ??= openNetwork(kernels, weights);
    return read(word);
  };
}

function openNetwork(kernelsFile: string, weightsFile: string): (word: string) => string {
  const kernels = startKernels(readFileSync(kernelsFile));
  const tensors = readSafetensors(readFileSync(weightsFile));
  const network = new Network(kernels, tensors, kernels.memory.buffer.byteLength);
  const letters = Array.from(tensors.metadata.get('letters') ?? '');
  const phonemes = Array.from(tensors.metadata.get('phonemes') ?? '');
  return (word) => {
    // 0 stands for no letter and for no phoneme.
    const ids = Array.from(word, (letter) => letters.indexOf(letter) + 1);
    const known = ids.filter((id) => id > 0).slice(0, LONGEST);
    if (known.length === 0) return '';
    network.release();
    const x = network.embed('m.emb.weight', known);
    network.add(x, network.embed('m.pos', Array.from(known.keys())));
    for (let layer = 0; layer < LAYERS; layer += 1) {
      network.transformer(x, `m.layers.${layer}`, HEADS);
    }
    const scores = network.values(network.linear(network.normalize(x, 'm.norm'), 'm.head'));
    return collapse(highest(scores, known.length * SLOTS))
      .map((id) => phonemes[id - 1] ?? '')
      .join('');
  };
}

/** Returns the number of the highest score of each of `count` rows. */
function highest(scores: Float32Array, count: number): number[] {
  const width = scores.length / count;
  return Array.from({ length: count }, (_, row) => {
    const own = scores.subarray(row * width, (row + 1) * width);
    return own.indexOf(Math.max(...own));
  });
}

/** Connectionist temporal classification (Graves et al., 2006): drops repeats, then zeros. */
function collapse(ids: readonly number[]): number[] {
  return ids.filter((id, at) => id !== 0 && id !== ids[at - 1]);
}
