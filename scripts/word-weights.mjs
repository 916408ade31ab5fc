// Writes the weights of the network that reads unknown words.
import { readTensors } from '../engines/hibari/tensors.mjs';
import { byColumn, safetensors, shaped } from '../engines/hibari/weights.mjs';

/**
 * The weights of the network that reads unknown words as the bytes of a safetensors file, with the letters that it reads
 * and the phonemes that it writes.
 */
export function wordWeights(onnx, { in: letters, out: phonemes }) {
  const weights = new Map();
  const matrices = [];
  for (const [name, tensor] of readTensors(onnx)) {
    if (name.startsWith('m.')) {
      weights.set(name.replace('in_proj_bias', 'in_proj.bias'), shaped(tensor));
    } else if (name.startsWith('onnx::MatMul_')) matrices.push(byColumn(tensor));
  }
  // The export numbered the matrices in the order of their use.
  const names = [0, 1, 2, 3].flatMap((layer) =>
    ['self_attn.in_proj', 'self_attn.out_proj', 'linear1', 'linear2'].map(
      (part) => `m.layers.${layer}.${part}`,
    ),
  );
  for (const [index, name] of [...names, 'm.head'].entries()) {
    weights.set(`${name}.weight`, matrices[index]);
  }
  return safetensors(weights, { letters: letters.join(''), phonemes: phonemes.join('') });
}
