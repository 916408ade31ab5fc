/** CRC-16 (polynomial 0x8005, reflected) as the LAME tag has it; `before` continues an earlier one. */
export function crc16(bytes: Uint8Array, before = 0): number {
  let crc = before;
  for (const byte of bytes) crc = (crc >> 8) ^ (TABLE[(crc ^ byte) & 0xff] ?? 0);
  return crc;
}

const TABLE = Uint16Array.from({ length: 256 }, (_, index) => {
  let crc = index;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 0 ? crc >> 1 : (crc >> 1) ^ 0xa001;
  return crc;
});
