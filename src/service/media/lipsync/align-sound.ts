import { rm, stat } from 'node:fs/promises';
import type {
  EncodedAudioPacketSource,
  EncodedVideoPacketSource,
  InputAudioTrack,
  InputVideoTrack,
} from 'mediabunny';
import type { MediaTask } from '../child/messages.ts';
import { requireTaskParameters, deleteOnFailure } from '../child/messages.ts';
import type { Aligned } from '../inspection/inspection.ts';
import { AlignParameters } from '../inspection/inspection.ts';
import { readMedia } from '../inspection/open-media.ts';
import { toAac } from './to-aac.ts';

// Sound in these codecs is copied unchanged, unless the tempo changes.
const COPIED = new Set(['aac', 'mp3', 'opus']);

/**
 * Simulates a lip sync: replaces the sound of a video and writes an mp4. The result has the requested duration; its
 * video frames are copied unchanged.
 * @throws MediaTaskError when a source file is unreadable
 */
export const alignSound: MediaTask = async (given, { progress }): Promise<Aligned> => {
  const wanted = requireTaskParameters(AlignParameters, given);
  const { audioFacts, output, tempo } = wanted;
  const encoded = `${output}.m4a`;
  try {
    const isCopied = tempo === 1 && COPIED.has(audioFacts.codec);
    const order = isCopied ? wanted : await toAac(wanted, encoded);
    await deleteOnFailure(output, () => join(order, progress));
    const { size: bytes } = await stat(output);
    return { audioCodec: order.audioFacts.codec, bytes };
  } finally {
    await rm(encoded, { force: true });
  }
};

function join(order: AlignParameters, progress: (fraction: number) => void): Promise<void> {
  return readMedia(order.video, (videoInput) =>
    readMedia(order.audio, async (audioInput) => {
      const videoTrack = await videoInput.getPrimaryVideoTrack();
      const audioTrack = await audioInput.getPrimaryAudioTrack();
      if (videoTrack === null || audioTrack === null) throw changedSource();
      await joinTracks(videoTrack, audioTrack, order, progress);
    }),
  );
}

async function joinTracks(
  videoTrack: InputVideoTrack,
  audioTrack: InputAudioTrack,
  { audioFacts, output, seconds }: AlignParameters,
  progress: (fraction: number) => void,
): Promise<void> {
  const media = await import('mediabunny');
  const [videoCodec, audioCodec] = [await videoTrack.getCodec(), await audioTrack.getCodec()];
  if (videoCodec === null || audioCodec === null) throw changedSource();
  const places = await placesOf(videoTrack, seconds);
  const video = new media.EncodedVideoPacketSource(videoCodec);
  const audio = new media.EncodedAudioPacketSource(audioCodec);
  // The index is written after the media, so that nothing is buffered in memory or written twice.
  const file = new media.Output({
    format: new media.Mp4OutputFormat({ fastStart: false }),
    target: new media.FilePathTarget(output),
  });
  file.addVideoTrack(video, { rotation: await videoTrack.getRotation() });
  file.addAudioTrack(audio);
  file.setMetadataTags({ comment: SANDBOX_COMMENT });
  let copied = 0;
  const onPacket = (): void => progress((copied += 1) / places.length);
  try {
    await file.start();
    // Concurrently: the muxer lets neither track get far ahead of the other.
    await Promise.all([
      copyVideo(videoTrack, places, video, onPacket),
      copyAudio(audioTrack, { start: audioFacts.start, seconds }, audio),
    ]);
    await file.finalize();
  } catch (error) {
    await file.cancel();
    throw error;
  }
}

const SANDBOX_COMMENT =
  'Sandbox rendering by the embedded service of foley: the sound was replaced and aligned, the pictures were not changed';

function changedSource(): TypeError {
  return new TypeError('a source file has changed since its inspection');
}

async function placesOf(track: InputVideoTrack, seconds: number): Promise<readonly SourceTime[]> {
  const { EncodedPacketSink } = await import('mediabunny');
  const source: SourceTime[] = [];
  const packets = new EncodedPacketSink(track).packets(undefined, undefined, {
    metadataOnly: true,
  });
  for await (const { timestamp, duration } of packets) source.push({ timestamp, duration });
  const length = (await track.computeDuration()) - (await track.getFirstTimestamp());
  return placeFrames(source, { length, seconds });
}

// Repeats the video if it has fewer packets than `places`.
async function copyVideo(
  track: InputVideoTrack,
  places: readonly SourceTime[],
  output: EncodedVideoPacketSource,
  onPacket: () => void,
): Promise<void> {
  const { EncodedPacketSink } = await import('mediabunny');
  const decoderConfig = await track.getDecoderConfig();
  if (decoderConfig === null) throw changedSource();
  const sink = new EncodedPacketSink(track);
  for (let next = 0; next < places.length;) {
    const before = next;
    for await (const packet of sink.packets()) {
      const place = places[next];
      if (place === undefined) break;
      const placed = packet.clone({ ...place, sequenceNumber: next });
      await output.add(placed, next === 0 ? { decoderConfig } : undefined);
      next += 1;
      onPacket();
    }
    if (next === before) throw changedSource();
  }
  output.close();
}

// `start` is the source's timestamp at which the sound begins, after the encoder's delay.
async function copyAudio(
  track: InputAudioTrack,
  { start, seconds }: { readonly start: number; readonly seconds: number },
  output: EncodedAudioPacketSource,
): Promise<void> {
  const { EncodedPacketSink } = await import('mediabunny');
  const decoderConfig = await track.getDecoderConfig();
  if (decoderConfig === null) throw changedSource();
  let isFirst = true;
  for await (const packet of new EncodedPacketSink(track).packets()) {
    const timestamp = packet.timestamp - start;
    if (timestamp >= seconds) break;
    const duration = Math.min(packet.duration, seconds - timestamp);
    const placed = packet.clone({ timestamp, duration });
    await output.add(placed, isFirst ? { decoderConfig } : undefined);
    isFirst = false;
  }
  output.close();
}

/** Presentation time and duration of a video packet, in seconds. */
export interface SourceTime {
  readonly timestamp: number;
  readonly duration: number;
}

// In seconds; a video frame with a shorter duration is a rounding error.
const TICK = 0.000_5;

/**
 * Repeats or truncates a video so that it lasts `seconds`: computes the presentation times of the resulting packets.
 * The last frame is shown until the end.
 * @param source times of the original packets, in decoding order
 * @param length duration of the original video in seconds
 * @returns the times of the resulting packets, in decoding order
 */
export function placeFrames(
  source: readonly SourceTime[],
  { length, seconds }: { readonly length: number; readonly seconds: number },
): readonly SourceTime[] {
  const first = source.reduce((least, { timestamp }) => Math.min(least, timestamp), Infinity);
  const placed: SourceTime[] = [];
  for (let turn = 0; turn * length < seconds - TICK; turn += 1) {
    const start = turn * length - first;
    // Pushes one by one, because spreading many packets would exceed the limit of arguments.
    for (const { timestamp, duration } of source) {
      if (timestamp + start >= seconds - TICK) break;
      placed.push({ timestamp: timestamp + start, duration });
    }
  }
  const last = placed.reduce((latest, { timestamp }) => Math.max(latest, timestamp), 0);
  return placed.map(({ timestamp, duration }) => ({
    timestamp,
    duration: timestamp === last ? seconds - timestamp : Math.min(duration, seconds - timestamp),
  }));
}
