/**
 * The linear memory of a WASI program, seen through the types that its system calls use: 32-bit
 * pointers, little-endian numbers, lists of buffers.
 */
export class WasiMemory {
  #memory: WebAssembly.Memory | undefined;

  /** The memory comes with the program, which is made after what it imports. */
  attach(memory: WebAssembly.Memory): void {
    this.#memory = memory;
  }

  /** A fresh view at each use: the buffer is replaced whenever the memory grows. */
  bytes(pointer: number, length: number): Uint8Array {
    return new Uint8Array(this.#buffer(), pointer, length);
  }

  setByte(pointer: number, value: number): void {
    this.#view().setUint8(pointer, value);
  }

  setUint16(pointer: number, value: number): void {
    this.#view().setUint16(pointer, value, true);
  }

  setUint32(pointer: number, value: number): void {
    this.#view().setUint32(pointer, value, true);
  }

  setUint64(pointer: number, value: bigint): void {
    this.#view().setBigUint64(pointer, value, true);
  }

  text(pointer: number, length: number): string {
    return new TextDecoder().decode(this.bytes(pointer, length));
  }

  /** The buffers of an array of `count` (pointer, length) pairs. */
  *buffers(pointer: number, count: number): Generator<Uint8Array> {
    for (let index = 0; index < count; index += 1) {
      const view = this.#view();
      const at = pointer + index * 8;
      yield this.bytes(view.getUint32(at, true), view.getUint32(at + 4, true));
    }
  }

  #view(): DataView {
    return new DataView(this.#buffer());
  }

  #buffer(): ArrayBuffer {
    if (this.#memory === undefined) throw new TypeError('The program has no memory yet.');
    return this.#memory.buffer;
  }
}
