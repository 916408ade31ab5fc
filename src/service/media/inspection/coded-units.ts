/**
 * Of how many bytes the lengths of the units are in packets of H.264 and HEVC, by the record that
 * describes the track (ISO/IEC 14496-15); `undefined` for codecs whose packets have no such lengths.
 */
export function unitLengthBytes(
  codec: string | null,
  description: NonNullable<AudioDecoderConfig['description']>,
): number | undefined {
  const bytes = ArrayBuffer.isView(description)
    ? new Uint8Array(description.buffer, description.byteOffset, description.byteLength)
    : new Uint8Array(description);
  const at = codec === 'avc' ? 4 : codec === 'hevc' ? 21 : undefined;
  const value = at === undefined ? undefined : bytes[at];
  return value === undefined ? undefined : (value & 3) + 1;
}

/** Whether units with their lengths before them fill a packet to its last byte. */
export function fillsExactly(packet: Uint8Array, lengthBytes: number): boolean {
  let at = 0;
  while (at < packet.length) {
    if (at + lengthBytes > packet.length) return false;
    let length = 0;
    for (let index = 0; index < lengthBytes; index += 1) {
      length = length * 256 + (packet[at + index] ?? 0);
    }
    at += lengthBytes + length;
  }
  return at === packet.length;
}
