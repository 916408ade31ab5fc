/** Declares the functions that the engines use, since the package is installed only with a neural engine. */
declare module 'onnxruntime-node' {
  type Numbers = BigInt64Array | Float32Array | Int32Array;

  class Tensor {
    constructor(type: 'float32' | 'int32' | 'int64', data: Numbers, dims: readonly number[]);
    readonly data: Numbers;
  }

  interface SessionOptions {
    readonly executionProviders: readonly 'cpu'[];
    readonly graphOptimizationLevel: 'all' | 'disabled';
    readonly intraOpNumThreads: number;
    readonly interOpNumThreads: number;
    readonly extra: { readonly session: { readonly intra_op: { readonly allow_spinning: '0' } } };
    readonly logSeverityLevel: 0 | 1 | 2 | 3 | 4;
  }

  interface InferenceSession {
    readonly inputMetadata: readonly { readonly name: string; readonly type: string }[];
    readonly outputNames: readonly string[];
    run(inputs: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>>;
  }

  const runtime: {
    readonly Tensor: typeof Tensor;
    readonly InferenceSession: {
      create(model: Uint8Array, options: SessionOptions): Promise<InferenceSession>;
    };
  };
  export default runtime;
}
