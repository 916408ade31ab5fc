import { AudioBlock } from './audio-block.ts';

/** So many pieces are kept for what comes next; more are seldom waiting to be written. */
const SPARES_MAX = 64;
/** The audio that arrives together is some kilobytes; memory for more is not kept. */
const SPARE_BYTES_MAX = 128 * 1024;

/**
 * Memory for audio that is used again, since fresh memory costs more than what is written into it: the
 * system has to find and clear it, and it is in no cache. Only what was given back is used again: whoever
 * keeps a chunk, or forgets to give it back, keeps it unchanged.
 */
export class AudioMemory {
  readonly #spares: Buffer[] = [];
  /** The chunks that are out, each with all of the memory that it lies in. */
  readonly #lent = new WeakMap<Uint8Array, Buffer>();

  /** Room for so many bytes of audio. */
  open(bytesMax: number): AudioBlock {
    const spare = this.#spares.pop();
    // One that is too small is left behind, so that soon all of them are large enough.
    const isEnough = spare !== undefined && spare.length >= bytesMax;
    return new AudioBlock(isEnough ? spare : Buffer.allocUnsafeSlow(bytesMax));
  }

  /** The audio in a block, which is not to be added to any more; undefined when there is none. */
  lend(block: AudioBlock): Uint8Array | undefined {
    if (block.length === 0) {
      this.#keep(block.memory);
      return undefined;
    }
    const chunk = block.memory.subarray(0, block.length);
    this.#lent.set(chunk, block.memory);
    return chunk;
  }

  /** Takes back what {@link lend} gave, once; anything else is none of ours and stays what it is. */
  giveBack(chunk: Uint8Array): void {
    const memory = this.#lent.get(chunk);
    if (memory === undefined) return;
    this.#lent.delete(chunk);
    this.#keep(memory);
  }

  #keep(memory: Buffer): void {
    const isUsual = memory.length > 0 && memory.length <= SPARE_BYTES_MAX;
    if (isUsual && this.#spares.length < SPARES_MAX) this.#spares.push(memory);
  }
}
