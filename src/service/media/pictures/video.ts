import { Worker } from 'node:worker_threads';
import type * as Mediabunny from 'mediabunny';
import type { Sharp } from 'sharp';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { FRAMES_PER_SECOND } from '../catalogue/picture-models.ts';
import type { MediaTask, TaskTools } from '../child/messages.ts';
import { requireTaskParameters, deleteOnFailure } from '../child/messages.ts';
import { VIDEO_WORKER_FILE } from '../../worker-file.ts';
import { addSound } from '../lipsync/to-aac.ts';
import { CARD_FIELDS, drawCard, SANDBOX_DESCRIPTION, titleOf } from './card.ts';
import type { PictureSize } from './reference.ts';
import { openSharp } from './reference.ts';

export const VideoParameters = Type.Object({
  ...CARD_FIELDS,
  seconds: Type.Integer({ minimum: 1, maximum: 60 }),
});
export type VideoParameters = Static<typeof VideoParameters>;

// Progress when the last frame is encoded, before the file is written.
const ENCODED_PROGRESS = 0.95;

/** Makes a video. Runs in the child process for media. */
export const videoTask: MediaTask = async (given, tools) => {
  const order = requireTaskParameters(VideoParameters, given);
  await deleteOnFailure(order.output, () => makeVideo(order, tools));
  return null;
};

// Shows the card, and at its lower edge a bar that grows with each frame.
async function makeVideo(order: VideoParameters, tools: TaskTools): Promise<void> {
  const { output, prompt, seconds } = order;
  const card = await toI420(await drawCard(await openSharp(), order), order);
  const parts = await encodeFrames(card, order, tools);
  await writeMp4(parts, { output, seconds, title: titleOf(prompt).text });
}

/**
 * Converts a picture to the I420 format of the video encoder: a plane of brightness, then two planes of colour at
 * half the width and height. Uses the limited range and the weights of ITU-R BT.709. Width and height must be even.
 */
export async function toI420(picture: Sharp, { width, height }: PictureSize): Promise<Uint8Array> {
  const rgb = await picture.toColourspace('srgb').removeAlpha().raw().toBuffer();
  const pixels = width * height;
  const planes = new Uint8Array((pixels * 3) / 2);
  for (let at = 0; at < pixels; at += 1) {
    const [red = 0, green = 0, blue = 0] = [rgb[at * 3], rgb[at * 3 + 1], rgb[at * 3 + 2]];
    planes[at] = Math.round(16 + 0.182_586 * red + 0.614_231 * green + 0.062_007 * blue);
  }
  for (let row = 0; row < height / 2; row += 1) {
    for (let column = 0; column < width / 2; column += 1) {
      const first = (row * 2 * width + column * 2) * 3;
      const mean = (colour: number): number =>
        [0, 3, width * 3, width * 3 + 3].reduce(
          (sum, at) => sum + (rgb[first + at + colour] ?? 0),
          0,
        ) / 4;
      const [red, green, blue] = [mean(0), mean(1), mean(2)];
      const at = pixels + (row * width) / 2 + column;
      planes[at] = Math.round(128 - 0.100_644 * red - 0.338_572 * green + 0.439_216 * blue);
      planes[at + pixels / 4] = Math.round(
        128 + 0.439_216 * red - 0.398_942 * green - 0.040_274 * blue,
      );
    }
  }
  return planes;
}

/** The video frames that one worker thread encodes. */
export interface FrameRange extends PictureSize {
  /** One video frame in the I420 format, without the progress bar. */
  readonly card: Uint8Array;
  /** Number of frames in the whole video. */
  readonly frames: number;
  readonly from: number;
  readonly to: number;
}

// Each thread returns an mp4 without sound.
async function encodeFrames(
  card: Uint8Array,
  { width, height, seconds }: VideoParameters,
  { progress }: TaskTools,
): Promise<Uint8Array[]> {
  const frames = seconds * FRAMES_PER_SECOND;
  // An even number of key frames: each encoder alternates idr_pic_id from 1, and consecutive key frames must differ.
  const middle = 2 * Math.round(seconds / 4) * FRAMES_PER_SECOND;
  let encoded = 0;
  const onFrame = (): void => {
    encoded += 1;
    progress((encoded / frames) * ENCODED_PROGRESS);
  };
  const ranges = [
    { from: 0, to: middle },
    { from: middle, to: frames },
  ].filter(({ from, to }) => from < to);
  return Promise.all(
    ranges.map((range) => encodeInThread({ card, width, height, frames, ...range }, onFrame)),
  );
}

function encodeInThread(range: FrameRange, onFrame: () => void): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(VIDEO_WORKER_FILE, { name: 'video', workerData: range });
    worker.on('message', (message: 'frame' | Uint8Array) => {
      if (message === 'frame') onFrame();
      else resolve(message);
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('The encoding thread ended unexpectedly.')));
  });
}

interface Mp4 {
  readonly output: string;
  readonly seconds: number;
  readonly title: string;
}

// Adds a silent sound track, because many programs take a video without sound for a damaged file.
async function writeMp4(
  parts: readonly Uint8Array[],
  { output, seconds, title }: Mp4,
): Promise<void> {
  const media = await import('mediabunny');
  const { registerAacEncoder } = await import('@mediabunny/aac-encoder');
  registerAacEncoder();
  const mp4 = new media.Output({
    format: new media.Mp4OutputFormat({ fastStart: 'in-memory' }),
    target: new media.FilePathTarget(output),
  });
  const frames = new media.EncodedVideoPacketSource('avc');
  const sound = new media.AudioSampleSource({ codec: 'aac', bitrate: BITRATE });
  mp4.addVideoTrack(frames, { frameRate: FRAMES_PER_SECOND });
  mp4.addAudioTrack(sound);
  mp4.setMetadataTags({ title, comment: SANDBOX_DESCRIPTION });
  try {
    await mp4.start();
    // Concurrently: each track waits for the other.
    await Promise.all([addFrames(media, frames, parts), addSilence(sound, seconds)]);
    await mp4.finalize();
  } catch (error) {
    await mp4.cancel();
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
    const input = new media.Input({ source: new media.BufferSource(part), formats: [media.MP4] });
    const track = await input.getPrimaryVideoTrack();
    const config = await track?.getDecoderConfig();
    if (track === null || config === null || config === undefined) {
      throw new Error('the encoder made a file without a video');
    }
    const meta = { decoderConfig: { ...config, colorSpace: COLOURS } };
    const sink = new media.EncodedPacketSink(track);
    // The encoder marks every frame as a key frame.
    const packets = sink.packets(undefined, undefined, { verifyKeyPackets: true });
    for await (const packet of packets) {
      const timestamp = number / FRAMES_PER_SECOND;
      const place = { timestamp, duration: 1 / FRAMES_PER_SECOND, sequenceNumber: number };
      await source.add(packet.clone(place), number === 0 ? meta : undefined);
      number += 1;
    }
    input.dispose();
  }
  source.close();
}

const SAMPLE_RATE = 48_000;
const BITRATE = 64_000;
// The encoder adds one block before the sound.
const AAC_BLOCK_SAMPLES = 1_024;

async function addSilence(track: Mediabunny.AudioSampleSource, seconds: number): Promise<void> {
  const chunk = SAMPLE_RATE / 2;
  // The sound ends with the last frame or just before it, never after.
  const total = (Math.floor((seconds * SAMPLE_RATE) / AAC_BLOCK_SAMPLES) - 1) * AAC_BLOCK_SAMPLES;
  for (let at = 0; at < total; at += chunk) {
    const samples = new Float32Array(Math.min(chunk, total - at));
    await addSound(track, { samples, channels: 1, sampleRate: SAMPLE_RATE }, at / SAMPLE_RATE);
  }
  track.close();
}
