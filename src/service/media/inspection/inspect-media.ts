import type { Input, InputAudioTrack, InputVideoTrack } from 'mediabunny';
import { parseMp3Frame, readMp3InfoTag, mp3TagLength } from '../../../audio/mp3.ts';
import { checkBoxes } from '../../../audio/mp4-boxes.ts';
import { fileHead, filePieces, UnusableAudioError } from '../../../audio/sound.ts';
import { createVerifier } from '../../../audio/verify.ts';
import { readFlacLength } from '../../../audio/wasm-decoders.ts';
import { MEDIA_SECONDS_MAX } from '../../../contract/limits.ts';
import { MediaTaskError, requireTaskParameters } from '../child/messages.ts';
import type { MediaTask } from '../child/messages.ts';
import { decodeFlac } from '../lipsync/to-aac.ts';
import type { AudioMetadata, InspectedVideo, Inspection } from './inspection.ts';
import { InspectionOrder } from './inspection.ts';
import { readFileWith, readMedia } from './open-media.ts';

// The codecs that an mp4 result can contain.
const VIDEO_CODECS = new Set(['avc', 'hevc', 'vp8', 'vp9', 'av1']);
// `isKnownSound` also accepts every PCM codec.
const AUDIO_CODECS = new Set(['aac', 'mp3', 'opus', 'flac', 'vorbis']);
// Codecs that are supported in one container format only.
const OWN_FORMATS = new Map([
  ['vorbis', 'Ogg'],
  ['flac', 'FLAC'],
]);

const MAX_SIDE_PIXELS = 8_192;

/**
 * Inspects a media file and reads every packet of the requested track, so that damaged files are found.
 * @throws MediaTaskError `unsupported` for an unsupported format, an unsupported codec or a missing track; `too-large`
 * for too many seconds or pixels; `unreadable` for a damaged file
 */
export const inspectMedia: MediaTask = async (order) => {
  const { needs, path } = requireTaskParameters(InspectionOrder, order);
  await readFileWith(path, checkBoxes).catch((error: unknown) => {
    if (!(error instanceof UnusableAudioError)) throw error;
    throw new MediaTaskError('unreadable', error.message, error);
  });
  return readMedia(path, async (input): Promise<Inspection> => {
    if (needs === 'video') return { video: await readVideoMetadata(input), audio: null };
    return { video: null, audio: await readAudioMetadata(input, path) };
  });
};

async function readVideoMetadata(input: Input): Promise<InspectedVideo> {
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw unsupported('has no video track');
  const codec = await track.getCodec();
  if (codec === null || !VIDEO_CODECS.has(codec))
    throw unsupported('has an unsupported video codec');
  const [width, height] = [await track.getDisplayWidth(), await track.getDisplayHeight()];
  if (!isSide(width) || !isSide(height))
    throw tooLarge(`has ${width}x${height} pixels; allowed: ${MAX_SIDE_PIXELS}x${MAX_SIDE_PIXELS}`);
  const { bytes, count: pictures, first } = await walkPackets(track);
  const seconds = requireDuration((await track.computeDuration()) - first);
  return { codec, width, height, seconds, pictures, bytes };
}

async function readAudioMetadata(input: Input, path: string): Promise<AudioMetadata> {
  const track = await input.getPrimaryAudioTrack();
  if (track === null) throw unsupported('has no audio track');
  const codec = await track.getCodec();
  if (codec === null || !isKnownSound(codec)) throw unsupported('has an unsupported audio codec');
  const format = (await input.getFormat()).name;
  const ownFormat = OWN_FORMATS.get(codec);
  if (ownFormat !== undefined && ownFormat !== format) {
    throw unsupported(`has ${codec} audio, which is supported in ${ownFormat} files only`);
  }
  const { first } = await walkPackets(track);
  const { before, after, unknown } = await encoderPadding(path, format);
  // Packets before time zero are the encoder's delay.
  const start = Math.max(first, 0) + before;
  if (format === 'Ogg') await requireWholePages(path);
  const stated = format === 'FLAC' ? await flacSeconds(path) : undefined;
  const seconds = requireDuration(stated ?? (await track.computeDuration()) - start - after);
  return { codec, start, seconds, paddingSeconds: unknown };
}

function isKnownSound(codec: string): boolean {
  return AUDIO_CODECS.has(codec) || codec.startsWith('pcm-');
}

function isSide(pixels: number): boolean {
  return Number.isInteger(pixels) && pixels > 0 && pixels <= MAX_SIDE_PIXELS;
}

// A damaged file can claim to last a year, or state no duration.
function requireDuration(seconds: number): number {
  if (!Number.isFinite(seconds) || seconds <= 0) throw broken('has no duration');
  if (seconds > MEDIA_SECONDS_MAX) throw tooLarge(`is longer than ${MEDIA_SECONDS_MAX} s`);
  return seconds;
}

function unsupported(what: string): MediaTaskError {
  return new MediaTaskError('unsupported', what);
}

function tooLarge(what: string): MediaTaskError {
  return new MediaTaskError('too-large', what);
}

// Half an hour of any media has fewer packets.
const MOST_PACKETS = 1_000_000;

interface PacketTotals {
  readonly first: number;
  readonly count: number;
  readonly bytes: number;
}

// Every packet is read, so that a truncated file fails before anything is charged.
async function walkPackets(track: InputAudioTrack | InputVideoTrack): Promise<PacketTotals> {
  const { EncodedPacketSink } = await import('mediabunny');
  const description = (await track.getDecoderConfig())?.description;
  const codec = await track.getCodec();
  const lengthBytes = description === undefined ? undefined : unitLengthBytes(codec, description);
  let count = 0;
  let bytes = 0;
  for await (const packet of new EncodedPacketSink(track).packets()) {
    if (count === 0 && packet.type !== 'key') throw broken('does not begin with a key frame');
    const isEmpty = packet.data.length === 0;
    if (isEmpty || !Number.isFinite(packet.timestamp) || !(packet.duration >= 0)) {
      throw broken('has empty packets');
    }
    if (lengthBytes !== undefined && !fillsExactly(packet.data, lengthBytes)) {
      throw broken('has truncated pictures');
    }
    count += 1;
    bytes += packet.data.length;
    if (count > MOST_PACKETS) throw broken('has too many packets');
  }
  if (count === 0) throw broken('has no packets');
  return { first: await track.getFirstTimestamp(), count, bytes };
}

function broken(what: string): MediaTaskError {
  return new MediaTaskError('unreadable', what);
}

// From the decoder record of H.264 and HEVC (ISO/IEC 14496-15); undefined for other codecs.
function unitLengthBytes(
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

// A packet consists of units, each after a field with its length.
function fillsExactly(packet: Uint8Array, lengthBytes: number): boolean {
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

interface EncoderPadding {
  readonly before: number;
  readonly after: number;
  readonly unknown: number;
}

const NONE: EncoderPadding = { before: 0, after: 0, unknown: 0 };
// For mp3 and AAC files that declare no padding; encoders add at most three frames of silence.
const UNSTATED: EncoderPadding = { ...NONE, unknown: 0.08 };

// Added to the delay in an Info tag, which does not include the decoder's delay.
const DECODER_DELAY_SAMPLES = 529;

// Reaches the first mp3 frame after the tags, unless a tag contains a large picture.
const HEAD_BYTES = 4 * 1024 * 1024;

// Many mp3 files declare the padding in the first frame; ADTS files never do.
async function encoderPadding(path: string, format: string): Promise<EncoderPadding> {
  if (format === 'ADTS') return UNSTATED;
  if (format !== 'MP3') return NONE;
  const head = await readFileWith(path, (file) => fileHead(file, HEAD_BYTES));
  return paddingOfMp3(head) ?? UNSTATED;
}

function paddingOfMp3(bytes: Uint8Array): EncoderPadding | undefined {
  let at = 0;
  for (let length = mp3TagLength(bytes, at); length > 0; length = mp3TagLength(bytes, at))
    at += length;
  const frame = parseMp3Frame(bytes, at);
  if (frame === undefined) return undefined;
  const tag = readMp3InfoTag(bytes.subarray(at), frame);
  if (tag === undefined || tag.delay + tag.padding === 0) return undefined;
  return {
    before: (tag.delay + DECODER_DELAY_SAMPLES) / frame.sampleRate,
    after: (tag.padding - DECODER_DELAY_SAMPLES) / frame.sampleRate,
    unknown: 0,
  };
}

const PIECE_BYTES = 64 * 1024;
// In seconds; a smaller difference of two durations is a rounding error.
const MILLISECOND = 0.001;

// Decodes the complete file: the demuxer counts complete blocks only, the header of a truncated file states the
// original length, and a decoder skips damaged frames.
async function flacSeconds(path: string): Promise<number> {
  let decoded = 0;
  for await (const { channels, sampleRate, samples } of decodeFlac(path)) {
    decoded += samples.length / channels / sampleRate;
  }
  const stated = (await readFileWith(path, readFlacLength)) ?? decoded;
  if (decoded > stated - MILLISECOND) return stated;
  const found = `only ${decoded.toFixed(1)} of ${stated.toFixed(1)} s can be decoded`;
  throw broken(`is damaged or cut: ${found}`);
}

// The demuxer would skip a damaged or missing page.
async function requireWholePages(path: string): Promise<void> {
  const problem = await readFileWith(path, (file) => {
    const verifier = createVerifier('ogg');
    for (const piece of filePieces(file, PIECE_BYTES)) verifier.write(piece);
    // A missing last page is allowed: a stopped recording has none.
    return verifier.problem;
  });
  if (problem !== undefined) throw broken(problem);
}
