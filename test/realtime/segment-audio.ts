import { createHash } from 'node:crypto';
import { wavHead } from '../harness/wav.ts';

/** The amount of audio of a segment. */
export interface AudioShape {
  readonly framesPerSegment: number;
  /** The shortest `audio` frame of the protocol. */
  readonly frameBytes: number;
}

export interface SpokenText {
  /** The position of the segment in its request, from 1. */
  readonly ordinal: number;
  readonly text: string;
  readonly format: string;
}

export const DEFAULT_SHAPE: AudioShape = { framesPerSegment: 3, frameBytes: 800 };

/** The layout of pcm and wav audio. */
export const PCM = { sampleRate: 24_000, channels: 1, bitDepth: 16 } as const;

/** Bytes of an MPEG 1 layer III frame at 128 kbit/s, 44.1 kHz, mono: header, silence and unused space. */
const MP3_FRAME = 417;
const MP3_HEAD = Buffer.of(0xff, 0xfb, 0x90, 0xc0);
const MP3_SILENCE = 17;

/**
 * Returns the audio frames of a segment: a function of text and position, and every frame of a request differs, so that a
 * test detects missing and repeated frames. `mp3` frames decode to silence, with a mark in their unused space; `wav` has a
 * header with unknown lengths before the first frame; `pcm` is samples; `opus` is only the mark, and is never decoded.
 */
export function segmentFrames(spoken: SpokenText, shape: AudioShape = DEFAULT_SHAPE): Buffer[] {
  return Array.from({ length: shape.framesPerSegment }, (_, index) =>
    frameOf(spoken, index, shape.frameBytes),
  );
}

/** Returns the audio of a request with these texts as segments. */
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
  return format === 'wav' && isFirst ? Buffer.concat([endlessWavHead(), samples]) : samples;
}

function mp3Frames(mark: string, count: number): Buffer {
  const room = Buffer.alloc(MP3_FRAME - MP3_HEAD.byteLength - MP3_SILENCE, mark);
  const frame = Buffer.concat([MP3_HEAD, Buffer.alloc(MP3_SILENCE), room]);
  return Buffer.concat(Array.from({ length: count }, () => frame));
}

function endlessWavHead(): Buffer {
  const { sampleRate, channels, bitDepth: bits } = PCM;
  const head = wavHead(0, { sampleRate, channels, bits });
  head.writeUInt32LE(0xffffffff, 4);
  head.writeUInt32LE(0xffffffff, 40);
  return head;
}
