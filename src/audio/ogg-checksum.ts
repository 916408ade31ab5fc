/**
 * Goes on with the checksum of an Ogg page (RFC 3533: polynomial 0x04c11db7, highest bit first,
 * beginning with 0) over `bytes` from `from` up to but not including `to`.
 */
export function oggChecksum(bytes: Uint8Array, from: number, to: number, begun = 0): number {
  const tables = (made ??= makeTables());
  const [t0, t1, t2, t3, t4, t5, t6, t7] = tables;
  let sum = begun;
  let at = from;
  // Eight bytes a turn; a gigabyte is to cost about a second, not five.
  for (; at + 8 <= to; at += 8) {
    sum ^= (byte(bytes, at) << 24) | (byte(bytes, at + 1) << 16);
    sum ^= (byte(bytes, at + 2) << 8) | byte(bytes, at + 3);
    sum =
      entry(t7, sum >>> 24) ^
      entry(t6, (sum >>> 16) & 0xff) ^
      entry(t5, (sum >>> 8) & 0xff) ^
      entry(t4, sum & 0xff) ^
      entry(t3, byte(bytes, at + 4)) ^
      entry(t2, byte(bytes, at + 5)) ^
      entry(t1, byte(bytes, at + 6)) ^
      entry(t0, byte(bytes, at + 7));
  }
  for (; at < to; at += 1) sum = (sum << 8) ^ entry(t0, (sum >>> 24) ^ byte(bytes, at));
  return sum >>> 0;
}

type Table = Int32Array;
type Tables = readonly [Table, Table, Table, Table, Table, Table, Table, Table];

let made: Tables | undefined;

/** The checksum of each byte followed by 0 to 7 bytes of zero. */
function makeTables(): Tables {
  const t0 = Int32Array.from({ length: 256 }, (_, value) => {
    let sum = value << 24;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum << 1) ^ (sum < 0 ? 0x04c1_1db7 : 0);
    return sum;
  });
  const after = (table: Table): Table =>
    table.map((sum) => (sum << 8) ^ entry(t0, (sum >>> 24) & 0xff));
  const t1 = after(t0);
  const t2 = after(t1);
  const t3 = after(t2);
  const t4 = after(t3);
  const t5 = after(t4);
  const t6 = after(t5);
  return [t0, t1, t2, t3, t4, t5, t6, after(t6)];
}

function entry(table: Table, index: number): number {
  return table[index] ?? 0;
}

function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}
