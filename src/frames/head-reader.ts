/** What a value of MessagePack is: `foreign` are extension types and the byte that is never used. */
export type ValueKind = 'text' | 'bytes' | 'list' | 'map' | 'value' | 'foreign';

/** Kind and width of the length, for the heads from 0xc0 on; a negative width is that of the value itself. */
const HEADS: readonly (readonly [ValueKind, number])[] = [
  ...fill(0xc0, 0xc0, 'value', 0),
  ...fill(0xc1, 0xc1, 'foreign', 0),
  ...fill(0xc2, 0xc3, 'value', 0),
  ['bytes', 1],
  ['bytes', 2],
  ['bytes', 4],
  ...fill(0xc7, 0xc9, 'foreign', 0),
  ['value', -4],
  ['value', -8],
  ['value', -1],
  ['value', -2],
  ['value', -4],
  ['value', -8],
  ['value', -1],
  ['value', -2],
  ['value', -4],
  ['value', -8],
  ...fill(0xd4, 0xd8, 'foreign', 0),
  ['text', 1],
  ['text', 2],
  ['text', 4],
  ['list', 2],
  ['list', 4],
  ['map', 2],
  ['map', 4],
];

/** Goes from the head of one value to the head of the next, and over what lies between. */
export class HeadReader {
  kind: ValueKind = 'value';
  /** Bytes of a text or of bytes; items of a list; entries of a map. */
  length = 0;
  /** Where the next head is: beyond the end when the frame is too short. */
  at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  next(): void {
    const head = this.#bytes[this.at];
    this.at += 1;
    if (head === undefined || head < 0x80 || head >= 0xe0) return this.#take('value', 0);
    if (head < 0x90) return this.#take('map', head & 0x0f);
    if (head < 0xa0) return this.#take('list', head & 0x0f);
    if (head < 0xc0) return this.#take('text', head & 0x1f);
    const [kind, width] = HEADS[head - 0xc0] ?? (['foreign', 0] as const);
    if (width > 0) return this.#take(kind, this.#number(width));
    this.at -= width;
    this.#take(kind, 0);
  }

  #take(kind: ValueKind, length: number): void {
    this.kind = kind;
    this.length = length;
    if (kind === 'text' || kind === 'bytes') this.at += length;
  }

  #number(width: number): number {
    let value = 0;
    for (let count = 0; count < width; count += 1) {
      value = value * 256 + (this.#bytes[this.at] ?? 0);
      this.at += 1;
    }
    return value;
  }
}

function fill(from: number, to: number, kind: ValueKind, width: number) {
  return Array.from({ length: to - from + 1 }, () => [kind, width] as const);
}
