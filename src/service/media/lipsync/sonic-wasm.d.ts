/**
 * Declares the functions that foley uses; the package has no types. Pointers are byte offsets in the memory of the
 * module.
 */
declare module '@echogarden/sonic-wasm' {
  export interface Sonic {
    readonly HEAPF32: Float32Array;
    _malloc(bytes: number): number;
    _free(pointer: number): void;
    _sonicCreateStream(sampleRate: number, channels: number): number;
    _sonicDestroyStream(stream: number): void;
    _sonicSetSpeed(stream: number, speed: number): void;
    /** Writes frames of interleaved samples. @returns 0 when the memory is full */
    _sonicWriteFloatToStream(stream: number, samples: number, frames: number): number;
    /** Copies converted frames to `samples`. @returns the number of frames */
    _sonicReadFloatFromStream(stream: number, samples: number, maxFrames: number): number;
    _sonicFlushStream(stream: number): number;
  }
  export default function load(): Promise<Sonic>;
}
