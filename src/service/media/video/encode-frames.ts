import type { I420 } from './i420.ts';
import type { Footage } from './footage.ts';
import { createFrames, FRAMES_PER_SECOND, KEY_EVERY } from './footage.ts';

/** Frames of a video from one number up to, but not with, another. */
export interface FrameRange {
  /** A multiple of `KEY_EVERY`. */
  readonly from: number;
  readonly to: number;
}

/** The fastest; it looks the same here. */
const SPEED = 10;
/** From 10, the best, to 51. */
const QUANTIZATION = 24;

/**
 * Draws frames and encodes them as H.264 (baseline) in an mp4 without sound.
 * @param onFrame called after each, so often
 */
export async function encodeFrames(
  footage: Footage,
  { from, to }: FrameRange,
  onFrame: () => void,
): Promise<Uint8Array> {
  const draw = createFrames(footage);
  const encoder = await openEncoder(footage);
  for (let number = from; number < to; number += 1) {
    encoder.add(draw(number));
    onFrame();
  }
  return encoder.finish();
}

interface FrameEncoder {
  add(frame: I420): void;
  /** The mp4; there is no encoder after it. */
  finish(): Uint8Array;
}

async function openEncoder({ width, height }: Footage): Promise<FrameEncoder> {
  const { default: library } = await import('h264-mp4-encoder');
  const encoder = await library.createH264MP4Encoder();
  Object.assign(encoder, {
    width,
    height,
    frameRate: FRAMES_PER_SECOND,
    speed: SPEED,
    quantizationParameter: QUANTIZATION,
    groupOfPictures: KEY_EVERY,
  });
  encoder.initialize();
  return {
    add: ({ bytes }) => encoder.addFrameYuv(bytes),
    finish() {
      encoder.finalize();
      const { FS, outputFilename } = encoder;
      const file = FS.readFile(outputFilename);
      FS.unlink(outputFilename);
      encoder.delete();
      return file;
    },
  };
}
