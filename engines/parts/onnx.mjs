// Adds outputs to an ONNX model in memory, so that a model tells the durations that it computes.
//
// An ONNX file is a protobuf message. Its parser merges a second graph into the first, so the new
// outputs are appended to the file: no other byte changes.

import { open } from 'node:fs/promises';

/** Numbers of the fields that are read or written (onnx.proto). */
const MODEL = { graph: 7 };
const GRAPH = { node: 1, unused: 3, output: 12 };
const NODE = { input: 1, output: 2, name: 3, operator: 4, attribute: 5 };
const ATTRIBUTE = { name: 1, integer: 3, type: 20 };
const VALUE = { name: 1 };

/** Types of encoding of a field. */
const WIRE = { varint: 0, eightBytes: 1, counted: 2, fourBytes: 5 };

/** Types of elements, and the type of an attribute that is an integer. */
const TYPE = { float: 1, int32: 6 };
const INTEGER = 2;

/** Room after the model for what is appended. */
const APPENDED_MAX_BYTES = 1_000_000;

/**
 * @typedef {{ operator: string | undefined, inputs: string[], outputs: string[], attributes: Buffer[], raw: Buffer }} Node
 * `raw` and `attributes` are parts of the bytes of the model.
 */

/**
 * Reads a model, and exposes the output of the only node with each of the given operators.
 * @param {string} file
 * @param {{ expose?: readonly string[], floats?: boolean }} changes `expose`: operators such as `Ceil`;
 *   `floats`: convolutions of integers become convolutions of floats, which processors compute faster
 * @returns {Promise<{ bytes: Uint8Array, exposed: string[] }>} the model, and the names of the new outputs
 * @throws {Error} if the file is not an ONNX model, or an operator does not occur exactly once
 */
export async function readModel(file, { expose = [], floats = false } = {}) {
  const buffer = await readWithRoom(file);
  const size = buffer.length - APPENDED_MAX_BYTES;
  const nodes = nodesOf(buffer.subarray(0, size));
  const exposed = expose.map((operator) => outputOf(nodes, operator));
  const appended = counted(
    MODEL.graph,
    ...exposed.map((name) => counted(GRAPH.output, counted(VALUE.name, name))),
    ...(floats ? floatConvolutions(nodes) : []),
  );
  if (appended.length > APPENDED_MAX_BYTES) throw new Error('The model has too many nodes');
  appended.copy(buffer, size);
  return { bytes: buffer.subarray(0, size + appended.length), exposed };
}

/** @param {string} file */
async function readWithRoom(file) {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const buffer = Buffer.allocUnsafeSlow(size + APPENDED_MAX_BYTES);
    for (let read = 0; read < size;) {
      const { bytesRead } = await handle.read(buffer, read, size - read, read);
      if (bytesRead === 0) throw new Error(`${file} became shorter while it was read`);
      read += bytesRead;
    }
    return buffer;
  } finally {
    await handle.close();
  }
}

/**
 * @param {readonly Node[]} nodes
 * @param {string} operator
 * @throws {Error} unless exactly one node has the operator
 */
function outputOf(nodes, operator) {
  const found = nodes.filter((one) => one.operator === operator);
  const output = found[0]?.outputs[0];
  if (found.length === 1 && output !== undefined) return output;
  throw new Error(
    `The model has ${found.length} nodes of type ${operator}, not 1: it tells no durations`,
  );
}

/**
 * Replaces each convolution of quantized numbers: the old node becomes an unknown field, which is
 * skipped. The weights stay as they are in the file, but the numbers that flow through the model are
 * not rounded any more.
 * @param {readonly Node[]} nodes
 * @returns {Buffer[]} the new nodes
 */
function floatConvolutions(nodes) {
  const quantizers = nodes.filter(({ operator }) => operator === 'DynamicQuantizeLinear');
  const sources = new Map(quantizers.map((one) => [one.outputs[0], one]));
  return nodes.flatMap(
    ({ operator, inputs: [quantized, weights, , zero], outputs, attributes, raw }) => {
      const source = operator === 'ConvInteger' ? sources.get(quantized) : undefined;
      const [result] = outputs;
      const [input, scaled] = [source?.inputs[0], source?.outputs[1]];
      // A convolution without a zero point stays as it is.
      if (input === undefined || scaled === undefined || weights === undefined) return [];
      if (zero === undefined || result === undefined) return [];
      /** @param {string} part */
      const own = (part) => `${result}_${part}`;
      raw[0] = GRAPH.unused * 8 + WIRE.counted;
      return [
        node('Cast', [weights], own('weights'), [castTo(TYPE.float)]),
        node('Cast', [zero], own('zero'), [castTo(TYPE.float)]),
        node('Sub', [own('weights'), own('zero')], own('centred')),
        node('Div', [input, scaled], own('input')),
        node('Conv', [own('input'), own('centred')], own('float'), attributes),
        node('Cast', [own('float')], result, [castTo(TYPE.int32)]),
      ];
    },
  );
}

/**
 * @param {string} operator
 * @param {readonly string[]} inputs
 * @param {string} output
 * @param {readonly Buffer[]} attributes
 */
function node(operator, inputs, output, attributes = []) {
  return counted(
    GRAPH.node,
    ...inputs.map((name) => counted(NODE.input, name)),
    counted(NODE.output, output),
    counted(NODE.name, output),
    counted(NODE.operator, operator),
    ...attributes,
  );
}

/** @param {number} type */
function castTo(type) {
  return counted(
    NODE.attribute,
    counted(ATTRIBUTE.name, 'to'),
    number(ATTRIBUTE.integer, type),
    number(ATTRIBUTE.type, INTEGER),
  );
}

/**
 * Returns the nodes of the model.
 * @param {Buffer} model
 */
function nodesOf(model) {
  /** @type {Node[]} */
  const nodes = [];
  for (const graph of fields(model)) {
    if (graph.number !== MODEL.graph) continue;
    for (const { number: field, bytes, raw } of fields(graph.bytes)) {
      if (field !== GRAPH.node) continue;
      const parts = [...fields(bytes)];
      /** @param {number} wanted */
      const texts = (wanted) =>
        parts.filter((part) => part.number === wanted).map((part) => part.bytes.toString());
      nodes.push({
        operator: texts(NODE.operator)[0],
        inputs: texts(NODE.input),
        outputs: texts(NODE.output),
        attributes: parts.filter((part) => part.number === NODE.attribute).map((part) => part.raw),
        raw,
      });
    }
  }
  return nodes;
}

/** @param {Buffer} message */
function* fields(message) {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message[at];
      if (byte === undefined || factor > Number.MAX_SAFE_INTEGER) throw notOnnx();
      at += 1;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const start = at;
    const key = varint();
    const wire = key % 8;
    const length = wire === WIRE.varint ? void varint() : lengthOf(wire, varint);
    const end = at + (length ?? 0);
    if (end > message.length) throw notOnnx();
    const [bytes, raw] = [message.subarray(at, end), message.subarray(start, end)];
    yield { number: Math.floor(key / 8), bytes, raw };
    at = end;
  }
}

/**
 * @param {number} wire
 * @param {() => number} varint
 */
function lengthOf(wire, varint) {
  if (wire === WIRE.counted) return varint();
  if (wire === WIRE.fourBytes) return 4;
  if (wire === WIRE.eightBytes) return 8;
  throw notOnnx();
}

function notOnnx() {
  return new Error('The file is not an ONNX model');
}

/**
 * @param {number} field
 * @param {(string | Buffer)[]} parts
 */
function counted(field, ...parts) {
  const content = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)),
  );
  return Buffer.concat([varintOf(field * 8 + WIRE.counted), varintOf(content.length), content]);
}

/**
 * @param {number} field
 * @param {number} value
 */
function number(field, value) {
  return Buffer.concat([varintOf(field * 8), varintOf(value)]);
}

/** @param {number} value */
function varintOf(value) {
  const bytes = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
