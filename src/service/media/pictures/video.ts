import type * as Mediabunny from 'mediabunny';
import type { Sharp } from 'sharp';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { FRAMES_PER_SECOND } from '../catalogue/picture-models.ts';
import type { MediaTask, TaskTools } from '../child/messages.ts';
import { requireOrder, wholeFile } from '../child/messages.ts';
import { addSound } from '../lipsync/to-aac.ts';
import { CARD_FIELDS, drawCard, SANDBOX_DESCRIPTION, titleOf } from './card.ts';
import { deltaFrame } from './delta-frame.ts';
import type { PictureSize } from './reference.ts';
import { openSharp } from './reference.ts';

/** The order for a video, as the service sends it to the media child. */
export const VideoOrder = Type.Object({
  ...CARD_FIELDS,
  seconds: Type.Integer({ minimum: 1, maximum: 60 }),
});
export type VideoOrder = Static<typeof VideoOrder>;

/** The progress after the last frame; the file is not written yet. */
const ENCODED = 0.95;

/** Makes a video in the media child. */
export const videoTask: MediaTask = async (given, tools) => {
  const order = requireOrder(VideoOrder, given);
  await wholeFile(order.output, () => makeVideo(order, tools));
  return null;
};

/** Makes a video of the card of its order, with a bar at the lower edge that grows with each frame. */
async function makeVideo(order: VideoOrder, tools: TaskTools): Promise<void> {
  const { output, prompt, seconds } = order;
  const card = await toI420(await drawCard(await openSharp(), order), order);
  const frames = await encodeFrames(card, order, tools);
  await writeMp4(frames, { output, seconds, title: titleOf(prompt).text });
}

/**
 * Converts a picture for the encoder: a plane of brightness, then two of colour with a value for each square of
 * four pixels, in limited range with the weights of ITU-R BT.709. Width and height are even.
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

/** The fastest of the encoder; a card looks the same at any speed. */
const SPEED = 10;
/** From 10, the best, to 51. */
const QUANTIZATION = 24;

/** The encoded frames of a video. */
interface VideoFrames {
  /** An mp4 with the key frames: the first frame of each second. */
  readonly keys: Uint8Array;
  /** The other frames, in order. */
  readonly deltas: readonly Uint8Array[];
}

/**
 * Encodes the frames as H.264 (baseline). The encoder makes the key frames only: it takes as long for a frame in which
 * only the bar grows.
 */
async function encodeFrames(
  card: Uint8Array,
  { width, height, seconds }: VideoOrder,
  { progress }: TaskTools,
): Promise<VideoFrames> {
  const { default: library } = await import('h264-mp4-encoder');
  const encoder = await library.createH264MP4Encoder();
  Object.assign(encoder, {
    width,
    height,
    frameRate: FRAMES_PER_SECOND,
    speed: SPEED,
    quantizationParameter: QUANTIZATION,
    groupOfPictures: 1,
  });
  encoder.initialize();
  const frames = seconds * FRAMES_PER_SECOND;
  const top = height - Math.max(4, Math.round(height * 0.012));
  const deltas: Uint8Array[] = [];
  let left = 0;
  for (let index = 0; index < frames; index += 1) {
    const right = Math.round((width * (index + 1)) / frames);
    for (let row = top; row < height; row += 1)
      card.fill(235, row * width + left, row * width + right);
    const sinceKey = index % FRAMES_PER_SECOND;
    if (sinceKey === 0) encoder.addFrameYuv(card);
    else deltas.push(deltaFrame(card, { width, height }, { top, left, right }, sinceKey));
    left = right;
    progress(((index + 1) / frames) * ENCODED);
    // Lets the progress leave this process.
    await new Promise(setImmediate);
  }
  encoder.finalize();
  const keys = encoder.FS.readFile(encoder.outputFilename);
  encoder.delete();
  return { keys, deltas };
}

interface Mp4 {
  /** Absolute path. */
  readonly output: string;
  readonly seconds: number;
  readonly title: string;
}

/**
 * Writes the encoded frames as an mp4 with exact times, named colours, its index in front and a silent sound track:
 * many programs take a video without sound for a damaged one.
 */
async function writeMp4(encoded: VideoFrames, { output, seconds, title }: Mp4): Promise<void> {
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
    // Together: each track waits for the other.
    await Promise.all([addFrames(media, frames, encoded), addSilence(sound, seconds)]);
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
  { keys, deltas }: VideoFrames,
): Promise<void> {
  const input = new media.Input({ source: new media.BufferSource(keys), formats: [media.MP4] });
  const track = await input.getPrimaryVideoTrack();
  const config = await track?.getDecoderConfig();
  if (track === null || config === null || config === undefined) {
    throw new Error('the encoder made a file without a video');
  }
  const meta = { decoderConfig: { ...config, colorSpace: COLOURS } };
  let number = 0;
  const add = async (data: Uint8Array, type: 'key' | 'delta'): Promise<void> => {
    const packet = new media.EncodedPacket(
      data,
      type,
      number / FRAMES_PER_SECOND,
      1 / FRAMES_PER_SECOND,
    );
    await source.add(packet, number === 0 ? meta : undefined);
    number += 1;
  };
  for await (const { data } of new media.EncodedPacketSink(track).packets()) {
    const rest = number - number / FRAMES_PER_SECOND;
    await add(data, 'key');
    for (const delta of deltas.slice(rest, rest + FRAMES_PER_SECOND - 1)) await add(delta, 'delta');
  }
  input.dispose();
  source.close();
}

const SAMPLE_RATE = 48_000;
const BITRATE = 64_000;
/** The samples that AAC encodes together; the encoder puts one more block in front. */
const BLOCK = 1_024;

async function addSilence(track: Mediabunny.AudioSampleSource, seconds: number): Promise<void> {
  const chunk = SAMPLE_RATE / 2;
  // The sound ends with the last frame or just before it, never after.
  const total = (Math.floor((seconds * SAMPLE_RATE) / BLOCK) - 1) * BLOCK;
  for (let at = 0; at < total; at += chunk) {
    const samples = new Float32Array(Math.min(chunk, total - at));
    await addSound(track, { samples, channels: 1, sampleRate: SAMPLE_RATE }, at / SAMPLE_RATE);
  }
  track.close();
}
