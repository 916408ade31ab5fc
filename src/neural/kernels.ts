/** The functions of `assembly/network.ts` and `assembly/sound.ts`, where their arguments are described. */
export interface Kernels {
  readonly memory: WebAssembly.Memory;
  readonly SCRATCH: { readonly value: number };
  reserve(at: number, bytes: number): number;
  pack(weights: number, free: number, rows: number, depth: number): void;
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

function isKernels(exports: object): exports is Kernels {
  return 'memory' in exports && 'linear' in exports && 'synthesize' in exports;
}
