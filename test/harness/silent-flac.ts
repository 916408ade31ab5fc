const RATE = 8_000;
const BLOCK = 65_535;

export interface SilentFlac {
  readonly seconds: number;
  /** What the first block says of its length; default the truth, 0 is "not known". */
  readonly toldSamples?: number;
}

/** FLAC of nothing but silence: eight seconds take 15 bytes. */
export function silentFlac({ seconds, toldSamples }: SilentFlac): Buffer {
  const blocks = Math.ceil((seconds * RATE) / BLOCK);
  const frames = Array.from({ length: blocks }, (_, number) => frame(number));
  return Buffer.concat([Buffer.from('fLaC'), streamInfo(toldSamples ?? blocks * BLOCK), ...frames]);
}

function streamInfo(samples: number): Buffer {
  const block = Buffer.alloc(38);
  block.writeUInt32BE(0x8000_0022, 0);
  block.writeUInt16BE(BLOCK, 4);
  block.writeUInt16BE(BLOCK, 6);
  // 20 bits of rate, 3 of channels less one, 5 of depth less one, 36 of samples.
  block.writeUInt32BE((RATE << 12) | (15 << 4), 14);
  block.writeUInt8((15 << 4) & 0xf0, 17);
  block.writeUInt32BE(samples, 18);
  return block;
}

function frame(number: number): Buffer {
  const head = Buffer.from([0xff, 0xf8, 0x74, 0x08, ...numbered(number), 0xff, 0xfe]);
  const body = Buffer.concat([head, Buffer.from([checksum(head, 8, 0x07)]), Buffer.alloc(3)]);
  const sum = checksum(body, 16, 0x8005);
  return Buffer.concat([body, Buffer.from([sum >>> 8, sum & 0xff])]);
}

/** As UTF-8 writes a character with that number. */
function numbered(number: number): readonly number[] {
  return [...Buffer.from(String.fromCodePoint(number))];
}

function checksum(bytes: Uint8Array, bits: 8 | 16, polynomial: number): number {
  const top = 1 << (bits - 1);
  const mask = 2 * top - 1;
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << (bits - 8);
    for (let bit = 0; bit < 8; bit += 1) {
      sum = ((sum << 1) ^ ((sum & top) === 0 ? 0 : polynomial)) & mask;
    }
  }
  return sum;
}
