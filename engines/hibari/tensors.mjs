// Reads the numbers in an ONNX file, which is a protobuf message.

/**
 * @typedef {{ bytes: Uint8Array, at: number }} Reader
 * @typedef {{ dims: number[], data: Float32Array | Int8Array }} Numbers
 */

/**
 * Fields of protocol buffers: `[number, value]`, a number for whole numbers, bytes for the rest.
 * @param {Uint8Array} bytes
 * @returns {Generator<[number: number, value: number | Uint8Array]>}
 */
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

/**
 * @param {number} wireType
 * @param {Reader} reader
 */
function sizeOf(wireType, reader) {
  if (wireType === 1) return 8;
  if (wireType === 2) return whole(reader);
  if (wireType === 5) return 4;
  throw notOnnx();
}

/** Returns the error for a file of another format, and for one that is cut off. */
export function notOnnx() {
  return new Error('The file is not a whole ONNX model');
}

/**
 * Reads a whole number of 7 bits each byte.
 * @param {Reader} reader
 * @throws {Error} at the end of the bytes
 */
function whole(reader) {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = reader.bytes[reader.at++];
    if (byte === undefined) throw notOnnx();
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return Number(value);
  }
}

/** @param {Uint8Array} bytes */
function* wholeNumbers(bytes) {
  const reader = { bytes, at: 0 };
  while (reader.at < bytes.length) yield whole(reader);
}

/**
 * The tensor of a TensorProto: a Float32Array for floats, an Int8Array for whole numbers of 8 bits.
 * @param {Uint8Array} bytes
 * @returns {{ name: string, dims: number[], data: Float32Array | Int8Array | undefined }}
 */
function tensorOf(bytes) {
  /** @type {number[]} */
  const dims = [];
  /** @type {number[]} */
  const numbers = [];
  let name = '';
  let type = 0;
  let raw;
  for (const [number, value] of fieldsOf(bytes)) {
    if (typeof value === 'number') {
      if (number === 1) dims.push(value);
      else if (number === 2) type = value;
      else if (number === 5) numbers.push(value);
    } else if (number === 1) throw new Error('Packed dimensions are not supported.');
    else if (number === 4) numbers.push(...new Float32Array(Uint8Array.from(value).buffer));
    else if (number === 5) numbers.push(...wholeNumbers(value));
    else if (number === 8) name = Buffer.from(value).toString();
    else if (number === 9) raw = Uint8Array.from(value).buffer;
  }
  if (raw === undefined) return { name, dims, data: Float32Array.from(numbers) };
  if (type === 1) return { name, dims, data: new Float32Array(raw) };
  return { name, dims, data: type === 3 ? new Int8Array(raw) : undefined };
}

/**
 * The initial values of a model's graph, by name, without those of other types.
 * @param {Uint8Array} onnx
 * @returns {Map<string, Numbers>}
 */
export function readTensors(onnx) {
  const [, graph] = Array.from(fieldsOf(onnx)).find(([number]) => number === 7) ?? [];
  if (!(graph instanceof Uint8Array)) throw notOnnx();
  /** @type {Map<string, Numbers>} */
  const tensors = new Map();
  for (const [number, value] of fieldsOf(graph)) {
    if (number === 5 && value instanceof Uint8Array) {
      const { name, dims, data } = tensorOf(value);
      if (data !== undefined) tensors.set(name, { dims, data });
    }
  }
  return tensors;
}
