// Writes the weights of the built-in voice as the ONNX file that the publisher of hibari makes from them: the files of the
// other voices are too large for this repository, and have other weights only.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { counted, number } from '../onnx-file.ts';
import { readSafetensors, type Tensor } from '../../../src/neural/safetensors.ts';

/** The weights of the built-in voice. */
export const BUILT_IN = readFileSync(
  fileURLToPath(new URL('../../../assets/voice/voice.safetensors', import.meta.url)),
);

/** How the scales of a matrix are stored: one for all columns, or one for each. */
export type Scales = 'one' | 'each';

/**
 * Returns the bytes of an ONNX file with the weights of the built-in voice, without its nodes. With a scale for each column,
 * the weights of quiet columns are twice as large, and their scales half as large.
 * @param without name of a tensor to leave out
 */
export function onnxVoice(scales: Scales = 'one', without = ''): Buffer {
  const { byName, bytes } = readSafetensors(BUILT_IN);
  const tensors = Array.from(byName, ([name, tensor]) => {
    if (name === without || name.endsWith('.scale')) return [];
    if (tensor.isFloat) return [floats(name, tensor, bytes)];
    const scale = byName.get(name.replace(/weight$/, 'scale'))?.offset ?? NaN;
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    return matrix(
      exportedName(name),
      tensor,
      { bytes, scale: view.getFloat32(scale, true) },
      scales,
    );
  });
  return counted(7, ...tensors.flat().map((tensor) => counted(5, tensor)));
}

function matrix(
  name: string,
  { offset, shape: [columns = 0, depth = 0] }: Tensor,
  { bytes, scale }: { readonly bytes: Uint8Array; readonly scale: number },
  scales: Scales,
): Buffer[] {
  const stored = new Int8Array(bytes.buffer, bytes.byteOffset + offset, columns * depth);
  const data = new Int8Array(stored.length);
  const factors = new Float32Array(columns).fill(1);
  for (let column = 0; column < columns; column += 1) {
    const from = column * depth;
    let largest = 0;
    for (let row = 0; row < depth; row += 1)
      largest = Math.max(largest, Math.abs(stored[from + row] ?? 0));
    const factor = scales === 'each' && largest < 64 ? 2 : 1;
    for (let row = 0; row < depth; row += 1)
      data[row * columns + column] = (stored[from + row] ?? 0) * factor;
    factors[column] = factor;
  }
  const count = scales === 'each' ? columns : 1;
  const dims = scales === 'each' ? [columns] : [];
  const own = factors.slice(0, count).map((factor) => scale / factor);
  return [
    tensorNamed(
      `${name}_quantized`,
      [depth, columns],
      [number(2, 3), counted(9, Buffer.from(data.buffer))],
    ),
    tensorNamed(`${name}_scale`, dims, [number(2, 1), counted(4, Buffer.from(own.buffer))]),
    tensorNamed(`${name}_zero_point`, dims, [number(2, 3), counted(5, Buffer.alloc(count))]),
  ];
}

const CONVOLUTIONS: Readonly<Record<string, number>> = {
  'm.dec_in.weight': 7,
  'pn.dur.0.weight': 3,
};

function floats(name: string, { offset, shape }: Tensor, bytes: Uint8Array): Buffer {
  const size = shape.reduce((all, one) => all * one, 1);
  const stored = new Float32Array(
    Uint8Array.from(bytes.subarray(offset, offset + size * 4)).buffer,
  );
  const [first = 0, second = 0] = shape;
  if (name.endsWith('.dw.weight')) {
    const data = stored.map((_, at) => stored[(at % first) * second + Math.floor(at / first)] ?? 0);
    return tensorNamed(name, [second, 1, first], raw(data));
  }
  const taps = CONVOLUTIONS[name];
  if (taps === undefined)
    return tensorNamed(name.replace('in_proj.bias', 'in_proj_bias'), shape, raw(stored));
  const width = second / taps;
  const data = stored.map((_, at) => {
    const [row, column, tap] = [
      Math.floor(at / second),
      Math.floor((at % second) / taps),
      at % taps,
    ];
    return stored[row * second + tap * width + column] ?? 0;
  });
  return tensorNamed(name, [first, width, taps], raw(data));
}

function raw(data: Float32Array): Buffer[] {
  return [number(2, 1), counted(9, Buffer.from(data.buffer, data.byteOffset, data.byteLength))];
}

/** `m.dec.3.pw1.weight` was exported as `/dec.3/pw1/Transpose_output_0`. */
function exportedName(name: string): string {
  const plain = name.replace(/\.weight$/, '');
  if (plain.endsWith('in_proj')) return `/Transpose_${plain.startsWith('pn') ? 25 : 2}_output_0`;
  const [, network = '', part = ''] =
    /^(m|pn)\.(?:text\.)?(?:attn\.(?:self_attn\.)?)?(.*)$/.exec(plain) ?? [];
  const isSecond = network === 'pn' && plain.includes('.text.');
  const again = isSecond ? (plain.includes('.attn.') ? '_4' : '_1') : '';
  return `/${part.replace('.pw', '/pw')}${again}/Transpose_output_0`;
}

function tensorNamed(name: string, dims: readonly number[], parts: readonly Buffer[]): Buffer {
  const sizes = dims.map((size) => number(1, size));
  return Buffer.concat([...sizes, ...parts, counted(8, Buffer.from(name))]);
}
