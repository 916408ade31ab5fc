import type { AudioFormat } from '../../../src/contract/values.ts';
import type { AudioJoiner } from '../../../src/audio/join/joiner.ts';
import { createJoiner } from '../../../src/audio/join/join.ts';
import { OggFiles } from '../../../src/audio/join/ogg.ts';
import { encodeSpeech } from '../../../src/service/engine/encode/encode-speech.ts';
import { createFileHead } from '../../../src/audio/encode/file-head.ts';
import type { SpeechChunk } from '../../../src/service/engine/speech-engine.ts';

const RATE = 16_000;

/** Encodes a part like the service: as a file with its length, or as a stream without. */
export async function partOf(
  format: 'mp3' | 'wav' | 'ogg' | 'opus',
  samples: number,
  kind: 'file' | 'stream',
  wave = tone(samples),
): Promise<Buffer> {
  const head = createFileHead(format === 'opus' ? 'ogg' : format);
  const pieces: Uint8Array[] = [];
  for await (const bytes of encodeSpeech(format, speechOf(wave))) {
    pieces.push(...(kind === 'file' ? head.pass(bytes) : [bytes]));
  }
  const part = Buffer.concat(pieces);
  if (kind === 'file') part.set(head.finish({ samples, sampleRate: RATE }) ?? new Uint8Array(0));
  return part;
}

function tone(samples: number): Float32Array {
  return Float32Array.from(
    { length: samples },
    (_, at) => 0.3 * Math.sin(at / (5 + (samples % 7))) + 0.1,
  );
}

async function* speechOf(samples: Float32Array): AsyncGenerator<SpeechChunk> {
  yield { samples, sampleRate: RATE };
}

interface JoinOptions {
  readonly isSeekable?: boolean;
  readonly chunkBytes?: number;
  /** Milliseconds of silence before each part, and after the last one. */
  readonly silences?: readonly number[];
}

/** Joins parts of any format that has a header, and returns where they begin, in milliseconds. */
export async function joinAs(
  format: 'mp3' | 'wav' | 'ogg',
  parts: readonly Uint8Array[],
  { isSeekable = true, chunkBytes = 4_096, silences = [] }: JoinOptions = {},
): Promise<{ readonly whole: Buffer; readonly starts: readonly number[] }> {
  if (format !== 'ogg') {
    const joiner = createJoiner(format, { isSeekable });
    return { whole: joinWith(joiner, parts, chunkBytes, silences), starts: joiner.starts() };
  }
  const pieces: Uint8Array[] = [];
  const files = new OggFiles({
    bytes: 0,
    write: async (bytes) => void pieces.push(bytes),
    overwrite: async () => {},
  });
  for (const [index, part] of parts.entries()) {
    files.addSilence(silences[index] ?? 0);
    for (let at = 0; at < part.length; at += chunkBytes) {
      const chunk = Buffer.from(part.subarray(at, at + chunkBytes));
      await files.write(chunk);
      chunk.fill(0xaa);
    }
    await files.endPart();
  }
  files.addSilence(silences[parts.length] ?? 0);
  await files.end();
  return { whole: Buffer.concat(pieces), starts: files.starts() };
}

/** Joins parts in chunks of a size, and applies the corrections of a file. */
export function join(
  format: Exclude<AudioFormat, 'ogg'>,
  parts: readonly Uint8Array[],
  { isSeekable = true, chunkBytes = 4_096, silences = [] }: JoinOptions = {},
): Buffer {
  return joinWith(createJoiner(format, { isSeekable }), parts, chunkBytes, silences);
}

/** Joins parts with a given joiner. */
export function joinWith(
  joiner: AudioJoiner,
  parts: readonly Uint8Array[],
  chunkBytes = 4_096,
  silences: readonly number[] = [],
): Buffer {
  const pieces: Uint8Array[] = [];
  for (const [index, part] of parts.entries()) {
    joiner.addSilence(silences[index] ?? 0);
    for (let at = 0; at < part.length; at += chunkBytes) {
      // The caller may overwrite its chunk afterwards.
      const chunk = Buffer.from(part.subarray(at, at + chunkBytes));
      pieces.push(...joiner.write(chunk));
      chunk.fill(0xaa);
    }
    pieces.push(...joiner.endPart());
  }
  joiner.addSilence(silences[parts.length] ?? 0);
  pieces.push(...joiner.end());
  const whole = Buffer.concat(pieces);
  for (const { position, bytes } of joiner.corrections()) whole.set(bytes, position);
  return whole;
}
