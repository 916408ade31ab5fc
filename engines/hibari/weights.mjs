// Writes the weights of an ONNX file for src/neural of foley: 8-bit matrices by column, convolutions by
// tap.

import { createHash } from 'node:crypto';
import { notOnnx, readTensors } from './tensors.mjs';

/** @typedef {import('./tensors.mjs').Numbers} Numbers */
/** @typedef {{ shape: number[], data: Float32Array | Int8Array }} Weight */

/**
 * @param {number} count
 * @param {number} to
 */
const roundUp = (count, to) => Math.ceil(count / to) * to;

/**
 * @param {Numbers['data']} data
 * @param {number} index
 * @throws {Error} if the tensor has fewer numbers than its dimensions say
 */
function numberAt(data, index) {
  const value = data[index];
  if (value === undefined) throw notOnnx();
  return value;
}

/**
 * A matrix of `depth` rows and `columns` columns, by column; with columns of zeros up to a multiple of 4.
 * @param {Numbers} tensor
 * @returns {Weight}
 */
export function byColumn({ dims: [depth = 1, columns = 1], data }) {
  const padded = roundUp(columns, 4);
  const size = padded * depth;
  const result = data instanceof Int8Array ? new Int8Array(size) : new Float32Array(size);
  for (let k = 0; k < depth; k += 1) {
    for (let n = 0; n < columns; n += 1) {
      result[n * depth + k] = numberAt(data, k * columns + n);
    }
  }
  return { shape: [padded, depth], data: result };
}

/**
 * The weights of a convolution [out, in, taps] as [out, taps, in], both padded to multiples of 4.
 * @param {Numbers} tensor
 * @returns {Weight}
 */
function byTap({ dims: [outputs = 1, inputs = 1, taps = 1], data }) {
  const [out, width] = [roundUp(outputs, 4), roundUp(inputs, 4)];
  const result = new Float32Array(out * taps * width);
  for (let n = 0; n < outputs; n += 1) {
    for (let c = 0; c < inputs; c += 1) {
      for (let tap = 0; tap < taps; tap += 1) {
        result[(n * taps + tap) * width + c] = numberAt(data, (n * inputs + c) * taps + tap);
      }
    }
  }
  return { shape: [out, taps * width], data: result };
}

/**
 * The weights of a convolution of each column on its own, [columns, 1, taps], as [taps, columns].
 * @param {Numbers} tensor
 * @returns {Weight}
 */
function ofColumns({ dims: [columns = 1, , taps = 1], data }) {
  const result = new Float32Array(taps * columns);
  for (let c = 0; c < columns; c += 1) {
    for (let tap = 0; tap < taps; tap += 1) {
      result[tap * columns + c] = numberAt(data, c * taps + tap);
    }
  }
  return { shape: [taps, columns], data: result };
}

/**
 * @param {Numbers} tensor
 * @returns {Weight}
 */
export function shaped({ dims, data }) {
  if (dims.length !== 1) return { shape: dims, data };
  const result = new Float32Array(roundUp(data.length, 4));
  result.set(data);
  return { shape: [result.length], data: result };
}

/**
 * Names of the 8-bit matrices of the voice, by the names that the export gave them.
 * @type {readonly (readonly [pattern: RegExp, rename: (...groups: string[]) => string])[]}
 */
const QUANTIZED = [
  [/^\/Transpose_2_/, () => 'm.text.attn.self_attn.in_proj'],
  [/^\/Transpose_25_/, () => 'pn.text.attn.self_attn.in_proj'],
  [/^\/out_proj\//, () => 'm.text.attn.self_attn.out_proj'],
  [/^\/out_proj_4\//, () => 'pn.text.attn.self_attn.out_proj'],
  [/^\/linear(\d)\//, (_, n) => `m.text.attn.linear${n}`],
  [/^\/linear(\d)_4\//, (_, n) => `pn.text.attn.linear${n}`],
  [/^\/convs\.(\d)\/pw(\d)\//, (_, block, n) => `m.text.convs.${block}.pw${n}`],
  [/^\/convs\.(\d)\/pw(\d)_1\//, (_, block, n) => `pn.text.convs.${block}.pw${n}`],
  [/^\/pro\.(\d)\/pw(\d)\//, (_, block, n) => `pn.pro.${block}.pw${n}`],
  [/^\/dec\.(\d)\/pw(\d)\//, (_, block, n) => `m.dec.${block}.pw${n}`],
  [/^\/head\//, () => 'm.head'],
];

/**
 * The weights of a voice as the bytes of a safetensors file.
 * @param {Uint8Array} onnx
 * @throws {Error} if the file has another network than the built-in voice
 */
export function voiceWeights(onnx) {
  const tensors = readTensors(onnx);
  /** @type {Map<string, Weight>} */
  const weights = new Map();
  for (const [name, tensor] of tensors) {
    const [, matrix] = /^(.*)_quantized$/.exec(name) ?? [];
    if (matrix !== undefined) {
      const plain = plainName(name);
      weights.set(`${plain}.weight`, byColumn(tensor));
      weights.set(`${plain}.scale`, scalesOf(matrix, tensor.dims[1], tensors));
    } else if (/^(m|pn)\./.test(name)) {
      const isConvolution = tensor.dims.length === 3;
      const reshape = !isConvolution ? shaped : /\.dw\./.test(name) ? ofColumns : byTap;
      weights.set(name.replace('in_proj_bias', 'in_proj.bias'), reshape(tensor));
    }
  }
  const network = networkOf(weights);
  if (network !== NETWORK) throw new Error(`The voice has another network: ${network}`);
  return safetensors(weights);
}

/**
 * @param {string} name that the export gave the matrix
 * @throws {Error} if the voice has no such matrix
 */
function plainName(name) {
  for (const [pattern, rename] of QUANTIZED) {
    const found = pattern.exec(name);
    if (found !== null) return rename(...found);
  }
  throw new Error(`Unknown matrix: ${name}`);
}

/**
 * The scale of a matrix, repeated for the size that tensors have, or the scales of its columns.
 * @param {string} name
 * @param {number | undefined} columns
 * @param {ReadonlyMap<string, Numbers>} tensors
 * @returns {Weight}
 */
function scalesOf(name, columns, tensors) {
  const scales = tensors.get(`${name}_scale`)?.data ?? new Float32Array();
  const zeros = tensors.get(`${name}_zero_point`)?.data ?? new Int8Array();
  if (zeros.some((zero) => zero !== 0)) throw new Error(`The zero point of ${name} is not 0`);
  const [scale] = scales;
  if (scale !== undefined && scales.length === 1) {
    return { shape: [4], data: new Float32Array(4).fill(scale) };
  }
  if (scales.length === columns) return shaped({ dims: [columns], data: scales });
  throw new Error(`${name} has ${scales.length} scales for ${columns} columns`);
}

/** The network that src/neural of foley computes. */
const NETWORK = '9ccd67ef1d27b3ec';

/**
 * A hash of the names and shapes of all weights. A matrix may have one scale, or one for each column.
 * @param {ReadonlyMap<string, Weight>} weights
 */
function networkOf(weights) {
  const names = [...weights].map(([name, { shape }]) =>
    name.endsWith('.scale') ? name : `${name} ${shape.join(',')}`,
  );
  return createHash('sha256')
    .update(names.sort((one, other) => (one < other ? -1 : 1)).join('\n'))
    .digest('hex')
    .slice(0, 16);
}

/**
 * The format of https://github.com/huggingface/safetensors: the header's length, the header in JSON, the numbers.
 * @param {ReadonlyMap<string, Weight>} tensors
 * @param {Readonly<Record<string, string>>} [metadata]
 */
export function safetensors(tensors, metadata) {
  /** @type {Record<string, object>} */
  const header = metadata === undefined ? {} : { __metadata__: metadata };
  let end = 0;
  const parts = [];
  for (const [name, { shape, data }] of tensors) {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    if (bytes.length % 16 !== 0) throw new Error(`${name} has ${bytes.length} bytes.`);
    const dtype = data instanceof Int8Array ? 'I8' : 'F32';
    header[name] = { dtype, shape, data_offsets: [end, end + bytes.length] };
    end += bytes.length;
    parts.push(bytes);
  }
  const json = Buffer.from(JSON.stringify(header));
  const text = Buffer.alloc(roundUp(json.length + 8, 16) - 8, ' ');
  json.copy(text);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...parts]);
}
