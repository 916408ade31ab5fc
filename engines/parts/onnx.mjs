// Adds outputs to an ONNX model in memory, so that a model tells the durations that it computes.
//
// An ONNX file is a protobuf message. Its parser merges a second graph into the first, so the new
// outputs are appended to the file: no other byte changes.

import { open } from 'node:fs/promises';

/** Numbers of the fields that are read or written (onnx.proto). */
const MODEL = { graph: 7 };
const GRAPH = { node: 1, output: 12 };
const NODE = { output: 2, operator: 4 };
const VALUE = { name: 1 };

/** Types of encoding of a field. */
const WIRE = { varint: 0, eightBytes: 1, counted: 2, fourBytes: 5 };

const APPENDED_MAX_BYTES = 4096;

/**
 * Reads a model, and exposes the output of the only node with each of the given operators.
 * @param {string} file
 * @param {readonly string[]} operators such as `['Ceil']`
 * @returns {Promise<{ bytes: Uint8Array, exposed: string[] }>} the model, and the names of the new outputs
 * @throws {Error} if the file is not an ONNX model, or an operator does not occur exactly once
 */
export async function readModel(file, operators) {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const buffer = Buffer.allocUnsafeSlow(size + APPENDED_MAX_BYTES);
    let read = 0;
    while (read < size) {
      const { bytesRead } = await handle.read(buffer, read, size - read, read);
      if (bytesRead === 0) throw new Error(`${file} became shorter while it was read`);
      read += bytesRead;
    }
    const exposed = operators.map((operator) => outputOf(buffer.subarray(0, size), operator));
    const appended = Buffer.concat(
      exposed.map((name) => counted(MODEL.graph, counted(GRAPH.output, counted(VALUE.name, name)))),
    );
    if (appended.length > APPENDED_MAX_BYTES)
      throw new Error('The names of the nodes are too long');
    appended.copy(buffer, size);
    return { bytes: buffer.subarray(0, size + appended.length), exposed };
  } finally {
    await handle.close();
  }
}

/** @throws {Error} unless exactly one node has the operator */
function outputOf(model, operator) {
  const found = [];
  for (const graph of fields(model)) {
    if (graph.number !== MODEL.graph) continue;
    for (const node of fields(graph.bytes)) {
      if (node.number !== GRAPH.node) continue;
      const parts = [...fields(node.bytes)];
      const textOf = (number) => parts.find((part) => part.number === number)?.bytes.toString();
      if (textOf(NODE.operator) === operator) found.push(textOf(NODE.output));
    }
  }
  if (found.length === 1 && found[0] !== undefined) return found[0];
  throw new Error(
    `The model has ${found.length} nodes of type ${operator}, not 1: it tells no durations`,
  );
}

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
    const key = varint();
    const wire = key % 8;
    const length = wire === WIRE.varint ? void varint() : lengthOf(wire, varint);
    const end = at + (length ?? 0);
    if (end > message.length) throw notOnnx();
    yield { number: Math.floor(key / 8), bytes: message.subarray(at, end) };
    at = end;
  }
}

function lengthOf(wire, varint) {
  if (wire === WIRE.counted) return varint();
  if (wire === WIRE.fourBytes) return 4;
  if (wire === WIRE.eightBytes) return 8;
  throw notOnnx();
}

function notOnnx() {
  return new Error('The file is not an ONNX model');
}

function counted(number, content) {
  const bytes = Buffer.from(content);
  return Buffer.concat([varintOf(number * 8 + WIRE.counted), varintOf(bytes.length), bytes]);
}

function varintOf(value) {
  const bytes = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
