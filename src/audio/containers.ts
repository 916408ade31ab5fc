import { readSync } from 'node:fs';
import type { EncodedPacket, Input, InputAudioTrack } from 'mediabunny';
import { adtsWriter, decodeAac } from './aac.ts';
import { checkBoxes } from './mp4-boxes.ts';
import { decodeOgg } from './ogg-links.ts';
import { mpegChannels } from './program-stream.ts';
import type { DecodedSound, OpenFile } from './sound.ts';
import { decodeAll, fileHead, UnusableAudioError } from './sound.ts';
import { createFlacDecoder, createMp3Decoder } from './wasm-decoders.ts';

/** The audio track of a container file: MP4, WebM (or Matroska), or AAC with ADTS headers. */
export interface ContainedSound {
  readonly codec: string;
  readonly channels: number;
  /** Duration in seconds, if the file states it. */
  readonly seconds: number | undefined;
  decode(): AsyncIterable<DecodedSound>;
}

/**
 * Finds the audio track of a container file. For a file with several tracks, this is the one that players choose.
 * @throws UnusableAudioError for a damaged file, a file without audio, or a codec that cannot be decoded
 */
export async function detectContained(file: OpenFile): Promise<ContainedSound> {
  checkBoxes(file);
  requireWholeSegment(file);
  return withTrack(file, async (track) => {
    const codec = await track.getCodec();
    if (codec === null || !(isPcm(codec) || codec in DECODERS)) {
      const name = codec ?? (await track.getInternalCodecId());
      const what = typeof name === 'string' ? `${name} audio` : 'audio of an unknown codec';
      throw new UnusableAudioError(`has ${what}, which cannot be decoded; ${SUPPORTED}`);
    }
    return {
      codec,
      channels: await channelsOf(track),
      seconds: await statedSeconds(track),
      decode: () => decodeContained(file),
    };
  });
}

// MP4 may state two channels for mono mp3.
async function channelsOf(track: InputAudioTrack): Promise<number> {
  const stated = await track.getNumberOfChannels();
  if ((await track.getCodec()) !== 'mp3') return stated;
  const { EncodedPacketSink } = await import('mediabunny');
  const first = await new EncodedPacketSink(track).getFirstPacket();
  return (first === null ? undefined : mpegChannels(first.data)) ?? stated;
}

// WebM states the duration of the longest track only.
async function statedSeconds(track: InputAudioTrack): Promise<number | undefined> {
  const { name } = await track.input.getFormat();
  const seconds =
    name === 'MP4' || name === 'QuickTime File Format'
      ? await track.getDurationFromMetadata()
      : null;
  return seconds ?? undefined;
}

const SUPPORTED = 'use AAC, Opus, Vorbis, mp3, FLAC or PCM';

async function* decodeContained(file: OpenFile): AsyncGenerator<DecodedSound> {
  const input = await openInput(file);
  try {
    const track = await audioTrack(input);
    const codec = (await track.getCodec()) ?? '';
    if (isPcm(codec)) yield* decodePcm(track);
    else yield* trimmed(DECODERS[codec]?.(track) ?? [], track);
  } catch (error) {
    throw unusable(error);
  } finally {
    input.dispose();
  }
}

async function withTrack<Result>(
  file: OpenFile,
  use: (track: InputAudioTrack) => Promise<Result>,
): Promise<Result> {
  const input = await openInput(file);
  try {
    return await use(await audioTrack(input));
  } catch (error) {
    throw unusable(error);
  } finally {
    input.dispose();
  }
}

const SILENT = 0;

async function openInput({ fd, size }: OpenFile): Promise<Input> {
  const { ADTS, CustomSource, Input, Logging, MATROSKA, MP4, QTFF, WEBM } =
    await import('mediabunny');
  Logging.level = SILENT;
  const read = (start: number, end: number): Uint8Array => {
    const bytes = new Uint8Array(end - start);
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, start));
  };
  const source = new CustomSource({ getSize: () => size, read });
  return new Input({ source, formats: [MP4, QTFF, WEBM, MATROSKA, ADTS] });
}

async function audioTrack(input: Input): Promise<InputAudioTrack> {
  const track = await input.getPrimaryAudioTrack();
  if (track === null) throw new UnusableAudioError('has no sound');
  return track;
}

// Whatever the demuxer throws is a fault of the file.
function unusable(error: unknown): UnusableAudioError {
  if (error instanceof UnusableAudioError) return error;
  return new UnusableAudioError('is damaged or cut', { cause: error });
}

function isPcm(codec: string): boolean {
  return codec.startsWith('pcm-') || codec === 'ulaw' || codec === 'alaw';
}

const DECODERS: Readonly<Record<string, (track: InputAudioTrack) => AsyncIterable<DecodedSound>>> =
  {
    aac: async function* (track) {
      const config = await configOf(track);
      // Without a configuration, the packets have ADTS headers already.
      const toFrame = config === undefined ? undefined : adtsWriter(config);
      yield* decodeAac(
        (async function* () {
          for await (const { data } of packets(track)) yield toFrame?.(data) ?? data;
        })(),
      );
    },
    opus: (track) => decodeOgg(toOgg(track, 'opus')),
    vorbis: (track) => decodeOgg(toOgg(track, 'vorbis')),
    mp3: (track) => decodeAll(packetBytes(track), createMp3Decoder),
    flac: (track) => decodeAll(packetBytes(track), createFlacDecoder),
  };

async function* packets(track: InputAudioTrack): AsyncGenerator<EncodedPacket> {
  const { EncodedPacketSink } = await import('mediabunny');
  yield* new EncodedPacketSink(track).packets();
}

// In FLAC, the configuration is the header of a FLAC file.
async function* packetBytes(track: InputAudioTrack): AsyncGenerator<Uint8Array> {
  const header = await configOf(track);
  if (header !== undefined) yield header;
  for await (const { data } of packets(track)) yield data;
}

async function configOf(track: InputAudioTrack): Promise<Uint8Array | undefined> {
  const description = (await track.getDecoderConfig())?.description;
  if (description === undefined) return undefined;
  return ArrayBuffer.isView(description)
    ? new Uint8Array(description.buffer, description.byteOffset, description.byteLength)
    : new Uint8Array(description);
}

// The decoders for Opus and Vorbis read Ogg files only.
async function* toOgg(
  track: InputAudioTrack,
  codec: 'opus' | 'vorbis',
): AsyncGenerator<Uint8Array> {
  const { EncodedAudioPacketSource, OggOutputFormat, Output, StreamTarget } =
    await import('mediabunny');
  const written: Uint8Array[] = [];
  const target = new StreamTarget(
    new WritableStream({ write: ({ data }) => void written.push(data.slice()) }),
  );
  const output = new Output({ format: new OggOutputFormat(), target });
  const source = new EncodedAudioPacketSource(codec);
  output.addAudioTrack(source);
  await output.start();
  const decoderConfig = (await track.getDecoderConfig()) ?? undefined;
  for await (const packet of packets(track)) {
    await source.add(packet, decoderConfig === undefined ? undefined : { decoderConfig });
    yield* written.splice(0);
  }
  await output.finalize();
  yield* written.splice(0);
}

async function* decodePcm(track: InputAudioTrack): AsyncGenerator<DecodedSound> {
  const { AudioSampleSink } = await import('mediabunny');
  for await (const sample of new AudioSampleSink(track).samples()) {
    const channels = Array.from({ length: sample.numberOfChannels }, (_, planeIndex) => {
      const plane = new Float32Array(sample.numberOfFrames);
      sample.copyTo(plane, { format: 'f32-planar', planeIndex });
      return plane;
    });
    const { sampleRate } = sample;
    sample.close();
    yield { channels, sampleRate };
  }
}

/**
 * Drops the samples that the file excludes from its timeline: those before time zero, which an encoder adds, and those
 * after the end.
 */
async function* trimmed(
  sounds: AsyncIterable<DecodedSound> | Iterable<DecodedSound>,
  track: InputAudioTrack,
): AsyncGenerator<DecodedSound> {
  // Opus and Vorbis state this in their own headers.
  const isOgg = ['opus', 'vorbis'].includes((await track.getCodec()) ?? '');
  const start = isOgg ? 0 : await track.getFirstTimestamp();
  const seconds = isOgg ? undefined : await statedSeconds(track);
  let position = 0;
  for await (const sound of sounds) {
    const length = sound.channels[0]?.length ?? 0;
    const first = Math.round(Math.max(0, -start) * sound.sampleRate) - position;
    const end = Math.round(((seconds ?? Infinity) - start) * sound.sampleRate) - position;
    position += length;
    const [from, to] = [Math.max(0, first), Math.min(length, end)];
    if (from >= to) continue;
    yield { ...sound, channels: sound.channels.map((samples) => samples.subarray(from, to)) };
  }
}

// The first two elements of a WebM or Matroska file (RFC 9559), with their ids.
const EBML = 0x1a45_dfa3;
const SEGMENT = 0x1853_8067;
// Reaches the size of the segment. Real headers have less than 100 bytes.
const SEGMENT_HEAD_BYTES = 4_096;
const ID_BYTES = 4;

/**
 * Checks that a WebM or Matroska file is as long as its segment states. Files in other formats, and recordings that a
 * program streamed without a length, are not checked.
 * @throws UnusableAudioError for a file that is cut
 */
function requireWholeSegment(file: OpenFile): void {
  const head = Buffer.from(fileHead(file, SEGMENT_HEAD_BYTES));
  const header = readElement(head, 0);
  if (header?.id !== EBML) return;
  const segment = readElement(head, header.end);
  if (segment?.id !== SEGMENT || segment.end <= file.size) return;
  throw new UnusableAudioError(`is cut: it has ${file.size} of ${segment.end} bytes`);
}

// Returns undefined where no element with a known size begins.
function readElement(
  head: Buffer,
  at: number,
): { readonly id: number; readonly end: number } | undefined {
  const sizeAt = at + ID_BYTES;
  const first = head[sizeAt] ?? 0;
  // The number of leading zero bits is the number of bytes that follow.
  const length = Math.clz32(first) - 23;
  if (first === 0 || sizeAt + length > head.length) return undefined;
  let size = first & (0xff >> length);
  let isUnknown = size === 0xff >> length;
  for (const byte of head.subarray(sizeAt + 1, sizeAt + length)) {
    size = size * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return isUnknown ? undefined : { id: head.readUInt32BE(at), end: sizeAt + length + size };
}
