/** The part of the package that is used; it comes without types. */
declare module '@echogarden/speex-resampler-wasm/simd' {
  export interface SpeexResampler {
    /** Replaced whenever the memory grows: to be read again after every call. */
    readonly HEAPF32: Float32Array;
    readonly HEAPU32: Uint32Array;
    _malloc(bytes: number): number;
    _free(pointer: number): void;
    /** @returns a pointer to the state, 0 when it fails */
    _speex_resampler_init(
      channels: number,
      inputRate: number,
      outputRate: number,
      quality: number,
      errorPointer: number,
    ): number;
    /** Lengths are pointers: the room when called, what was taken and given when it returns. */
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
