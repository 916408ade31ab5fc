/** Declares the part of the WebAssembly API that foley uses, because Node's types do not declare it. */
declare namespace WebAssembly {
  /** Returns whether this version of Node can compile the bytes. */
  function validate(bytes: Uint8Array): boolean;
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

/** Declares the functions of this package that foley uses; the package has no types. */
declare module '@echogarden/speex-resampler-wasm/simd' {
  export interface SpeexResampler {
    /** View of the module's memory. Do not store the view: it is replaced whenever the memory grows. */
    readonly HEAPF32: Float32Array;
    readonly HEAPU32: Uint32Array;
    _malloc(bytes: number): number;
    _free(pointer: number): void;
    /** @returns a pointer to the state of the new resampler, or 0 on failure */
    _speex_resampler_init(
      channels: number,
      inputRate: number,
      outputRate: number,
      quality: number,
      errorPointer: number,
    ): number;
    /**
     * Resamples one buffer. `inputLength` and `outputLength` are pointers. Before the call, they point to the buffer
     * sizes in samples. After the call, they point to the number of samples read and the number written.
     */
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
