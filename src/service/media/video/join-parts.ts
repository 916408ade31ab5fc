import type * as Mediabunny from 'mediabunny';
import { SANDBOX_DESCRIPTION } from '../pictures/sandbox-tag.ts';
import { FRAMES_PER_SECOND } from './footage.ts';

export interface JoinedVideo {
  /** Each an mp4 of H.264 that begins with a frame that stands alone. */
  readonly parts: readonly Uint8Array[];
  readonly seconds: number;
  readonly title: string;
  /** Absolute path. */
  readonly output: string;
}

/**
 * Joins parts to one mp4 with its colours named, its index in front and a silent sound track, since many
 * programs take a video without one for broken.
 * @throws the system's error when the file cannot be written
 */
export async function joinParts(video: JoinedVideo): Promise<void> {
  const media = await import('mediabunny');
  const { registerAacEncoder } = await import('@mediabunny/aac-encoder');
  registerAacEncoder();
  const output = new media.Output({
    format: new media.Mp4OutputFormat({ fastStart: 'in-memory' }),
    target: new media.FilePathTarget(video.output),
  });
  const frames = new media.EncodedVideoPacketSource('avc');
  const sound = new media.AudioSampleSource({ codec: 'aac', bitrate: BITRATE });
  output.addVideoTrack(frames, { frameRate: FRAMES_PER_SECOND });
  output.addAudioTrack(sound);
  output.setMetadataTags({ title: video.title, comment: SANDBOX_DESCRIPTION });
  try {
    await output.start();
    // A track that waits for the other would wait for ever.
    await Promise.all([
      addFrames(media, frames, video.parts),
      addSilence(media, sound, video.seconds),
    ]);
    await output.finalize();
  } catch (error) {
    await output.cancel();
    throw error;
  }
}

const COLOURS = {
  primaries: 'bt709',
  transfer: 'bt709',
  matrix: 'bt709',
  fullRange: false,
} as const;

async function addFrames(
  media: typeof Mediabunny,
  source: Mediabunny.EncodedVideoPacketSource,
  parts: readonly Uint8Array[],
): Promise<void> {
  let number = 0;
  for (const part of parts) {
    const input = new media.Input({
      source: new media.BufferSource(part),
      formats: [media.MP4],
    });
    const track = await input.getPrimaryVideoTrack();
    const config = await track?.getDecoderConfig();
    if (track === null || config === null || config === undefined) {
      throw new Error('the encoder made a file without a video');
    }
    const meta = { decoderConfig: { ...config, colorSpace: COLOURS } };
    for await (const packet of new media.EncodedPacketSink(track).packets()) {
      const timestamp = number / FRAMES_PER_SECOND;
      const duration = 1 / FRAMES_PER_SECOND;
      const isFirst = number === 0;
      await source.add(
        packet.clone({ timestamp, duration, sequenceNumber: number }),
        isFirst ? meta : undefined,
      );
      number += 1;
    }
    input.dispose();
  }
  source.close();
}

const SAMPLE_RATE = 48_000;
const BITRATE = 64_000;
/** Samples that are encoded together; the encoder puts one such block in front. */
const BLOCK = 1_024;

async function addSilence(
  media: typeof Mediabunny,
  source: Mediabunny.AudioSampleSource,
  seconds: number,
): Promise<void> {
  const chunk = SAMPLE_RATE / 2;
  // As much as ends with the last frame or just before it, and never after.
  const total = (Math.floor((seconds * SAMPLE_RATE) / BLOCK) - 1) * BLOCK;
  for (let at = 0; at < total; at += chunk) {
    const length = Math.min(chunk, total - at);
    const sample = new media.AudioSample({
      data: new Float32Array(length),
      format: 'f32',
      numberOfChannels: 1,
      sampleRate: SAMPLE_RATE,
      timestamp: at / SAMPLE_RATE,
    });
    await source.add(sample);
    sample.close();
  }
  source.close();
}
