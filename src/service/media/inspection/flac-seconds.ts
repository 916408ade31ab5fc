import { open } from 'node:fs/promises';

/** The mark, a head of four bytes, and as much of STREAMINFO as tells of the samples. */
const HEAD_BYTES = 26;

/**
 * How long a FLAC file says that it is, by its first block (RFC 9639, section 8.2): the demuxer counts
 * whole blocks only. `undefined` where it does not say.
 */
export async function flacSeconds(path: string): Promise<number | undefined> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    if (bytesRead < HEAD_BYTES || buffer.toString('latin1', 0, 4) !== 'fLaC') return undefined;
    const sampleRate = buffer.readUIntBE(18, 3) >> 4;
    const samples = ((buffer[21] ?? 0) & 0xf) * 2 ** 32 + buffer.readUInt32BE(22);
    return sampleRate === 0 || samples === 0 ? undefined : samples / sampleRate;
  } finally {
    await file.close();
  }
}
