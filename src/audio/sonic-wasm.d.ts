/** Declares the functions that foley uses, since the package has no types. Pointers are byte offsets in the memory. */
declare module '@echogarden/sonic-wasm' {
  export interface Sonic {
    readonly HEAPF32: Float32Array;
    _malloc(bytes: number): number;
    _free(pointer: number): void;
    _sonicCreateStream(sampleRate: number, channels: number): number;
    _sonicDestroyStream(stream: number): void;
    _sonicSetSpeed(stream: number, speed: number): void;
    /** Adds frames of interleaved samples to a stream. @returns 0 if there is not enough memory */
    _sonicWriteFloatToStream(stream: number, samples: number, frames: number): number;
    /** Copies up to `maxFrames` converted frames to the address `samples`. @returns the number of copied frames */
    _sonicReadFloatFromStream(stream: number, samples: number, maxFrames: number): number;
    _sonicFlushStream(stream: number): number;
  }
  export default function load(): Promise<Sonic>;
}
