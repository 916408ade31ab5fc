import { fileHead } from './file-pieces.ts';
import type { OpenFile } from './file-pieces.ts';

/** Up to the end of the first block, which says how the sound is. */
const HEAD_BYTES = 42;
const RATE_OFFSET = 18;

/** How many seconds a FLAC file says that it has; `undefined` where it does not. */
export function readFlacLength(file: OpenFile): number | undefined {
  const head = fileHead(file, HEAD_BYTES);
  const isWhole = head.length === HEAD_BYTES;
  if (!isWhole || Buffer.from(head.subarray(0, 4)).toString('latin1') !== 'fLaC') return undefined;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  // 20 bits of rate, 3 of channels, 5 of depth, 36 of samples.
  const sampleRate = view.getUint32(RATE_OFFSET) >>> 12;
  const samples =
    (view.getUint8(RATE_OFFSET + 3) & 0x0f) * 2 ** 32 + view.getUint32(RATE_OFFSET + 4);
  return sampleRate === 0 || samples === 0 ? undefined : samples / sampleRate;
}
