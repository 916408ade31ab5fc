// Writes small ONNX models (onnx.proto of the ONNX project), with operators of version 17.

/** A node of the graph: operator, inputs, outputs. */
export type Node = readonly [
  operator: string,
  inputs: readonly string[],
  outputs: readonly string[],
];

/** A tensor in the graph; without `values` an input or output. */
export interface Value {
  readonly name: string;
  readonly type: 'float32' | 'int64';
  /** Numbers of dimensions, or names of dimensions that vary. */
  readonly dims: readonly (number | string)[];
  readonly values?: readonly number[];
}

const TYPES = { float32: 1, int64: 7 } as const;
const OPERATORS_VERSION = 17;

/** Returns the bytes of a model. */
export function onnxFile(graph: {
  readonly nodes: readonly Node[];
  readonly constants: readonly Value[];
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
}): Buffer {
  const { constants, inputs, nodes, outputs } = graph;
  return Buffer.concat([
    number(1, 9),
    counted(
      7,
      ...nodes.map(([operator, from, to]) =>
        counted(
          1,
          ...from.map((name) => text(1, name)),
          ...to.map((name) => text(2, name)),
          text(4, operator),
          ...(operator === 'Cast' ? [castTo(to)] : []),
          ...(operator === 'ReduceSum' ? [attribute('keepdims', 0)] : []),
        ),
      ),
      text(2, 'graph'),
      ...constants.map((value) => counted(5, tensor(value))),
      ...inputs.map((value) => counted(11, valueInfo(value))),
      ...outputs.map((value) => counted(12, valueInfo(value))),
    ),
    counted(8, text(1, ''), number(2, OPERATORS_VERSION)),
  ]);
}

/** A cast goes to `int64` if the name of its output says so, else to `float32`. */
function castTo([name = '']: readonly string[]): Buffer {
  return attribute('to', name.endsWith('int64') ? TYPES.int64 : TYPES.float32);
}

function attribute(name: string, value: number): Buffer {
  const integer = 2;
  return counted(5, text(1, name), number(3, value), number(20, integer));
}

function tensor({ dims, name, type, values = [] }: Value): Buffer {
  const data =
    type === 'int64'
      ? Buffer.from(BigInt64Array.from(values, BigInt).buffer)
      : Buffer.from(Float32Array.from(values).buffer);
  return Buffer.concat([
    ...dims.map((size) => number(1, Number(size))),
    number(2, TYPES[type]),
    text(8, name),
    counted(9, data),
  ]);
}

function valueInfo({ dims, name, type }: Value): Buffer {
  const shape = dims.map((size) =>
    counted(1, typeof size === 'number' ? number(1, size) : text(2, size)),
  );
  return Buffer.concat([
    text(1, name),
    counted(2, counted(1, number(1, TYPES[type]), counted(2, ...shape))),
  ]);
}

function text(field: number, value: string): Buffer {
  return counted(field, Buffer.from(value));
}

/** A field with bytes. */
export function counted(field: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([varint(field * 8 + 2), varint(content.length), content]);
}

/** A field with a whole number. */
export function number(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
