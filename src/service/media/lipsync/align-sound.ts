import { rm, stat } from 'node:fs/promises';
import type {
  Input,
  EncodedPacket,
  EncodedVideoPacketSource,
  InputVideoTrack,
  EncodedAudioPacketSource,
  InputAudioTrack,
} from 'mediabunny';
import { Check } from 'typebox/schema';
import type { MediaTask } from '../child/messages.ts';
import { wholeFile } from '../child/messages.ts';
import type { AudioFacts } from '../inspection/inspection.ts';
import { readMedia } from '../inspection/open-media.ts';
import type { Aligned } from './align-order.ts';
import { AlignOrder } from './align-order.ts';
import { toAac } from './to-aac.ts';

/** Audio codecs that are copied, unless the tempo changes. */
const COPIED = new Set(['aac', 'mp3', 'opus']);

/**
 * Lip sync as this service does it: the pictures stay as they are, and the sound is replaced by another
 * that begins with them. Both end together. What comes out is an mp4.
 * @throws MediaTaskError when a source has become unreadable
 */
export const alignSound: MediaTask = async (given, { progress }): Promise<Aligned> => {
  if (!Check(AlignOrder, given)) throw new TypeError('this is no order of a lip sync');
  const encoded = `${given.output}.m4a`;
  try {
    const order = needsEncoding(given) ? { ...given, ...(await toAac(given, encoded)) } : given;
    await wholeFile(order.output, () =>
      readMedia(order.video, (video) =>
        readMedia(order.audio, (audio) => join({ video, audio }, order, progress)),
      ),
    );
    const { size: bytes } = await stat(order.output);
    return { audioCodec: order.audioFacts.codec, bytes };
  } finally {
    await rm(encoded, { force: true });
  }
};

function needsEncoding({ audioFacts, tempo }: AlignOrder): boolean {
  return tempo !== 1 || !COPIED.has(audioFacts.codec);
}

interface Sources {
  readonly video: Input;
  readonly audio: Input;
}

async function tracksOf(sources: Sources) {
  const videoTrack = await sources.video.getPrimaryVideoTrack();
  const audioTrack = await sources.audio.getPrimaryAudioTrack();
  const videoCodec = await videoTrack?.getCodec();
  const audioCodec = await audioTrack?.getCodec();
  if (!videoTrack || !audioTrack || !videoCodec || !audioCodec) {
    throw new TypeError('a source is not what it was');
  }
  return { audioCodec, audioTrack, videoCodec, videoTrack };
}

async function join(
  sources: Sources,
  { audioFacts, output, seconds }: AlignOrder,
  progress: (fraction: number) => void,
): Promise<void> {
  const {
    EncodedAudioPacketSource,
    EncodedVideoPacketSource,
    FilePathTarget,
    Mp4OutputFormat,
    Output,
  } = await import('mediabunny');
  const { audioCodec, audioTrack, videoCodec, videoTrack } = await tracksOf(sources);
  const placed = await placeVideo(videoTrack, seconds);
  const video = new EncodedVideoPacketSource(videoCodec);
  const audio = new EncodedAudioPacketSource(audioCodec);
  // The index goes behind the media: nothing has to be held in memory or written twice.
  const file = new Output({
    format: new Mp4OutputFormat({ fastStart: false }),
    target: new FilePathTarget(output),
  });
  file.addVideoTrack(video, { rotation: await videoTrack.getRotation() });
  file.addAudioTrack(audio);
  file.setMetadataTags({ comment: SANDBOX_COMMENT });
  let copied = 0;
  const onPacket = (): void => progress((copied += 1) / placed.places.length);
  try {
    await file.start();
    // Each waits for the other: neither may get far ahead.
    await Promise.all([
      copyVideo(placed, video, onPacket),
      copyAudio({ track: audioTrack, start: audioFacts.start, seconds }, audio),
    ]);
    await file.finalize();
  } catch (error) {
    await file.cancel();
    throw error;
  }
}

/** The pictures of a result: those of a track, as they are. */
export interface PlacedVideo {
  readonly track: InputVideoTrack;
  readonly places: readonly SourceTime[];
}

/** Decides which pictures are shown when. */
export async function placeVideo(track: InputVideoTrack, seconds: number): Promise<PlacedVideo> {
  const { EncodedPacketSink } = await import('mediabunny');
  const source: SourceTime[] = [];
  const packets = new EncodedPacketSink(track).packets(undefined, undefined, {
    metadataOnly: true,
  });
  for await (const { timestamp, duration } of packets) source.push({ timestamp, duration });
  const length = (await track.computeDuration()) - (await track.getFirstTimestamp());
  return { track, places: placePictures(source, { length, seconds }) };
}

/** Copies every packet to its place. @param onPacket called after each */
export async function copyVideo(
  { track, places }: PlacedVideo,
  output: EncodedVideoPacketSource,
  onPacket: () => void,
): Promise<void> {
  const decoderConfig = await track.getDecoderConfig();
  if (decoderConfig === null) throw new TypeError('a track without a description of its codec');
  let sequenceNumber = 0;
  for await (const [packet, { timestamp, duration }] of inPlaces(track, places)) {
    const placed = packet.clone({ timestamp, duration, sequenceNumber });
    await output.add(placed, sequenceNumber === 0 ? { decoderConfig } : undefined);
    sequenceNumber += 1;
    onPacket();
  }
  output.close();
}

/** Goes through the source once for each turn. */
async function* inPlaces(
  track: InputVideoTrack,
  places: readonly SourceTime[],
): AsyncGenerator<readonly [EncodedPacket, SourceTime]> {
  const { EncodedPacketSink } = await import('mediabunny');
  const sink = new EncodedPacketSink(track);
  for (let next = 0; next < places.length;) {
    const before = next;
    for await (const packet of sink.packets()) {
      const place = places[next];
      if (place === undefined) return;
      yield [packet, place];
      next += 1;
    }
    if (next === before) throw new TypeError('a track that is empty now');
  }
}

/** When a packet of video is shown in its source, in seconds; in the order of decoding. */
export interface SourceTime {
  readonly timestamp: number;
  readonly duration: number;
}

/** A shorter duration is rounding of clocks and not a picture. */
const TICK = 0.000_5;

/**
 * Places the pictures of a source, repeated as often as needed, on a clock that begins with the first picture, so that
 * they end exactly at `seconds`. In the order of decoding, drops everything from the first picture that would be shown
 * later: also the few that need it to be decoded. The last picture is held up to the end.
 * @param length of the source, from its first picture to the end of its last
 * @returns a time for each packet that is used, in the order of decoding
 */
export function placePictures(
  source: readonly SourceTime[],
  { length, seconds }: { readonly length: number; readonly seconds: number },
): readonly SourceTime[] {
  const first = source.reduce((least, { timestamp }) => Math.min(least, timestamp), Infinity);
  const placed: SourceTime[] = [];
  for (let turn = 0; turn * length < seconds - TICK; turn += 1) {
    const start = turn * length - first;
    // One by one: there may be more than a call takes arguments.
    for (const { timestamp, duration } of source) {
      if (timestamp + start >= seconds - TICK) break;
      placed.push({ timestamp: timestamp + start, duration });
    }
  }
  return heldUntil(seconds, placed);
}

function heldUntil(seconds: number, placed: readonly SourceTime[]): readonly SourceTime[] {
  const last = placed.reduce((latest, { timestamp }) => Math.max(latest, timestamp), 0);
  return placed.map(({ timestamp, duration }) => ({
    timestamp,
    duration: timestamp === last ? seconds - timestamp : Math.min(duration, seconds - timestamp),
  }));
}

export interface AudioCopy {
  readonly track: InputAudioTrack;
  /** When the sound begins on the clock of the packets. */
  readonly start: AudioFacts['start'];
  /** When it ends in the result: no packet lasts longer. */
  readonly seconds: number;
}

/** Copies the packets of a track so that the sound begins at 0, after the encoder's delay, and ends with the result. */
export async function copyAudio(
  { track, start, seconds }: AudioCopy,
  output: EncodedAudioPacketSource,
): Promise<void> {
  const { EncodedPacketSink } = await import('mediabunny');
  const decoderConfig = await track.getDecoderConfig();
  if (decoderConfig === null) throw new TypeError('a track without a description of its codec');
  let isFirst = true;
  for await (const packet of new EncodedPacketSink(track).packets()) {
    const timestamp = packet.timestamp - start;
    if (timestamp >= seconds) break;
    const duration = Math.min(packet.duration, seconds - timestamp);
    await output.add(
      packet.clone({ timestamp, duration }),
      isFirst ? { decoderConfig } : undefined,
    );
    isFirst = false;
  }
  output.close();
}

/** In the metadata of every result, which is no real lip sync. */
export const SANDBOX_COMMENT =
  'Sandbox rendering by the embedded service of foley: the sound was replaced and aligned, the pictures were not changed';
