import { readSync } from 'node:fs';
import { tagAt, type Verdict } from './reader.ts';
import { SNIFF_BYTES_MAX, sniff } from './sniff.ts';
import { createVerifier } from './verify.ts';
import { CHUNK_HEAD_BYTES, RIFF_BYTES, isUnknownWavLength } from './wav.ts';

/** An audio file that can be decoded, described without decoding it. */
export interface RecognisedSound {
  readonly format: 'flac' | 'mp3' | 'ogg' | 'wav';
  /** Codec inside a container. */
  readonly codec?: string | undefined;
  /** Undefined where only decoding shows it; some decoders make two channels of one. */
  readonly channels?: number | undefined;
  /** The range of bytes to decode. */
  readonly start: number;
  readonly end: number;
  /** Duration by its header, if that has one. */
  readonly seconds: number | undefined;
  open(): Promise<SoundDecoder>;
}

const PIECE_BYTES = 64 * 1024;
/** The most that FLAC allows; a few bytes may claim 65,535, and each takes memory. */
const MOST_CHANNELS = 8;
const SUPPORTED = 'supported are wav, mp3, flac, ogg and opus';

/**
 * Detects what a file is from its bytes, whatever its name, and verifies that it is whole.
 * @throws SoundProblem when it is no audio, is cut, or is of a kind that cannot be decoded
 */
export function recogniseSound(file: OpenFile): RecognisedSound {
  const found = sniff(fileHead(file, SNIFF_BYTES_MAX));
  const format = found.kind === 'known' ? found.format : undefined;
  if (format === 'wav') return recogniseWav(file);
  if (format === 'mp3') {
    return { format, ...wholeFile(file, requireWhole(file, 'mp3')), open: createMp3Decoder };
  }
  if (format === 'flac') {
    const seconds = readFlacLength(file);
    return { format, start: 0, end: file.size, seconds, open: createFlacDecoder };
  }
  if (format !== 'ogg') {
    const what = format === undefined ? 'no sound' : `${format}, which cannot be decoded`;
    throw new SoundProblem(`holds ${what}; ${SUPPORTED}`);
  }
  const verdict = requireWhole(file, 'ogg');
  const { codec = '' } = verdict;
  const open = OGG_DECODERS.get(codec);
  if (open !== undefined) return { format, codec, ...wholeFile(file, verdict), open };
  throw new SoundProblem(`is ogg without Vorbis, Opus or FLAC in it; ${SUPPORTED}`);
}

function recogniseWav(file: OpenFile): RecognisedSound {
  const verdict = requireWhole(file, 'wav');
  const samples = findWavSamples(fileHead(file, WAV_HEAD_BYTES));
  if (samples === undefined) {
    const kinds = 'integers of 8 to 32 bits, and floating point';
    throw new SoundProblem(`is wav with an unsupported kind of samples; supported are ${kinds}`);
  }
  return {
    format: 'wav',
    start: samples.start,
    end: Math.min(samples.end, file.size),
    seconds: secondsOf(verdict),
    open: async () => createWavDecoder(samples.layout),
  };
}

/** Searched for the samples; longer metadata is not read. */
const WAV_HEAD_BYTES = 1024 * 1024;

/** @throws SoundProblem when the file is incomplete */
function requireWhole(file: OpenFile, format: 'wav' | 'mp3' | 'ogg'): Verdict {
  const verifier = createVerifier(format);
  for (const piece of filePieces(file, PIECE_BYTES)) verifier.write(piece);
  const verdict = verifier.end();
  const { channels = 1, problem } = verdict;
  if (problem !== undefined) throw new SoundProblem(problem);
  if (channels > MOST_CHANNELS) {
    throw new SoundProblem(`has ${channels} channels; at most ${MOST_CHANNELS} are supported`);
  }
  return verdict;
}

function wholeFile({ size }: OpenFile, verdict: Verdict) {
  return { start: 0, end: size, seconds: secondsOf(verdict), channels: verdict.channels };
}

function secondsOf({ durationMs }: Verdict): number | undefined {
  return durationMs === undefined ? undefined : durationMs / 1_000;
}

/** Samples of every channel, from -1 to 1, all of one length. */
export interface DecodedSound {
  readonly channels: readonly Float32Array[];
  readonly sampleRate: number;
  /** Whether the decoder reported errors; it left out the damaged parts. */
  readonly isDamaged?: boolean;
}

/** Decodes a file that comes in pieces. */
export interface SoundDecoder {
  /** How many bytes to decode at a time: few where they may hold much sound, to bound memory. */
  readonly pieceBytes: number;
  /** Returns the samples that this piece completes; the caller may reuse it then. */
  decode(piece: Uint8Array): Promise<DecodedSound>;
  /** Returns the remaining samples. */
  finish(): Promise<DecodedSound>;
  /** Frees its memory. */
  close(): void;
}

const NO_SOUND: DecodedSound = { channels: [], sampleRate: 0 };

/** An unusable file; the message completes a sentence that begins with the name of the file. */
export class SoundProblem extends Error {
  override readonly name = 'SoundProblem';
}

/** How the samples of a WAV file are coded. */
interface WavLayout {
  readonly channels: number;
  readonly sampleRate: number;
  readonly bytesPerSample: number;
  read(view: DataView, offset: number): number;
}

/**
 * Finds the samples of a verified WAV file in its first bytes; undefined when they are further on, or in a coding
 * that cannot be decoded. The end is by the header.
 */
function findWavSamples(
  head: Uint8Array,
): { readonly layout: WavLayout; readonly start: number; readonly end: number } | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  let layout: WavLayout | undefined;
  for (let at = RIFF_BYTES; at + CHUNK_HEAD_BYTES <= head.length;) {
    const name = tagAt(head, at);
    const size = view.getUint32(at + 4, true);
    const start = at + CHUNK_HEAD_BYTES;
    if (name === 'fmt ' && start + size <= head.length) layout = layoutOf(view, start, size);
    if (name === 'data') {
      const end = isUnknownWavLength(size) ? Infinity : start + size;
      return layout === undefined ? undefined : { layout, start, end };
    }
    at = start + size + (size % 2);
  }
  return undefined;
}

function createWavDecoder(layout: WavLayout): SoundDecoder {
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
        // A callback for each of millions of samples would take seconds.
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

const INTEGERS = 1;
const FLOATS = 3;
const EXTENSIBLE = 0xfffe;
/** Offset of the true format in an extensible one. */
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

/** By kind and size of a sample. */
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

/** An mp3 decodes to at most 60 times as many bytes. */
const MP3_PIECE_BYTES = 16 * 1024;
/** Silence may take a few bytes for a tenth of a second and more. */
const PACKED_PIECE_BYTES = 1024;

/** What the WebAssembly decoders have in common. */
interface WasmDecoder {
  readonly ready: Promise<unknown>;
  decode(piece: Uint8Array): WasmSound | Promise<WasmSound>;
  flush?(): Promise<WasmSound>;
  free(): void;
}

interface WasmSound {
  readonly channelData: readonly Float32Array[];
  readonly errors: readonly unknown[];
  readonly sampleRate: number;
}

async function wrapDecoder(decoder: WasmDecoder, pieceBytes: number): Promise<SoundDecoder> {
  await decoder.ready;
  return {
    pieceBytes,
    decode: async (piece) => soundOf(await decoder.decode(piece)),
    finish: async () => (decoder.flush === undefined ? NO_SOUND : soundOf(await decoder.flush())),
    close: () => decoder.free(),
  };
}

function soundOf({ channelData, errors, sampleRate }: WasmSound): DecodedSound {
  return { channels: channelData, sampleRate, isDamaged: errors.length > 0 };
}

/** Creates a decoder of MPEG audio, layers 1 to 3. */
async function createMp3Decoder(): Promise<SoundDecoder> {
  const { MPEGDecoder } = await import('mpg123-decoder');
  return wrapDecoder(new MPEGDecoder(), MP3_PIECE_BYTES);
}

/** Creates a decoder of Ogg Vorbis. */
export async function createVorbisDecoder(): Promise<SoundDecoder> {
  const { OggVorbisDecoder } = await import('@wasm-audio-decoders/ogg-vorbis');
  return wrapDecoder(new OggVorbisDecoder(), PACKED_PIECE_BYTES);
}

async function createOpusDecoder(): Promise<SoundDecoder> {
  const { OggOpusDecoder } = await import('ogg-opus-decoder');
  return wrapDecoder(new OggOpusDecoder({ forceStereo: true }), PACKED_PIECE_BYTES);
}

/** Zeros for the FLAC decoder after the last byte: it drops a short last frame, such as silence, without them. */
const FLAC_TAIL = new Uint8Array(64);

/** Creates a decoder of FLAC, by itself or in Ogg. */
export async function createFlacDecoder(): Promise<SoundDecoder> {
  const { FLACDecoder } = await import('@wasm-audio-decoders/flac');
  const decoder = await wrapDecoder(new FLACDecoder(), PACKED_PIECE_BYTES);
  return {
    ...decoder,
    async finish() {
      const rest = await decoder.decode(FLAC_TAIL);
      return concatenate(rest, await decoder.finish());
    },
  };
}

const OGG_DECODERS = new Map([
  ['vorbis', createVorbisDecoder],
  ['opus', createOpusDecoder],
  ['flac', createFlacDecoder],
]);

/** Either may be {@link NO_SOUND}. */
function concatenate(one: DecodedSound, other: DecodedSound): DecodedSound {
  const length = one.channels[0]?.length ?? 0;
  const otherLength = other.channels[0]?.length ?? 0;
  const isDamaged = one.isDamaged === true || other.isDamaged === true;
  if (length === 0) return { ...other, isDamaged };
  if (otherLength === 0) return { ...one, isDamaged };
  const channels = one.channels.map((samples, channel) => {
    const whole = new Float32Array(length + otherLength);
    whole.set(samples);
    whole.set(other.channels[channel] ?? [], length);
    return whole;
  });
  return { channels, sampleRate: one.sampleRate, isDamaged };
}

/** Up to the end of STREAMINFO, which is the first block. */
const FLAC_HEAD_BYTES = 42;
const RATE_OFFSET = 18;

/** Reads the duration in seconds from the header of a FLAC file; undefined if it has none. */
export function readFlacLength(file: OpenFile): number | undefined {
  const head = fileHead(file, FLAC_HEAD_BYTES);
  if (head.length < FLAC_HEAD_BYTES || tagAt(head, 0) !== 'fLaC') return undefined;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  // 20 bits of rate, 3 of channels, 5 of depth, 36 of samples.
  const sampleRate = view.getUint32(RATE_OFFSET) >>> 12;
  const samples =
    (view.getUint8(RATE_OFFSET + 3) & 0x0f) * 2 ** 32 + view.getUint32(RATE_OFFSET + 4);
  return sampleRate === 0 || samples === 0 ? undefined : samples / sampleRate;
}

/** An open file, which can be passed to a decoding thread. */
export interface OpenFile {
  readonly fd: number;
  readonly size: number;
}

/** Reads a file piece by piece, each into the same buffer. */
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

/** Reads the first bytes of a file; fewer if it is shorter. */
export function fileHead(file: OpenFile, bytes: number): Uint8Array {
  const [head = new Uint8Array(0)] = filePieces(file, bytes);
  return head;
}
