/** Collects bytes that are ready, copied, until they are taken. */
export class ByteSink {
  #pieces: Uint8Array[] = [];

  push(bytes: Uint8Array): void {
    // A copy also of a Buffer, whose own slice shares its memory.
    if (bytes.length > 0) this.#pieces.push(Uint8Array.prototype.slice.call(bytes));
  }

  take(): Uint8Array {
    const pieces = this.#pieces;
    this.#pieces = [];
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
  }
}
