/** What is used of the package, which has no types. Pointers are bytes from the beginning of the memory. */
declare module '@echogarden/sonic-wasm' {
  export interface Sonic {
    readonly HEAPF32: Float32Array;
    _malloc(bytes: number): number;
    _free(pointer: number): void;
    _sonicCreateStream(sampleRate: number, channels: number): number;
    _sonicDestroyStream(stream: number): void;
    _sonicSetSpeed(stream: number, speed: number): void;
    /** Takes frames of interleaved samples; gives 0 when there is no memory. */
    _sonicWriteFloatToStream(stream: number, samples: number, frames: number): number;
    /** Gives how many frames it wrote. */
    _sonicReadFloatFromStream(stream: number, samples: number, maxFrames: number): number;
    _sonicFlushStream(stream: number): number;
  }
  export default function load(): Promise<Sonic>;
}
