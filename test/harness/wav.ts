/**
 * Reads a WAV file of 16-bit PCM, strictly: every length in it must be true. An independent second
 * writing of the format, so that a mistake in the program's own is seen.
 */
export function readWav(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  demand(tag(view, 0) === 'RIFF' && tag(view, 8) === 'WAVE', 'it does not begin with RIFF…WAVE');
  demand(view.getUint32(4, true) === bytes.byteLength - 8, 'the RIFF length is not the file’s');
  const chunks = chunksOf(view);
  const format = chunks.get('fmt ');
  const data = chunks.get('data');
  if (format === undefined || data === undefined) {
    throw new Error('Not a readable WAV: a chunk is missing.');
  }
  demand(format.getUint16(0, true) === 1, 'it is not PCM');
  demand(format.getUint16(14, true) === 16, 'it is not 16-bit');
  const count = format.getUint16(2, true);
  const sampleRate = format.getUint32(4, true);
  demand(count === 1 || count === 2, 'it has neither one nor two channels');
  demand(format.getUint16(12, true) === count * 2, 'its block size is wrong');
  demand(format.getUint32(8, true) === sampleRate * count * 2, 'its byte rate is wrong');
  demand(data.byteLength % (count * 2) === 0, 'it ends inside a sample');
  return { sampleRate, channels: split(data, count) };
}

/** Writes one channel of samples from -1 to 1 as a 16-bit PCM WAV file. */
export function writeWav(samples: Float32Array, sampleRate: number): Buffer {
  const head = wavHead(samples.length * 2, { sampleRate });
  const bytes = Buffer.concat([head, Buffer.alloc(samples.length * 2)]);
  samples.forEach((sample, index) =>
    bytes.writeInt16LE(Math.round(sample * 32_767), head.length + index * 2),
  );
  return bytes;
}

/** Returns the 44 bytes before PCM data of a length. */
export function wavHead(
  dataBytes: number,
  { bits = 16, channels = 1, sampleRate }: WavFormat,
): Buffer {
  const head = Buffer.alloc(44);
  const frameBytes = (channels * bits) / 8;
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + dataBytes, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(sampleRate * frameBytes, 28);
  head.writeUInt16LE(frameBytes, 32);
  head.writeUInt16LE(bits, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(dataBytes, 40);
  return head;
}

interface WavFormat {
  readonly sampleRate: number;
  readonly channels?: number;
  readonly bits?: number;
}

function chunksOf(view: DataView): Map<string, DataView> {
  const chunks = new Map<string, DataView>();
  let offset = 12;
  while (offset < view.byteLength) {
    demand(offset + 8 <= view.byteLength, 'a chunk header is cut');
    const size = view.getUint32(offset + 4, true);
    demand(offset + 8 + size <= view.byteLength, `chunk ${tag(view, offset)} is cut`);
    chunks.set(tag(view, offset), new DataView(view.buffer, view.byteOffset + offset + 8, size));
    offset += 8 + size + (size % 2);
  }
  return chunks;
}

function split(data: DataView, count: number): Float32Array[] {
  const frames = data.byteLength / (count * 2);
  return Array.from({ length: count }, (_, channel) =>
    Float32Array.from(
      { length: frames },
      (__, frame) => data.getInt16((frame * count + channel) * 2, true) / 32_768,
    ),
  );
}

function tag(view: DataView, offset: number): string {
  demand(offset + 4 <= view.byteLength, 'it is too short');
  return Buffer.from(view.buffer, view.byteOffset + offset, 4).toString('latin1');
}

function demand(condition: boolean, problem: string): void {
  if (!condition) {
    throw new Error(`Not a readable WAV: ${problem}.`);
  }
}
