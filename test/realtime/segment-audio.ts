import { createHash } from 'node:crypto';

/** How much audio a segment is. */
export interface AudioShape {
  readonly framesPerSegment: number;
  /** The least length of an `audio` frame of the protocol. */
  readonly frameBytes: number;
}

export interface SpokenText {
  /** The place of the segment in its request, from 1. */
  readonly ordinal: number;
  readonly text: string;
  readonly format: string;
}

export const DEFAULT_SHAPE: AudioShape = { framesPerSegment: 3, frameBytes: 800 };

/** What the audio of the formats pcm and wav is. */
export const PCM = { sampleRate: 24_000, channels: 1, bitDepth: 16 } as const;

/** Bytes of a frame of MPEG 1 layer III, 128 kbit/s, 44.1 kHz, mono: its head, silence, and room. */
const MP3_FRAME = 417;
const MP3_HEAD = Buffer.of(0xff, 0xfb, 0x90, 0xc0);
const MP3_SILENCE = 17;

/**
 * The audio frames of a segment: always the same bytes for the same text at the same place, and no two
 * frames of a request alike, so that a test can tell what was heard, what twice and what not at all.
 * `mp3` is frames that decode to silence with the mark in their unused room; `wav` has a head before
 * the first frame of a request, and lengths that say a stream; `pcm` is samples. `opus` is the mark
 * only: nothing decodes it.
 */
export function segmentFrames(spoken: SpokenText, shape: AudioShape = DEFAULT_SHAPE): Buffer[] {
  return Array.from({ length: shape.framesPerSegment }, (_, index) =>
    frameOf(spoken, index, shape.frameBytes),
  );
}

/** The whole audio of a request with these texts as its segments. */
export function spokenAudio(
  texts: readonly string[],
  format = 'mp3',
  shape: AudioShape = DEFAULT_SHAPE,
): Buffer {
  return Buffer.concat(
    texts.flatMap((text, index) => segmentFrames({ ordinal: index + 1, text, format }, shape)),
  );
}

function frameOf({ ordinal, text, format }: SpokenText, index: number, length: number): Buffer {
  const mark = createHash('sha256').update(`${ordinal}:${index}:${text}`).digest('hex');
  if (format === 'mp3') {
    return mp3Frames(mark, Math.ceil(length / MP3_FRAME));
  }
  const samples = Buffer.alloc(length + (length % 2), mark);
  const isFirst = ordinal === 1 && index === 0;
  return format === 'wav' && isFirst ? Buffer.concat([wavHead(), samples]) : samples;
}

function mp3Frames(mark: string, count: number): Buffer {
  const room = Buffer.alloc(MP3_FRAME - MP3_HEAD.byteLength - MP3_SILENCE, mark);
  const frame = Buffer.concat([MP3_HEAD, Buffer.alloc(MP3_SILENCE), room]);
  return Buffer.concat(Array.from({ length: count }, () => frame));
}

function wavHead(): Buffer {
  const { sampleRate, channels, bitDepth } = PCM;
  const head = Buffer.alloc(44);
  const frameBytes = (channels * bitDepth) / 8;
  head.write('RIFF', 0);
  head.writeUInt32LE(0xffffffff, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(sampleRate * frameBytes, 28);
  head.writeUInt16LE(frameBytes, 32);
  head.writeUInt16LE(bitDepth, 34);
  head.write('data', 36);
  head.writeUInt32LE(0xffffffff, 40);
  return head;
}
