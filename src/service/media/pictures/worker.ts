// Entry point of a worker thread that draws frames of a video and encodes them as H.264 (baseline).

import { parentPort, workerData } from 'node:worker_threads';
import { FRAMES_PER_SECOND } from '../catalogue/picture-models.ts';
import type { FrameRange } from './video.ts';

// The fastest, because a card looks the same at any speed.
const SPEED = 10;
// From 10 (best quality) to 51.
const QUANTIZATION = 24;

if (parentPort === null) throw new Error('This file runs as a worker thread only.');
const port = parentPort;

void encode(workerData).then((file) => port.postMessage(file));

async function encode({ card, frames, from, height, to, width }: FrameRange): Promise<Uint8Array> {
  const { default: library } = await import('h264-mp4-encoder');
  const encoder = await library.createH264MP4Encoder();
  Object.assign(encoder, {
    width,
    height,
    frameRate: FRAMES_PER_SECOND,
    speed: SPEED,
    quantizationParameter: QUANTIZATION,
    groupOfPictures: FRAMES_PER_SECOND,
  });
  encoder.initialize();
  const barTop = height - Math.max(4, Math.round(height * 0.012));
  for (let number = from + 1; number <= to; number += 1) {
    const length = Math.round((width * number) / frames);
    for (let row = barTop; row < height; row += 1)
      card.fill(235, row * width, row * width + length);
    encoder.addFrameYuv(card);
    port.postMessage('frame');
  }
  encoder.finalize();
  return encoder.FS.readFile(encoder.outputFilename);
}
