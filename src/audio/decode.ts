import { readSync } from 'node:fs';
import type { Verdict } from './reader.ts';
import { SNIFF_BYTES_MAX, sniff } from './sniff.ts';
import { createVerifier } from './verify.ts';

/** A file of sound that can be decoded, as far as its bytes tell without decoding it. */
export interface RecognisedSound {
  readonly format: 'flac' | 'mp3' | 'ogg' | 'wav';
  /** What is inside of a container. */
  readonly codec?: string | undefined;
  /** Some decoders make two channels of one. */
  readonly channels?: number | undefined;
  /** Where its bytes for the decoder are; the end is that of the file unless it says otherwise. */
  readonly start: number;
  readonly end: number;
  /** How long it says that it is, where it does. */
  readonly seconds: number | undefined;
  open(): Promise<SoundDecoder>;
}

const PIECE_BYTES = 64 * 1024;
/** As many as FLAC has; a few bytes may claim 65,535, and each takes memory. */
const MOST_CHANNELS = 8;
const DECODED = 'wav, mp3, flac, ogg and opus are';

/**
 * Finds out what a file is by what is in it, whatever its name, and whether it is whole.
 * @throws SoundProblem when it is no sound, cut, or of a kind that is not decoded here
 */
export function recogniseSound(file: OpenFile): RecognisedSound {
  const found = sniff(fileHead(file, SNIFF_BYTES_MAX));
  const format = found.kind === 'known' ? found.format : undefined;
  switch (format) {
    case 'wav':
      return recogniseWav(file);
    case 'mp3':
      return { format, ...wholeFile(file, requireWhole(file, 'mp3')), open: createMp3Decoder };
    case 'ogg':
      return recogniseOgg(file);
    case 'flac':
      return { format, ...flacSpan(file), open: createFlacDecoder };
    case 'aac':
    case 'aiff':
    case 'm4a':
    case 'mp4':
    case 'webm': {
      throw new SoundProblem(`holds ${format}, which is not decoded here; ${DECODED}`);
    }
    case 'gif':
    case 'gzip':
    case 'html':
    case 'jpeg':
    case 'json':
    case 'png':
    case 'webp':
    case undefined: {
      const what = format === undefined ? 'holds no sound' : `holds ${format}, which is no sound`;
      throw new SoundProblem(`${what}; ${DECODED} decoded here`);
    }
  }
}

function recogniseWav(file: OpenFile): RecognisedSound {
  const verdict = requireWhole(file, 'wav');
  const samples = findWavSamples(fileHead(file, WAV_HEAD_BYTES));
  if (samples === undefined) {
    const kinds = 'whole numbers of 8 to 32 bits, and floating point ones';
    throw new SoundProblem(`holds wav of a kind that is not decoded here; ${kinds} are`);
  }
  const end = Math.min(samples.end, file.size);
  return {
    format: 'wav',
    start: samples.start,
    end,
    seconds: seconds(verdict),
    open: async () => createWavDecoder(samples),
  };
}

/** Longer lists of what a recording is about are not read. */
const WAV_HEAD_BYTES = 1024 * 1024;

function recogniseOgg(file: OpenFile): RecognisedSound {
  const verdict = requireWhole(file, 'ogg');
  const open = OGG_DECODERS.get(verdict.codec ?? '');
  if (open !== undefined) {
    return { format: 'ogg', codec: verdict.codec, ...wholeFile(file, verdict), open };
  }
  const message = `is ogg without Vorbis, Opus or FLAC in it; ${DECODED} decoded here`;
  throw new SoundProblem(message);
}

const OGG_DECODERS = new Map([
  ['vorbis', createVorbisDecoder],
  ['opus', createOpusDecoder],
  ['flac', createFlacDecoder],
]);

/** @throws SoundProblem when something of it is missing */
function requireWhole(file: OpenFile, format: 'wav' | 'mp3' | 'ogg'): Verdict {
  const verifier = createVerifier(format);
  for (const piece of filePieces(file, PIECE_BYTES)) verifier.write(piece);
  const verdict = verifier.end();
  const { channels = 1, problem } = verdict;
  if (problem !== undefined) throw new SoundProblem(problem);
  if (channels > MOST_CHANNELS) {
    throw new SoundProblem(`has ${channels} channels; at most ${MOST_CHANNELS} are decoded`);
  }
  return verdict;
}

type Span = Pick<RecognisedSound, 'channels' | 'end' | 'seconds' | 'start'>;

function flacSpan(file: OpenFile): Span {
  return { start: 0, end: file.size, seconds: readFlacLength(file) };
}

function wholeFile({ size }: OpenFile, verdict: Verdict): Span {
  return { start: 0, end: size, seconds: seconds(verdict), channels: verdict.channels };
}

function seconds({ durationMs }: Verdict): number | undefined {
  return durationMs === undefined ? undefined : durationMs / 1_000;
}

/** Samples of every channel, from -1 to 1, all of one length. */
export interface DecodedSound {
  readonly channels: readonly Float32Array[];
  readonly sampleRate: number;
}

/** Decodes a file that comes in pieces. */
export interface SoundDecoder {
  /**
   * How many bytes it should be given at a time: few where they may hold much sound, as silence does, so
   * that what they become is bounded too.
   */
  readonly pieceBytes: number;
  /** What can be heard after this piece, which may be reused then. */
  decode(piece: Uint8Array): Promise<DecodedSound>;
  /** The rest. */
  finish(): Promise<DecodedSound>;
  /** Gives its memory back. */
  close(): void;
}

/** Nothing to hear. */
export const NO_SOUND: DecodedSound = { channels: [], sampleRate: 0 };

/** A file cannot be used; the message goes on behind its name. */
export class SoundProblem extends Error {
  override readonly name = 'SoundProblem';
}

/** How the samples of a WAV file are written. */
interface WavLayout {
  readonly channels: number;
  readonly sampleRate: number;
  readonly bytesPerSample: number;
  read(view: DataView, offset: number): number;
}

/** Where the samples of a WAV file are. */
export interface WavSamples {
  readonly layout: WavLayout;
  readonly start: number;
  /** The first byte after them, as the header says. */
  readonly end: number;
}

/**
 * Finds the samples of a WAV file that is known to hold together.
 * @param head enough of the file to have its format and the beginning of its samples
 * @returns nothing where that is not there, or the samples are coded in a way that is not known here
 */
export function findWavSamples(head: Uint8Array): WavSamples | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  let layout: WavLayout | undefined;
  for (let at = RIFF_BYTES; at + CHUNK_HEADER_BYTES <= head.length;) {
    const name = Buffer.from(head.subarray(at, at + 4)).toString('latin1');
    const size = view.getUint32(at + 4, true);
    const start = at + CHUNK_HEADER_BYTES;
    if (name === 'fmt ' && start + size <= head.length) layout = layoutOf(view, start, size);
    if (name === 'data') {
      const end = size === 0 || size >= UNKNOWN_FROM ? Infinity : start + size;
      return layout === undefined ? undefined : { layout, start, end };
    }
    at = start + size + (size % 2);
  }
  return undefined;
}

/** Decodes the bytes of the samples. */
export function createWavDecoder({ layout }: WavSamples): SoundDecoder {
  const { channels: count, bytesPerSample, sampleRate } = layout;
  const blockBytes = count * bytesPerSample;
  let rest = Buffer.alloc(0);
  return {
    pieceBytes: PIECE_BYTES,
    async decode(piece): Promise<DecodedSound> {
      const bytes = Buffer.concat([rest, piece]);
      const blocks = Math.floor(bytes.length / blockBytes);
      rest = Buffer.from(bytes.subarray(blocks * blockBytes));
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const channels = Array.from({ length: count }, (_, channel) => {
        // A loop, as a recording has millions of samples and a callback for each takes seconds.
        const samples = new Float32Array(blocks);
        for (let block = 0; block < blocks; block += 1) {
          samples[block] = layout.read(view, block * blockBytes + channel * bytesPerSample);
        }
        return samples;
      });
      return { channels, sampleRate };
    },
    finish: async () => NO_SOUND,
    close: () => undefined,
  };
}

const RIFF_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
/** From here on a length is what writers put down when they cannot know it. */
const UNKNOWN_FROM = 0x7fff_0000;

const INTEGERS = 1;
const FLOATS = 3;
const EXTENSIBLE = 0xfffe;
/** Where the true format is behind an extensible one. */
const SUBFORMAT_OFFSET = 24;

function layoutOf(view: DataView, at: number, size: number): WavLayout | undefined {
  const tag = view.getUint16(at, true);
  const isExtensible = tag === EXTENSIBLE && size >= SUBFORMAT_OFFSET + 2;
  const kind = isExtensible ? view.getUint16(at + SUBFORMAT_OFFSET, true) : tag;
  const channels = view.getUint16(at + 2, true);
  const sampleRate = view.getUint32(at + 4, true);
  const bytesPerSample = view.getUint16(at + 14, true) / 8;
  const read = READERS.get(`${kind}:${bytesPerSample}`);
  if (read === undefined || channels === 0 || sampleRate === 0) return undefined;
  if (view.getUint16(at + 12, true) !== channels * bytesPerSample) return undefined;
  return { channels, sampleRate, bytesPerSample, read };
}

/** By kind and bytes of a sample. */
const READERS = new Map<string, WavLayout['read']>([
  [`${INTEGERS}:1`, (view, offset) => (view.getUint8(offset) - 128) / 128],
  [`${INTEGERS}:2`, (view, offset) => view.getInt16(offset, true) / 0x8000],
  [
    `${INTEGERS}:3`,
    (view, offset) =>
      (view.getInt8(offset + 2) * 0x1_0000 + view.getUint16(offset, true)) / 0x80_0000,
  ],
  [`${INTEGERS}:4`, (view, offset) => view.getInt32(offset, true) / 0x8000_0000],
  [`${FLOATS}:4`, (view, offset) => view.getFloat32(offset, true)],
  [`${FLOATS}:8`, (view, offset) => view.getFloat64(offset, true)],
]);

/** What the WebAssembly decoders give. */
interface Decoded {
  readonly channelData: readonly Float32Array[];
  readonly sampleRate: number;
}

/** mp3 makes at most 60 times as many bytes of samples. */
const MP3_PIECE_BYTES = 16 * 1024;
/** Silence may be coded in a few bytes for a tenth of a second and more. */
const PACKED_PIECE_BYTES = 1024;

/** Decodes MPEG audio, layers 1 to 3. */
export async function createMp3Decoder(): Promise<SoundDecoder> {
  const { MPEGDecoder } = await import('mpg123-decoder');
  const decoder = new MPEGDecoder();
  await decoder.ready;
  return {
    pieceBytes: MP3_PIECE_BYTES,
    decode: async (piece) => soundOf(decoder.decode(piece)),
    finish: async () => NO_SOUND,
    close: () => decoder.free(),
  };
}

/** Decodes Vorbis in Ogg. */
export async function createVorbisDecoder(): Promise<SoundDecoder> {
  const { OggVorbisDecoder } = await import('@wasm-audio-decoders/ogg-vorbis');
  const decoder = new OggVorbisDecoder();
  await decoder.ready;
  return {
    pieceBytes: PACKED_PIECE_BYTES,
    decode: async (piece) => soundOf(await decoder.decode(piece)),
    finish: async () => soundOf(await decoder.flush()),
    close: () => decoder.free(),
  };
}

/** Decodes Opus in Ogg. */
export async function createOpusDecoder(): Promise<SoundDecoder> {
  const { OggOpusDecoder } = await import('ogg-opus-decoder');
  const decoder = new OggOpusDecoder({ forceStereo: true });
  await decoder.ready;
  return {
    pieceBytes: PACKED_PIECE_BYTES,
    decode: async (piece) => soundOf(await Promise.resolve(decoder.decode(piece))),
    finish: async () => soundOf(await decoder.flush()),
    close: () => decoder.free(),
  };
}

/**
 * To be given to the decoder of FLAC behind the last byte: a last frame of a few bytes, which is silence, is
 * taken for the beginning of one otherwise, and left out.
 */
export const FLAC_TAIL: Uint8Array = new Uint8Array(64);

/** Decodes FLAC, by itself or in Ogg. */
export async function createFlacDecoder(): Promise<SoundDecoder> {
  const { FLACDecoder } = await import('@wasm-audio-decoders/flac');
  const decoder = new FLACDecoder();
  await decoder.ready;
  return {
    pieceBytes: PACKED_PIECE_BYTES,
    decode: async (piece) => soundOf(await decoder.decode(piece)),
    async finish() {
      const rest = soundOf(await decoder.decode(FLAC_TAIL));
      return joined(rest, soundOf(await decoder.flush()));
    },
    close: () => decoder.free(),
  };
}

/** One after the other; either may be nothing. */
function joined(one: DecodedSound, other: DecodedSound): DecodedSound {
  if (lengthOf(one) === 0) return other;
  if (lengthOf(other) === 0) return one;
  const channels = one.channels.map((samples, channel) => {
    const whole = new Float32Array(lengthOf(one) + lengthOf(other));
    whole.set(samples);
    whole.set(other.channels[channel] ?? [], samples.length);
    return whole;
  });
  return { channels, sampleRate: one.sampleRate };
}

function lengthOf({ channels: [first] }: DecodedSound): number {
  return first?.length ?? 0;
}

function soundOf({ channelData, sampleRate }: Decoded): DecodedSound {
  return { channels: channelData, sampleRate };
}

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

/** A file as a thread that listens to it gets it: open already, and without a name. */
export interface OpenFile {
  readonly fd: number;
  readonly size: number;
}

/** The file piece by piece, in a buffer that the next piece is read into too. */
export function* filePieces(
  { fd, size }: OpenFile,
  pieceBytes: number,
  start = 0,
): Generator<Uint8Array, undefined> {
  const buffer = new Uint8Array(pieceBytes);
  for (let position = start; position < size;) {
    const bytes = readSync(fd, buffer, 0, Math.min(pieceBytes, size - position), position);
    if (bytes === 0) return;
    position += bytes;
    yield buffer.subarray(0, bytes);
  }
}

/** The first bytes of a file, as many as there are. */
export function fileHead(file: OpenFile, bytes: number): Uint8Array {
  const [head = new Uint8Array(0)] = filePieces(file, bytes);
  return head;
}
