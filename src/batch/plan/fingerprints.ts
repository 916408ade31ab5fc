import { createHash } from 'node:crypto';

/**
 * A set of strings of which only 85 bits each are kept, with the number of whoever came first: a hundred
 * thousand of them take 4 MB, whatever their length.
 */
export class Fingerprints {
  #low = new Float64Array(FIRST_SLOTS);
  #high = new Uint32Array(FIRST_SLOTS);
  #owner = new Int32Array(FIRST_SLOTS);
  #size = 0;

  /** Adds a string; gives the number of whoever added it before, who stays its owner. */
  add(text: string, owner: number): number | undefined {
    if (this.#size * 2 >= this.#owner.length) this.#grow();
    const print = printOf(text);
    const slot = this.#slotOf(print);
    const before = this.#owner[slot] ?? 0;
    if (before !== 0) return before - 1;
    this.#put(slot, print, owner + 1);
    this.#size += 1;
    return undefined;
  }

  /** The number of whoever added it. */
  ownerOf(text: string): number | undefined {
    const owner = this.#owner[this.#slotOf(printOf(text))] ?? 0;
    return owner === 0 ? undefined : owner - 1;
  }

  #slotOf({ low, high }: Print): number {
    const mask = this.#owner.length - 1;
    for (let slot = high & mask; ; slot = (slot + 1) & mask) {
      if (this.#owner[slot] === 0) return slot;
      if (this.#low[slot] === low && this.#high[slot] === high) return slot;
    }
  }

  #put(slot: number, { low, high }: Print, owner: number): void {
    this.#low[slot] = low;
    this.#high[slot] = high;
    this.#owner[slot] = owner;
  }

  #grow(): void {
    const [low, high, owner] = [this.#low, this.#high, this.#owner];
    this.#low = new Float64Array(owner.length * 2);
    this.#high = new Uint32Array(owner.length * 2);
    this.#owner = new Int32Array(owner.length * 2);
    for (let at = 0; at < owner.length; at += 1) {
      const number = owner[at] ?? 0;
      if (number === 0) continue;
      const print = { low: low[at] ?? 0, high: high[at] ?? 0 };
      this.#put(this.#slotOf(print), print, number);
    }
  }
}

interface Print {
  readonly low: number;
  readonly high: number;
}

/** A power of two. */
const FIRST_SLOTS = 1024;

function printOf(text: string): Print {
  const digest = createHash('sha256').update(text).digest();
  return {
    low: digest.readUIntBE(0, 6) * 32 + ((digest[6] ?? 0) & 31),
    high: digest.readUInt32BE(7),
  };
}
