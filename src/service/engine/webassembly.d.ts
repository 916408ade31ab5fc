/** The part of WebAssembly that the engine and the encoders use; Node's types leave it out. */
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

/** The part of the package that is used; it comes without types. */
declare module '@echogarden/speex-resampler-wasm/simd' {
  export interface SpeexResampler {
    /** Replaced whenever the memory grows; read it again after every call. */
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
    /** Lengths are pointers: to the capacity before the call, to what was consumed and produced after it. */
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
