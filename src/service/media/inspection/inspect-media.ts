import { open } from 'node:fs/promises';
import type { Input, InputAudioTrack, InputVideoTrack } from 'mediabunny';
import { Check } from 'typebox/schema';
import { filePieces, readFlacLength } from '../../../audio/decode.ts';
import type { OpenFile } from '../../../audio/decode.ts';
import { parseMp3Frame, readMp3InfoTag, mp3TagLength } from '../../../audio/mp3.ts';
import { createVerifier } from '../../../audio/verify.ts';
import { MEDIA_SECONDS_MAX } from '../../../contract/limits.ts';
import { MediaTaskError } from '../child/messages.ts';
import type { MediaTask } from '../child/messages.ts';
import { decodeFlac } from '../lipsync/to-aac.ts';
import { checkBoxes } from './check-boxes.ts';
import type { AudioFacts, InspectedVideo, Inspection } from './inspection.ts';
import { InspectionOrder } from './inspection.ts';
import { readMedia } from './open-media.ts';

/** Codecs of video that an mp4 may hold as they are. */
const VIDEO_CODECS = new Set(['avc', 'hevc', 'vp8', 'vp9', 'av1']);
/** Codecs of sound that an mp4 may hold as they are, or that are decoded here. */
const AUDIO_CODECS = new Set(['aac', 'mp3', 'opus', 'flac', 'vorbis']);
/** Codecs that are decoded here, and only in files of their own. */
const OWN_FORMATS = new Map([
  ['vorbis', 'Ogg'],
  ['flac', 'FLAC'],
]);

/** More pixels than a picture of any video has. */
const LONGEST_SIDE = 8_192;

/**
 * Says what is in a media file, after reading all of the track that is needed (docs/api/errors.md).
 * @throws MediaTaskError `unsupported` for another format or codec, or when the track is missing;
 * `too-large` for one that is too long; `unreadable` for anything that is broken
 */
export const inspectMedia: MediaTask = async (order) => {
  if (!Check(InspectionOrder, order)) throw new TypeError('this is no order of an inspection');
  const { needs, path } = order;
  await checkBoxes(path);
  return readMedia(path, async (input): Promise<Inspection> => {
    if (needs === 'video') return { video: await videoFacts(input), audio: null };
    return { video: null, audio: await audioFacts(input, path) };
  });
};

async function videoFacts(input: Input): Promise<InspectedVideo> {
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw unsupported('has no video in it');
  const codec = await track.getCodec();
  if (codec === null || !VIDEO_CODECS.has(codec))
    throw unsupported('has video of an unknown codec');
  const [width, height] = [await track.getDisplayWidth(), await track.getDisplayHeight()];
  if (!isSide(width) || !isSide(height)) throw tooLarge(`has pictures of ${width} x ${height}`);
  const { bytes, count: pictures, first } = await walkPackets(track);
  const seconds = bounded((await track.computeDuration()) - first);
  return { codec, width, height, seconds, pictures, bytes };
}

async function audioFacts(input: Input, path: string): Promise<AudioFacts> {
  const track = await input.getPrimaryAudioTrack();
  if (track === null) throw unsupported('has no sound in it');
  const codec = await track.getCodec();
  if (codec === null || !isKnownSound(codec)) throw unsupported('has sound of an unknown codec');
  const format = (await input.getFormat()).name;
  const ownFormat = OWN_FORMATS.get(codec);
  if (ownFormat !== undefined && ownFormat !== format) {
    throw unsupported(`has sound of ${codec} in something else than a file of ${ownFormat}`);
  }
  const { first } = await walkPackets(track);
  const { before, behind, unknown } = await encoderPadding(path, format);
  // What comes before zero is what an encoder added, and the file says so.
  const start = Math.max(first, 0) + before;
  if (format === 'Ogg') await requireWholePages(path);
  const told = format === 'FLAC' ? await flacSeconds(path) : undefined;
  const seconds = bounded(told ?? (await track.computeDuration()) - start - behind);
  return { codec, start, seconds, paddingSeconds: unknown };
}

function isKnownSound(codec: string): boolean {
  return AUDIO_CODECS.has(codec) || codec.startsWith('pcm-');
}

function isSide(pixels: number): boolean {
  return Number.isInteger(pixels) && pixels > 0 && pixels <= LONGEST_SIDE;
}

/** Files that are broken may say that they are a year long, or none at all. */
function bounded(seconds: number): number {
  if (!Number.isFinite(seconds) || seconds <= 0) {
    throw new MediaTaskError('unreadable', 'has no length');
  }
  if (seconds > MEDIA_SECONDS_MAX) throw tooLarge(`is longer than ${MEDIA_SECONDS_MAX} s`);
  return seconds;
}

function unsupported(what: string): MediaTaskError {
  return new MediaTaskError('unsupported', what);
}

function tooLarge(what: string): MediaTaskError {
  return new MediaTaskError('too-large', what);
}

/** More than half an hour of anything has. */
const MOST_PACKETS = 1_000_000;

/** What the packets of a track come to. */
export interface PacketFacts {
  /** When the first is shown, in seconds. */
  readonly first: number;
  readonly count: number;
  readonly bytes: number;
}

/**
 * Reads every packet of a track: what is cut or lies outside of its file is found now, and not when
 * something was paid for.
 * @throws MediaTaskError, and whatever a demuxer does
 */
export async function walkPackets(track: InputAudioTrack | InputVideoTrack): Promise<PacketFacts> {
  const { EncodedPacketSink } = await import('mediabunny');
  const description = (await track.getDecoderConfig())?.description;
  const codec = await track.getCodec();
  const lengthBytes = description === undefined ? undefined : unitLengthBytes(codec, description);
  let count = 0;
  let bytes = 0;
  for await (const packet of new EncodedPacketSink(track).packets()) {
    if (count === 0 && packet.type !== 'key') throw broken('does not begin with a whole picture');
    const isEmpty = packet.data.length === 0;
    if (isEmpty || !Number.isFinite(packet.timestamp) || !(packet.duration >= 0)) {
      throw broken('has packets with nothing in them');
    }
    if (lengthBytes !== undefined && !fillsExactly(packet.data, lengthBytes)) {
      throw broken('has pictures that are cut');
    }
    count += 1;
    bytes += packet.data.length;
    if (count > MOST_PACKETS) throw broken('has more packets than any');
  }
  if (count === 0) throw broken('has nothing in it');
  return { first: await track.getFirstTimestamp(), count, bytes };
}

function broken(what: string): MediaTaskError {
  return new MediaTaskError('unreadable', what);
}

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

/** What an encoder added to the sound, in seconds. */
export interface EncoderPadding {
  readonly before: number;
  readonly behind: number;
  /** How much it may have added without a word. */
  readonly unknown: number;
}

const NONE: EncoderPadding = { before: 0, behind: 0, unknown: 0 };
/** Encoders of mp3 and AAC add three frames at most. */
const UNTOLD: EncoderPadding = { ...NONE, unknown: 0.08 };

/** What a decoder of mp3 lags behind by itself, in samples, on top of what the tag tells. */
const DECODER_DELAY = 529;

/** Far enough for the first frame behind a tag that is no picture book. */
const HEAD_BYTES = 4 * 1024 * 1024;

/**
 * What an encoder added before and behind the sound of a file whose format does not say: mp3 files tell it
 * in their first frame, if their encoder was a kind one, and bare AAC does not.
 */
export async function encoderPadding(path: string, format: string): Promise<EncoderPadding> {
  if (format === 'ADTS') return UNTOLD;
  if (format !== 'MP3') return NONE;
  return toldByMp3(await headOf(path)) ?? UNTOLD;
}

function toldByMp3(bytes: Uint8Array): EncoderPadding | undefined {
  let at = 0;
  for (let length = mp3TagLength(bytes, at); length > 0; length = mp3TagLength(bytes, at))
    at += length;
  const frame = parseMp3Frame(bytes, at);
  if (frame === undefined) return undefined;
  const tag = readMp3InfoTag(bytes.subarray(at), frame);
  if (tag === undefined || tag.delay + tag.padding === 0) return undefined;
  return {
    before: (tag.delay + DECODER_DELAY) / frame.sampleRate,
    behind: (tag.padding - DECODER_DELAY) / frame.sampleRate,
    unknown: 0,
  };
}

async function headOf(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

const PIECE_BYTES = 64 * 1024;
/** Less is a rounding. */
const MILLISECOND = 0.001;

/**
 * How long the sound of a FLAC file is. All of it is decoded for that: the demuxer counts whole blocks only, what
 * the file says of itself is true of a part of it too, and a decoder leaves out what is damaged.
 * @returns seconds
 * @throws MediaTaskError when there is less than the file says
 */
export async function flacSeconds(path: string): Promise<number> {
  let heard = 0;
  for await (const { channels, sampleRate, samples } of decodeFlac(path)) {
    heard += samples.length / channels / sampleRate;
  }
  const told = (await within(path, readFlacLength)) ?? heard;
  if (heard > told - MILLISECOND) return told;
  const found = `only ${heard.toFixed(1)} of ${told.toFixed(1)} s can be decoded`;
  throw new MediaTaskError('unreadable', `is damaged or cut: ${found}`);
}

/** @throws MediaTaskError for a page of Ogg that is damaged or not there, which a demuxer passes over */
export async function requireWholePages(path: string): Promise<void> {
  const problem = await within(path, (file) => {
    const verifier = createVerifier('ogg');
    for (const piece of filePieces(file, PIECE_BYTES)) verifier.write(piece);
    // A recording that was stopped has no last page, and is whole all the same.
    return verifier.problem;
  });
  if (problem !== undefined) throw new MediaTaskError('unreadable', problem);
}

async function within<Result>(path: string, read: (file: OpenFile) => Result): Promise<Result> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    return read({ fd: file.fd, size });
  } finally {
    await file.close();
  }
}
