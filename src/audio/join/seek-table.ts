/** Positions that are remembered at most; those of every second frame, fourth, … of a longer file. */
const MOST = 1_024;

/** Remembers where frames begin, for a table of a hundred places, in memory that does not grow. */
export class SeekTable {
  /** Frames so far. */
  count = 0;
  #step = 1;
  #positions: number[] = [];

  /** The next frame begins at this byte. */
  add(position: number): void {
    if (this.count % this.#step === 0) this.#positions.push(position);
    this.count += 1;
    if (this.#positions.length < MOST) return;
    this.#positions = this.#positions.filter((_, index) => index % 2 === 0);
    this.#step *= 2;
  }

  /** Where each hundredth of the time begins, as a share of `bytes`. */
  places(bytes: number): readonly number[] {
    return Array.from({ length: 100 }, (_, part) => {
      const index = Math.floor((part * this.count) / 100 / this.#step);
      return (this.#positions[index] ?? 0) / bytes;
    });
  }
}
