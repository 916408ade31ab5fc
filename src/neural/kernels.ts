import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The functions of `assembly/{products,network,sound}.ts`, where their arguments are described. */
export interface Kernels {
  readonly memory: WebAssembly.Memory;
  readonly SCRATCH: { readonly value: number };
  /** Only in relaxed-kernels.wasm. Returns 0 if the machine does not compute exactly. */
  probe?(): number;
  reserve(at: number, bytes: number): number;
  pack(weights: number, free: number, rows: number, depth: number, sums: number): void;
  quantize(x: number, rows: number, depth: number, q: number): number;
  linear(
    q: number,
    weights: number,
    bias: number,
    out: number,
    rows: number,
    depth: number,
    columns: number,
    scales: number,
    sums: number,
  ): void;
  dense(
    x: number,
    step: number,
    weights: number,
    bias: number,
    out: number,
    rows: number,
    depth: number,
    columns: number,
  ): void;
  depthwise(
    x: number,
    weights: number,
    bias: number,
    out: number,
    rows: number,
    columns: number,
    taps: number,
    dilation: number,
  ): void;
  normalize(
    x: number,
    weights: number,
    bias: number,
    out: number,
    rows: number,
    columns: number,
  ): void;
  gelu(x: number, count: number): void;
  add(x: number, y: number, gamma: number, rows: number, columns: number): void;
  attend(
    x: number,
    out: number,
    scores: number,
    rows: number,
    columns: number,
    heads: number,
  ): void;
  prepare(at: number): void;
  pulses(pitch: number, count: number, factor: number, highest: number, out: number): void;
  synthesize(
    frames: number,
    count: number,
    pitch: number,
    factor: number,
    source: number,
    out: number,
    stretch: number,
    tilt: number,
    seed: number,
  ): void;
}

/** Compiles and starts the kernels, with a memory of their own. @param wasm the contents of kernels.wasm */
export function startKernels(wasm: Uint8Array<ArrayBuffer>): Kernels {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(wasm), {});
  if (!isKernels(exports)) throw new TypeError('kernels.wasm lacks a function.');
  return exports;
}

/**
 * Starts the kernels of relaxed-kernels.wasm if this machine and its Node compute exactly with them, at twice the speed; or
 * else those of kernels.wasm.
 * @param folder path of the folder of both files
 */
export function startFastestKernels(folder: string): Kernels {
  const relaxed = readFileSync(path.join(folder, 'relaxed-kernels.wasm'));
  if (WebAssembly.validate(relaxed)) {
    const kernels = startKernels(relaxed);
    if (kernels.probe?.() !== 0) return kernels;
  }
  return startKernels(readFileSync(path.join(folder, 'kernels.wasm')));
}

function isKernels(exports: object): exports is Kernels {
  return 'memory' in exports && 'linear' in exports && 'synthesize' in exports;
}
