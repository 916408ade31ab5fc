// Reads the weights of an ONNX file, and writes them for src/neural of foley: 8-bit matrices by column, convolutions by
// tap.

import { createHash } from 'node:crypto';

/** Fields of protocol buffers: `[number, value]`, a number for whole numbers, bytes for the rest. */
function* fieldsOf(bytes) {
  const reader = { bytes, at: 0 };
  while (reader.at < bytes.length) {
    const tag = whole(reader);
    if ((tag & 7) === 0) yield [tag >> 3, whole(reader)];
    else {
      const end = sizeOf(tag & 7, reader) + reader.at;
      if (end > bytes.length) throw notOnnx();
      yield [tag >> 3, bytes.subarray(reader.at, end)];
      reader.at = end;
    }
  }
}

function sizeOf(wireType, reader) {
  const sizes = { 1: 8, 2: undefined, 5: 4 };
  if (!(wireType in sizes)) throw notOnnx();
  return sizes[wireType] ?? whole(reader);
}

function notOnnx() {
  return new Error('The file is not a whole ONNX model');
}

/** Reads a whole number of 7 bits each byte. @throws {Error} at the end of the bytes */
function whole(reader) {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = reader.bytes[reader.at++];
    if (byte === undefined) throw notOnnx();
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return Number(value);
  }
}

function* wholeNumbers(bytes) {
  const reader = { bytes, at: 0 };
  while (reader.at < bytes.length) yield whole(reader);
}

const first = (bytes, wanted) =>
  Array.from(fieldsOf(bytes)).find(([number]) => number === wanted)?.[1];

/** The tensor of a TensorProto: `{ name, dims, data }`, `data` a Float32Array, Int8Array or BigInt64Array. */
function tensorOf(bytes) {
  const dims = [];
  const numbers = [];
  let name = '';
  let type = 0;
  let raw;
  for (const [number, value] of fieldsOf(bytes)) {
    if (number === 1 && typeof value === 'number') dims.push(value);
    else if (number === 1) throw new Error('Packed dimensions are not supported.');
    else if (number === 2) type = value;
    else if (number === 4) numbers.push(...new Float32Array(Uint8Array.from(value).buffer));
    else if (number === 5)
      numbers.push(...(value.length === undefined ? [value] : wholeNumbers(value)));
    else if (number === 8) name = Buffer.from(value).toString();
    else if (number === 9) raw = Uint8Array.from(value).buffer;
  }
  const kinds = { 1: Float32Array, 3: Int8Array };
  const data = raw === undefined ? Float32Array.from(numbers) : kinds[type] && new kinds[type](raw);
  return { name, dims, data };
}

/** The initial values of a model's graph, by name. */
export function readTensors(onnx) {
  const graph = first(onnx, 7);
  if (graph?.length === undefined) throw notOnnx();
  const tensors = new Map();
  for (const [number, value] of fieldsOf(graph)) {
    if (number === 5) {
      const tensor = tensorOf(value);
      tensors.set(tensor.name, tensor);
    }
  }
  return tensors;
}

const roundUp = (count, to) => Math.ceil(count / to) * to;

/** A matrix of `depth` rows and `columns` columns, by column; with columns of zeros up to a multiple of 4. */
export function byColumn({ dims: [depth, columns], data }) {
  const padded = roundUp(columns, 4);
  const result = new data.constructor(padded * depth);
  for (let k = 0; k < depth; k += 1) {
    for (let n = 0; n < columns; n += 1) result[n * depth + k] = data[k * columns + n];
  }
  return { shape: [padded, depth], data: result };
}

/** The weights of a convolution [out, in, taps] as [out, taps, in], both padded to multiples of 4. */
function byTap({ dims: [outputs, inputs, taps], data }) {
  const [out, width] = [roundUp(outputs, 4), roundUp(inputs, 4)];
  const result = new Float32Array(out * taps * width);
  for (let n = 0; n < outputs; n += 1) {
    for (let c = 0; c < inputs; c += 1) {
      for (let tap = 0; tap < taps; tap += 1) {
        result[(n * taps + tap) * width + c] = data[(n * inputs + c) * taps + tap];
      }
    }
  }
  return { shape: [out, taps * width], data: result };
}

/** The weights of a convolution of each column on its own, [columns, 1, taps], as [taps, columns]. */
function ofColumns({ dims: [columns, , taps], data }) {
  const result = new Float32Array(taps * columns);
  for (let c = 0; c < columns; c += 1) {
    for (let tap = 0; tap < taps; tap += 1) result[tap * columns + c] = data[c * taps + tap];
  }
  return { shape: [taps, columns], data: result };
}

export function shaped({ dims, data }) {
  if (dims.length !== 1) return { shape: dims, data };
  const result = new Float32Array(roundUp(data.length, 4));
  result.set(data);
  return { shape: [result.length], data: result };
}

/** Names of the 8-bit matrices of the voice, by the names that the export gave them. */
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
  const weights = new Map();
  for (const [name, tensor] of tensors) {
    const matrix = /^(.*)_quantized$/.exec(name);
    if (matrix !== null) {
      const [pattern, rename] = QUANTIZED.find(([known]) => known.test(name)) ?? [];
      if (pattern === undefined) throw new Error(`Unknown matrix: ${name}`);
      const plain = rename(...pattern.exec(name));
      weights.set(`${plain}.weight`, byColumn(tensor));
      weights.set(`${plain}.scale`, scalesOf(matrix[1], tensor.dims[1], tensors));
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

/** The scale of a matrix, repeated for the size that tensors have, or the scales of its columns. */
function scalesOf(name, columns, tensors) {
  const { data: scales } = tensors.get(`${name}_scale`);
  const { data: zeros } = tensors.get(`${name}_zero_point`);
  if (zeros.some((zero) => zero !== 0)) throw new Error(`The zero point of ${name} is not 0`);
  if (scales.length === 1) return { shape: [4], data: new Float32Array(4).fill(scales[0]) };
  if (scales.length === columns) return shaped({ dims: [columns], data: scales });
  throw new Error(`${name} has ${scales.length} scales for ${columns} columns`);
}

/** The network that src/neural of foley computes. */
const NETWORK = '9ccd67ef1d27b3ec';

/** A hash of the names and shapes of all weights. A matrix may have one scale, or one for each column. */
function networkOf(weights) {
  const names = [...weights].map(([name, { shape }]) =>
    name.endsWith('.scale') ? name : `${name} ${shape}`,
  );
  return createHash('sha256')
    .update(names.sort((one, other) => (one < other ? -1 : 1)).join('\n'))
    .digest('hex')
    .slice(0, 16);
}

/** The format of https://github.com/huggingface/safetensors: the header's length, the header in JSON, the numbers. */
export function safetensors(tensors, metadata) {
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
