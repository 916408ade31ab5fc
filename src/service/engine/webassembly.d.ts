/** The part of the WebAssembly API that the flite engine and the encoders use; Node's types do not declare it. */
declare namespace WebAssembly {
  class Module {
    static exports(module: Module): { readonly name: string }[];
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, ImportedFunction>>);
    readonly exports: Readonly<Record<string, unknown>>;
  }
  class Memory {
    readonly buffer: ArrayBuffer;
  }
  type ImportedFunction = (...args: never[]) => number | void;
}

/** The functions that foley uses of this package, which has no types. */
declare module '@echogarden/speex-resampler-wasm/simd' {
  export interface SpeexResampler {
    /** View of the memory; replaced whenever the memory grows, so do not store the view. */
    readonly HEAPF32: Float32Array;
    readonly HEAPU32: Uint32Array;
    _malloc(bytes: number): number;
    _free(pointer: number): void;
    /** @returns a pointer to the state, 0 on failure */
    _speex_resampler_init(
      channels: number,
      inputRate: number,
      outputRate: number,
      quality: number,
      errorPointer: number,
    ): number;
    /** Resamples. The lengths are pointers to buffer sizes; the call replaces these by the numbers of samples used. */
    _speex_resampler_process_float(
      state: number,
      channel: number,
      input: number,
      inputLength: number,
      output: number,
      outputLength: number,
    ): number;
    _speex_resampler_skip_zeros(state: number): number;
    _speex_resampler_destroy(state: number): void;
  }

  export default function createSpeexResampler(): Promise<SpeexResampler>;
}
