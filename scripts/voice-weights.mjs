// Reads the weights of an ONNX file, and writes them for src/neural: 8-bit matrices by column, convolutions by tap.

/** Fields of protocol buffers: `[number, value]`, a number for whole numbers, bytes for the rest. */
function* fieldsOf(bytes) {
  let at = 0;
  const whole = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(value);
    }
  };
  while (at < bytes.length) {
    const tag = whole();
    const sizes = { 1: 8, 5: 4 };
    if ((tag & 7) === 0) yield [tag >> 3, whole()];
    else {
      const size = sizes[tag & 7] ?? whole();
      yield [tag >> 3, bytes.subarray(at, at + size)];
      at += size;
    }
  }
}

const first = (bytes, wanted) =>
  Array.from(fieldsOf(bytes)).find(([number]) => number === wanted)?.[1];

/** The tensor of a TensorProto: `{ name, dims, data }`, `data` a Float32Array, Int8Array or BigInt64Array. */
function tensorOf(bytes) {
  const dims = [];
  const floats = [];
  let name = '';
  let type = 0;
  let raw;
  for (const [number, value] of fieldsOf(bytes)) {
    if (number === 1 && typeof value === 'number') dims.push(value);
    else if (number === 1) throw new Error('Packed dimensions are not supported.');
    else if (number === 2) type = value;
    else if (number === 4) floats.push(...new Float32Array(Uint8Array.from(value).buffer));
    else if (number === 8) name = Buffer.from(value).toString();
    else if (number === 9) raw = Uint8Array.from(value).buffer;
  }
  const kinds = { 1: Float32Array, 3: Int8Array };
  const data = raw === undefined ? Float32Array.from(floats) : kinds[type] && new kinds[type](raw);
  return { name, dims, data };
}

/** The initial values of a model's graph, by name. */
export function readTensors(onnx) {
  const graph = first(onnx, 7);
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
function byColumn({ dims: [depth, columns], data }) {
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

function shaped({ dims, data }) {
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

/** The weights of the voice as the bytes of a safetensors file. */
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
      const scale = tensors.get(`${matrix[1]}_scale`).data[0];
      weights.set(`${plain}.scale`, { shape: [4], data: new Float32Array(4).fill(scale) });
    } else if (/^(m|pn)\./.test(name)) {
      const isConvolution = tensor.dims.length === 3;
      const reshape = !isConvolution ? shaped : /\.dw\./.test(name) ? ofColumns : byTap;
      weights.set(name.replace('in_proj_bias', 'in_proj.bias'), reshape(tensor));
    }
  }
  for (const name of ['pn.dur.2.bias', 'pn.pro_out.bias']) {
    if (!weights.has(name)) throw new Error(`The model has no ${name}.`);
  }
  return safetensors(weights);
}

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
