import { tagAt } from '../../src/audio/reader.ts';
import {
  CHUNK_HEAD_BYTES,
  isUnknownWavLength,
  LARGEST_WAV_LENGTH,
  lengthField,
  RIFF_BYTES,
} from '../../src/audio/wav.ts';
import { openWavEncoding, requireStreamable } from '../../src/audio/encode/encoded-output.ts';
import type { FileFormat } from '../../src/contract/values.ts';
import type { AudioOutputStream } from '../../src/paid/deliver.ts';
import type { Io, StdoutFile } from '../../src/cli/io.ts';

/**
 * Returns a stream that writes audio to stdout. A WAV file gets its lengths in the header at the end, if stdout is a
 * file. In a pipe, an unknown length is 0xFFFFFFFF.
 * @param encoding format in which the audio, which is WAV, is written; undefined for the same format
 * @throws Failure of kind `usage` for a format that a stream cannot have
 */
export function stdoutAudio(io: Io, encoding?: FileFormat): AudioOutputStream {
  return encoding === undefined ? unchangedAudio(io) : encodedAudio(io, encoding);
}

function encodedAudio(io: Io, format: FileFormat): AudioOutputStream {
  requireStreamable(format, '--output is stdout');
  let bytes = 0;
  let sampleRate = 0;
  const encoding = openWavEncoding(format, {
    get bytes() {
      return bytes;
    },
    async write(chunk) {
      bytes += chunk.length;
      await io.writeOut(chunk);
    },
    async overwrite() {},
  });
  return {
    write: (chunk) => encoding.write(new Uint8Array(chunk)),
    async end() {
      sampleRate = await encoding.end();
    },
    encoded: () => ({ bytes, encoded: { format, sampleRate, checksum: undefined } }),
  };
}

function unchangedAudio(io: Io): AudioOutputStream {
  let fields: readonly LengthField[] | undefined;
  let file: StdoutFile | undefined;
  let bytes = 0;
  return {
    async write(chunk) {
      const isFirst = fields === undefined;
      fields ??= unknownLengths(chunk);
      if (isFirst && fields.length > 0) file = io.stdoutFile();
      bytes += chunk.length;
      await io.writeOut(isFirst ? withUnknownLengths(chunk, fields) : chunk);
    },
    async end() {
      for (const { position, start } of fields ?? []) {
        if (bytes <= LARGEST_WAV_LENGTH) file?.overwrite(position, lengthField(bytes - start));
      }
    },
  };
}

interface LengthField {
  readonly position: number;
  /** The length counts the bytes of the file from here. */
  readonly start: number;
}

function unknownLengths(head: Uint8Array): readonly LengthField[] {
  if (head.length < RIFF_BYTES || tagAt(head, 0) !== 'RIFF' || tagAt(head, 8) !== 'WAVE') return [];
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  for (let at = RIFF_BYTES; at + CHUNK_HEAD_BYTES <= head.length;) {
    const size = view.getUint32(at + 4, true);
    if (tagAt(head, at) !== 'data') {
      at += CHUNK_HEAD_BYTES + size + (size % 2);
      continue;
    }
    return isUnknownWavLength(size)
      ? [
          { position: 4, start: CHUNK_HEAD_BYTES },
          { position: at + 4, start: at + CHUNK_HEAD_BYTES },
        ]
      : [];
  }
  return [];
}

function withUnknownLengths(head: Uint8Array, fields: readonly LengthField[]): Uint8Array {
  const bytes = new Uint8Array(head);
  for (const { position } of fields) bytes.set(lengthField(LARGEST_WAV_LENGTH), position);
  return bytes;
}
