import { readSync } from 'node:fs';
import { tagAt, type Verdict } from './reader.ts';
import { SNIFF_BYTES_MAX, sniff } from './sniff.ts';
import { createVerifier } from './verify.ts';
import { CHUNK_HEAD_BYTES, RIFF_BYTES, isUnknownWavLength } from './wav.ts';

/** The properties of a decodable audio file, as its headers state them. */
export interface DetectedSound {
  readonly format: 'flac' | 'mp3' | 'ogg' | 'wav';
  /** The codec, if the file is an Ogg container. */
  readonly codec?: string | undefined;
  /** Number of channels, if the headers state it. For a mono file, a decoder may return two channels. */
  readonly channels?: number | undefined;
  /** The range of bytes to decode: from `start` up to but not including `end`. */
  readonly start: number;
  readonly end: number;
  /** Duration in seconds; undefined if the headers do not state it. */
  readonly seconds: number | undefined;
  open(): Promise<SoundDecoder>;
}

const PIECE_BYTES = 64 * 1024;
// As in FLAC. A header may claim up to 65,535 channels, and each one needs memory.
const MOST_CHANNELS = 8;
const SUPPORTED = 'use wav, mp3, flac, ogg or opus';

/**
 * Detects the format of an audio file from its bytes, and checks that the file is complete.
 * @throws UnusableAudioError for a file that is not audio, is incomplete or cannot be decoded
 */
export function detectSound(file: OpenFile): DetectedSound {
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
    const what = format === undefined ? 'not an audio file' : `${format}, which cannot be decoded`;
    throw new UnusableAudioError(`is ${what}; ${SUPPORTED}`);
  }
  const verdict = requireWhole(file, 'ogg');
  const { codec = '' } = verdict;
  const open = OGG_DECODERS.get(codec);
  if (open !== undefined) return { format, codec, ...wholeFile(file, verdict), open };
  throw new UnusableAudioError('is ogg with an unsupported codec; use Vorbis, Opus or FLAC');
}

function recogniseWav(file: OpenFile): DetectedSound {
  const verdict = requireWhole(file, 'wav');
  const samples = findWavSamples(fileHead(file, WAV_HEAD_BYTES));
  if (samples === undefined) {
    const kinds = 'integers of 8 to 32 bits or floating point';
    throw new UnusableAudioError(`is wav with unsupported samples; use ${kinds}`);
  }
  return {
    format: 'wav',
    start: samples.start,
    end: Math.min(samples.end, file.size),
    seconds: secondsOf(verdict),
    open: async () => createWavDecoder(samples.layout),
  };
}

const WAV_HEAD_BYTES = 1024 * 1024;

function requireWhole(file: OpenFile, format: 'wav' | 'mp3' | 'ogg'): Verdict {
  const verifier = createVerifier(format);
  for (const piece of filePieces(file, PIECE_BYTES)) verifier.write(piece);
  const verdict = verifier.end();
  const { channels = 1, problem } = verdict;
  if (problem !== undefined) throw new UnusableAudioError(problem);
  if (channels > MOST_CHANNELS) {
    throw new UnusableAudioError(
      `has ${channels} channels; at most ${MOST_CHANNELS} are supported`,
    );
  }
  return verdict;
}

function wholeFile({ size }: OpenFile, verdict: Verdict) {
  return { start: 0, end: size, seconds: secondsOf(verdict), channels: verdict.channels };
}

function secondsOf({ durationMs }: Verdict): number | undefined {
  return durationMs === undefined ? undefined : durationMs / 1_000;
}

/** The decoded samples of each channel, from -1 to 1. All channels have the same number of samples. */
export interface DecodedSound {
  readonly channels: readonly Float32Array[];
  readonly sampleRate: number;
  /** True if the decoder reported errors and skipped damaged parts of the file. */
  readonly isDamaged?: boolean;
}

/** A decoder that receives an audio file in pieces. */
export interface SoundDecoder {
  /** Maximum size of a piece in bytes. It limits the memory for the decoded samples. */
  readonly pieceBytes: number;
  /** Decodes the next piece of the file. Returns the samples that are ready. The caller may then reuse `piece`. */
  decode(piece: Uint8Array): Promise<DecodedSound>;
  finish(): Promise<DecodedSound>;
  close(): void;
}

const NO_SOUND: DecodedSound = { channels: [], sampleRate: 0 };

/**
 * Thrown for a file that cannot be used. The message begins with a verb, such as "is not audio", so that callers can
 * put the file name before it.
 */
export class UnusableAudioError extends Error {
  override readonly name = 'UnusableAudioError';
}

interface WavLayout {
  readonly channels: number;
  readonly sampleRate: number;
  readonly bytesPerSample: number;
  read(view: DataView, offset: number): number;
}

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
        // A plain loop, because calling a function for every sample would take seconds.
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

// Decoded MP3 samples need at most 60 times as much memory as the piece.
const MP3_PIECE_BYTES = 16 * 1024;
// In the other formats, a few bytes can contain a second of silence.
const PACKED_PIECE_BYTES = 1024;

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

async function createMp3Decoder(): Promise<SoundDecoder> {
  const { MPEGDecoder } = await import('mpg123-decoder');
  return wrapDecoder(new MPEGDecoder(), MP3_PIECE_BYTES);
}

/** Creates a decoder for Vorbis audio in an Ogg file. */
export async function createVorbisDecoder(): Promise<SoundDecoder> {
  const { OggVorbisDecoder } = await import('@wasm-audio-decoders/ogg-vorbis');
  return wrapDecoder(new OggVorbisDecoder(), PACKED_PIECE_BYTES);
}

async function createOpusDecoder(): Promise<SoundDecoder> {
  const { OggOpusDecoder } = await import('ogg-opus-decoder');
  return wrapDecoder(new OggOpusDecoder({ forceStereo: true }), PACKED_PIECE_BYTES);
}

// Added after a FLAC file; without these zeros, the decoder drops a short last frame.
const FLAC_TAIL = new Uint8Array(64);

/** Creates a decoder for FLAC audio, in a FLAC or an Ogg file. */
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

const FLAC_HEAD_BYTES = 42;
const RATE_OFFSET = 18;

/** Returns the duration of a FLAC file in seconds; undefined if the file header does not state it. */
export function readFlacLength(file: OpenFile): number | undefined {
  const head = fileHead(file, FLAC_HEAD_BYTES);
  if (head.length < FLAC_HEAD_BYTES || tagAt(head, 0) !== 'fLaC') return undefined;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  // The fields are: 20 bits of sample rate, 3 of channels, 5 of sample size, 36 of sample count.
  const sampleRate = view.getUint32(RATE_OFFSET) >>> 12;
  const samples =
    (view.getUint8(RATE_OFFSET + 3) & 0x0f) * 2 ** 32 + view.getUint32(RATE_OFFSET + 4);
  return sampleRate === 0 || samples === 0 ? undefined : samples / sampleRate;
}

/** An open file, in a form that can be sent to a worker thread. */
export interface OpenFile {
  readonly fd: number;
  readonly size: number;
}

/** Yields the content of a file in pieces. The pieces share one buffer, so a piece is valid only until the next one. */
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

/** Returns the first `bytes` bytes of a file, or the whole file if it is shorter. */
export function fileHead(file: OpenFile, bytes: number): Uint8Array {
  const [head = new Uint8Array(0)] = filePieces(file, bytes);
  return head;
}

// Other tasks of the event loop run after this many decoded bytes.
const BYTES_PER_TURN = 1024 * 1024;

/**
 * Yields the decoded samples of an audio file, piece by piece. Lets other tasks run between two pieces.
 * @throws UnusableAudioError for an incomplete or undecodable file
 * @throws the signal's abort reason
 */
export async function* decodePieces(
  file: OpenFile,
  sound: DetectedSound,
  signal: AbortSignal,
): AsyncGenerator<DecodedSound, undefined> {
  const decoder = await sound.open();
  let bytes = 0;
  try {
    const pieces = filePieces({ fd: file.fd, size: sound.end }, decoder.pieceBytes, sound.start);
    for (const piece of pieces) {
      yield await decoder.decode(piece);
      bytes += piece.length;
      if (bytes < BYTES_PER_TURN) continue;
      bytes = 0;
      await new Promise(setImmediate);
      signal.throwIfAborted();
    }
    yield await decoder.finish();
  } finally {
    decoder.close();
  }
}
