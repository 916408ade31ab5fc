import { id3TagLength } from './sniff.ts';

/** Bytes that say which tag it is, as many as a frame's header has. */
export const MARK_BYTES = 4;

/** How many bytes of what may be a tag between frames must be seen to know its length. */
export function mp3TagHeadBytes(bytes: Uint8Array, at: number): number {
  const mark = markAt(bytes, at);
  if (mark === 'APET') return APE_BYTES;
  return mark.startsWith('ID3') ? ID3_BYTES : MARK_BYTES;
}

/** The length of the whole ID3v2, ID3v1 or APEv2 tag that begins at `at`; 0 for anything else. */
export function mp3TagLength(bytes: Uint8Array, at: number): number {
  const mark = markAt(bytes, at);
  if (mark.startsWith('ID3')) return id3TagLength(bytes, at) ?? 0;
  if (mark.startsWith('TAG')) return ID3V1_BYTES;
  if (Buffer.from(bytes.subarray(at, at + 8)).toString('latin1') !== 'APETAGEX') return 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, APE_BYTES);
  const isHeader = (view.getUint32(20, true) & 0x2000_0000) !== 0;
  // The size leaves the header out; a footer that stands alone closes items that were not walked.
  return isHeader ? APE_BYTES + view.getUint32(12, true) : 0;
}

const ID3_BYTES = 10;
const ID3V1_BYTES = 128;
const APE_BYTES = 32;

function markAt(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.subarray(at, at + MARK_BYTES)).toString('latin1');
}
