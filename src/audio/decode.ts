import { SNIFF_BYTES_MAX, sniff } from './sniff.ts';
import type { ContainedSound } from './containers.ts';
import { decodeOgg, isDecodableOgg } from './ogg-links.ts';
import { isMpegStream, mpegAudio, mpegChannels } from './program-stream.ts';
import type { AudioVerdict } from './reader.ts';
import type { DecodedSound, OpenFile } from './sound.ts';
import { decodeAll, fileHead, filePieces, UnusableAudioError } from './sound.ts';
import { createVerifier } from './verify.ts';
import { createFlacDecoder, createMp3Decoder, readFlacLength } from './wasm-decoders.ts';
import { createWavDecoder, findWavSamples } from './wav-samples.ts';

export interface SoundFormat {
  readonly format: 'aac' | 'flac' | 'm4a' | 'mp3' | 'mp4' | 'mpeg' | 'ogg' | 'wav' | 'webm';
  /** The codec, if the format can contain several. */
  readonly codec?: string | undefined;
}

/** The properties of a decodable audio file, as its headers state them. */
export interface DetectedSound extends SoundFormat {
  /** Duration in seconds; undefined if the headers do not state it. */
  readonly seconds: number | undefined;
  /**
   * Yields the decoded samples, piece by piece. Lets other tasks run between two pieces.
   * @throws UnusableAudioError for an incomplete or undecodable file
   * @throws the signal's abort reason
   */
  decode(signal: AbortSignal): AsyncIterable<DecodedSound>;
}

const PIECE_BYTES = 64 * 1024;
// As in FLAC. A header may claim up to 65,535 channels, and each one needs memory.
const MOST_CHANNELS = 8;
const SUPPORTED = 'use wav, mp3, flac, ogg, opus, m4a, mp4, aac, webm or mpeg';

/**
 * Detects the format of an audio file from its bytes, and checks that the file is complete. Also reads the sound of
 * video files.
 * @throws UnusableAudioError for a file that is not audio, is incomplete or cannot be decoded
 * @throws the signal's abort reason
 */
export async function detectSound(file: OpenFile, signal: AbortSignal): Promise<DetectedSound> {
  const head = fileHead(file, SNIFF_BYTES_MAX);
  if (isMpegStream(head)) return recogniseMpeg(file);
  const found = sniff(head);
  const format = found.kind === 'known' ? found.format : undefined;
  if (format === 'wav') return recogniseWav(file, signal);
  if (format === 'ogg') return recogniseOgg(file, signal);
  if (format === 'mp3') {
    const verdict = await requireWhole(file, format, signal);
    const decode = (): AsyncIterable<DecodedSound> =>
      decodeAll(filePieces(file, PIECE_BYTES), createMp3Decoder);
    return soundOf(format, decode, secondsOf(verdict), verdict.channels);
  }
  if (format === 'flac') {
    const decode = (): AsyncIterable<DecodedSound> =>
      decodeAll(filePieces(file, PIECE_BYTES), createFlacDecoder);
    return soundOf(format, decode, readFlacLength(file));
  }
  if (format === 'aac' || format === 'm4a' || format === 'mp4' || format === 'webm') {
    return recogniseContainer(file, format);
  }
  const what = format === undefined ? 'not an audio file' : `${format}, which cannot be decoded`;
  throw new UnusableAudioError(`is ${what}; ${SUPPORTED}`);
}

async function recogniseContainer(
  file: OpenFile,
  format: 'aac' | 'm4a' | 'mp4' | 'webm',
): Promise<DetectedSound> {
  const { detectContained } = await import('./containers.ts');
  const sound = await detectContained(file);
  const { channels, codec, seconds } = sound;
  requireFewChannels(channels);
  // The mp3 decoder returns two channels for mono.
  const declared = codec === 'mp3' ? channels : undefined;
  const ownCodec = format === 'aac' ? undefined : codec;
  return { ...soundOf(format, () => sound.decode(), seconds, declared), codec: ownCodec };
}

async function recogniseWav(file: OpenFile, signal: AbortSignal): Promise<DetectedSound> {
  const verdict = await requireWhole(file, 'wav', signal);
  const samples = findWavSamples(fileHead(file, WAV_HEAD_BYTES));
  if (samples === undefined) {
    const kinds = 'integers of 8 to 32 bits, floating point, A-law or mu-law';
    throw new UnusableAudioError(`is wav with unsupported samples; use ${kinds}`);
  }
  const { layout, start } = samples;
  const size = Math.min(samples.end, file.size);
  const decode = (): AsyncIterable<DecodedSound> =>
    decodeAll(filePieces({ fd: file.fd, size }, PIECE_BYTES, start), async () =>
      createWavDecoder(layout),
    );
  return soundOf('wav', decode, secondsOf(verdict));
}

const WAV_HEAD_BYTES = 1024 * 1024;

async function recogniseOgg(file: OpenFile, signal: AbortSignal): Promise<DetectedSound> {
  const verdict = await requireWhole(file, 'ogg', signal);
  const { codec } = verdict;
  if (!isDecodableOgg(codec)) {
    throw new UnusableAudioError('is ogg with an unsupported codec; use Vorbis, Opus or FLAC');
  }
  const decode = (): AsyncIterable<DecodedSound> => decodeOgg(filePieces(file, PIECE_BYTES));
  return { ...soundOf('ogg', decode, secondsOf(verdict)), codec };
}

function recogniseMpeg(file: OpenFile): DetectedSound {
  const decode = (): AsyncIterable<DecodedSound> => decodeAll(mpegAudio(file), createMp3Decoder);
  const [beginning] = mpegAudio(file);
  return soundOf('mpeg', decode, undefined, mpegChannels(beginning ?? fileHead(file, 0)));
}

async function requireWhole(
  file: OpenFile,
  format: 'wav' | 'mp3' | 'ogg',
  signal: AbortSignal,
): Promise<AudioVerdict> {
  const verifier = createVerifier(format);
  let bytes = 0;
  for (const piece of filePieces(file, PIECE_BYTES)) {
    verifier.write(piece);
    bytes += piece.length;
    if (bytes % BYTES_PER_TURN < PIECE_BYTES) await nextTurn(signal);
  }
  const verdict = verifier.end();
  if (verdict.problem !== undefined) throw new UnusableAudioError(verdict.problem);
  requireFewChannels(verdict.channels ?? 1);
  return verdict;
}

// Other tasks of the event loop run after this many verified bytes or decoded samples.
const BYTES_PER_TURN = 4 * 1024 * 1024;
const SAMPLES_PER_TURN = 500_000;

async function nextTurn(signal: AbortSignal): Promise<void> {
  await new Promise(setImmediate);
  signal.throwIfAborted();
}

function requireFewChannels(channels: number): void {
  if (channels <= MOST_CHANNELS) return;
  throw new UnusableAudioError(`has ${channels} channels; at most ${MOST_CHANNELS} are supported`);
}

// The decoder may return more channels than the headers declare.
function soundOf(
  format: DetectedSound['format'],
  decodePieces: ContainedSound['decode'],
  seconds: number | undefined,
  declaredChannels?: number,
): DetectedSound {
  return {
    format,
    seconds,
    async *decode(signal) {
      let samples = 0;
      for await (const sound of decodePieces()) {
        const channels = sound.channels.slice(0, declaredChannels);
        yield { ...sound, channels };
        samples += (channels[0]?.length ?? 0) * channels.length;
        if (samples < SAMPLES_PER_TURN) continue;
        samples = 0;
        await nextTurn(signal);
      }
    },
  };
}

function secondsOf({ durationMs }: AudioVerdict): number | undefined {
  return durationMs === undefined ? undefined : durationMs / 1_000;
}
