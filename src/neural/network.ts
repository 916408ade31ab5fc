import type { Kernels } from './kernels.ts';
import type { Tensor, Tensors } from './safetensors.ts';

/** A matrix of 32-bit floats in the memory of the kernels, row by row. */
export interface Matrix {
  /** Address in bytes. */
  readonly at: number;
  readonly rows: number;
  readonly columns: number;
}

interface PlacedTensor extends Tensor {
  /** Address in bytes. */
  readonly at: number;
  /** Address of the sums of the rows of 8-bit weights. */
  readonly sums: number;
}

const FLOAT = 4;
const SHORT = 2;

/** Bytes behind each matrix that a kernel may read, though not use. */
const SLACK = 64;

/**
 * Layers of a neural network whose weights have the names that PyTorch gives them. Results stay valid until
 * {@link release}.
 */
export class Network {
  readonly #kernels: Kernels;
  readonly #weights: ReadonlyMap<string, PlacedTensor>;
  readonly #first: number;
  #free: number;

  /** @param start address of free memory of the kernels */
  constructor(kernels: Kernels, tensors: Tensors, start: number) {
    this.#kernels = kernels;
    this.#free = kernels.reserve(start, tensors.bytes.length);
    new Uint8Array(kernels.memory.buffer, start).set(tensors.bytes);
    const placed = Array.from(tensors.byName, ([name, tensor]) => {
      const at = start + tensor.offset;
      return [name, { ...tensor, at, sums: tensor.isFloat ? 0 : this.#pack(at, tensor) }] as const;
    });
    this.#weights = new Map(placed);
    this.#first = this.#free;
  }

  /** Prepares a matrix of 8-bit weights. Returns the address of the sums of its rows. */
  #pack(at: number, { shape: [rows = 0, depth = 0] }: Tensor): number {
    const sums = this.allocate(rows * FLOAT);
    const before = this.#free;
    const free = this.allocate(2 * depth);
    this.#kernels.pack(at, free, rows, depth, sums);
    this.#free = before;
    return sums;
  }

  /** Frees all matrices. */
  release(): void {
    this.#free = this.#first;
  }

  /** Returns a matrix without values of its own: those of earlier matrices. */
  matrix(rows: number, columns: number): Matrix {
    return { at: this.allocate(rows * columns * FLOAT), rows, columns };
  }

  allocate(bytes: number): number {
    const at = this.#free;
    this.#free = this.#kernels.reserve(at, bytes + SLACK);
    return at;
  }

  /** Returns the values of a matrix, as a view that is valid until memory is allocated. */
  values({ at, columns, rows }: Matrix): Float32Array {
    return new Float32Array(this.#kernels.memory.buffer, at, rows * columns);
  }

  /** Returns the rows of the table `name` with these numbers. */
  embed(name: string, ids: readonly number[]): Matrix {
    const { at, columns } = this.#matrixOf(name);
    const result = this.matrix(ids.length, columns);
    const bytes = new Uint8Array(this.#kernels.memory.buffer);
    const size = columns * FLOAT;
    for (const [row, id] of ids.entries()) {
      bytes.copyWithin(result.at + row * size, at + id * size, at + (id + 1) * size);
    }
    return result;
  }

  /** Layer normalization. */
  normalize(x: Matrix, name: string): Matrix {
    const result = this.matrix(x.rows, x.columns);
    const bias = this.#at(`${name}.bias`);
    this.#kernels.normalize(x.at, this.#at(`${name}.weight`), bias, result.at, x.rows, x.columns);
    return result;
  }

  /** A fully connected layer, of floats or of 8-bit weights that have a scale each column or one for all. */
  linear(x: Matrix, name: string): Matrix {
    const weights = this.#matrixOf(`${name}.weight`);
    const bias = this.#at(`${name}.bias`);
    const result = this.matrix(x.rows, weights.rows);
    const { at: from, columns: depth, rows } = x;
    if (weights.isFloat) {
      this.#kernels.dense(from, depth, weights.at, bias, result.at, rows, depth, weights.rows);
      return result;
    }
    const before = this.#free;
    const quantized = this.allocate(Math.ceil(rows / 4) * 4 * depth * SHORT);
    const factors = this.matrix(1, weights.rows);
    const step = Math.fround(this.#kernels.quantize(from, rows, depth, quantized));
    this.values(factors).set(this.#scalesOf(name, weights.rows).map((scale) => step * scale));
    const { at: scales } = factors;
    const { at, rows: columns, sums } = weights;
    this.#kernels.linear(quantized, at, bias, result.at, rows, depth, columns, scales, sums);
    this.#free = before;
    return result;
  }

  // One scale for each column, or a single one, which the file repeats up to the size that tensors have.
  #scalesOf(name: string, columns: number): Float32Array {
    const {
      at,
      shape: [count = 0],
    } = this.#tensor(`${name}.scale`);
    const stored = new Float32Array(this.#kernels.memory.buffer, at, count);
    return count === columns ? stored : new Float32Array(columns).fill(stored[0] ?? 0);
  }

  /** A convolution over the rows with zeros beyond both ends; `x` has as many columns as the weights, padded to 4. */
  convolve(x: Matrix, name: string, taps: number): Matrix {
    const weights = this.#matrixOf(`${name}.weight`);
    const margin = (taps - 1) / 2;
    const padded = this.matrix(x.rows + 2 * margin, x.columns);
    const values = this.values(padded);
    values.fill(0);
    values.set(this.values(x), margin * x.columns);
    const result = this.matrix(x.rows, weights.rows);
    const bias = this.#at(`${name}.bias`);
    const depth = taps * x.columns;
    this.#kernels.dense(
      padded.at,
      x.columns,
      weights.at,
      bias,
      result.at,
      x.rows,
      depth,
      weights.rows,
    );
    return result;
  }

  /** Gaussian error linear unit, in place. */
  gelu(x: Matrix): Matrix {
    this.#kernels.gelu(x.at, x.rows * x.columns);
    return x;
  }

  /** Adds `y` to `x`, in place; each column of `y` times its `gamma`, if there is one. */
  add(x: Matrix, y: Matrix, gamma?: string): Matrix {
    const factors = gamma === undefined ? 0 : this.#at(gamma);
    this.#kernels.add(x.at, y.at, factors, x.rows, x.columns);
    return x;
  }

  /** A ConvNeXt block (Liu et al., 2022), in place. */
  convNext(x: Matrix, name: string, dilation = 1): Matrix {
    const before = this.#free;
    const { at: weights, rows: taps } = this.#matrixOf(`${name}.dw.weight`);
    const mixed = this.matrix(x.rows, x.columns);
    const bias = this.#at(`${name}.dw.bias`);
    this.#kernels.depthwise(x.at, weights, bias, mixed.at, x.rows, x.columns, taps, dilation);
    const normal = this.normalize(mixed, `${name}.norm`);
    const wide = this.gelu(this.linear(normal, `${name}.pw1`));
    this.add(x, this.linear(wide, `${name}.pw2`), `${name}.gamma`);
    this.#free = before;
    return x;
  }

  /** A layer of a transformer that normalizes first (Xiong et al., 2020), in place. */
  transformer(x: Matrix, name: string, heads: number): Matrix {
    const before = this.#free;
    const queries = this.linear(this.normalize(x, `${name}.norm1`), `${name}.self_attn.in_proj`);
    const attended = this.matrix(x.rows, x.columns);
    const scores = this.allocate(x.rows * FLOAT);
    this.#kernels.attend(queries.at, attended.at, scores, x.rows, x.columns, heads);
    this.add(x, this.linear(attended, `${name}.self_attn.out_proj`));
    const wide = this.gelu(this.linear(this.normalize(x, `${name}.norm2`), `${name}.linear1`));
    this.add(x, this.linear(wide, `${name}.linear2`));
    this.#free = before;
    return x;
  }

  #at(name: string): number {
    return this.#tensor(name).at;
  }

  #matrixOf(name: string): Matrix & PlacedTensor {
    const tensor = this.#tensor(name);
    const { shape } = tensor;
    const [rows = 0, columns = 0] = shape;
    return { ...tensor, rows, columns };
  }

  #tensor(name: string): PlacedTensor {
    const tensor = this.#weights.get(name);
    if (tensor === undefined) throw new RangeError(`The network has no weights ${name}.`);
    return tensor;
  }
}
