// The encoder alone: frames that are there already, in two threads; prints the most memory that it had, in MB.
import { openSync, readSync, fstatSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import h264 from 'h264-mp4-encoder';

const THREADS = 2;

if (isMainThread) {
  const [file, width, height] = process.argv.slice(2);
  const parts = Array.from({ length: THREADS }, (_, part) => {
    const data = { file, width: Number(width), height: Number(height), part };
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: data });
    return new Promise((resolve, reject) => {
      worker.once('exit', resolve);
      worker.once('error', reject);
    });
  });
  await Promise.all(parts);
  console.log(Math.round(process.resourceUsage().maxRSS / 1024));
} else {
  const { file, width, height, part } = workerData;
  const bytes = (width * height * 3) / 2;
  const input = openSync(file);
  const frames = fstatSync(input).size / bytes;
  const encoder = await h264.createH264MP4Encoder();
  const settings = { frameRate: 24, speed: 10, quantizationParameter: 24, groupOfPictures: 24 };
  Object.assign(encoder, { width, height, ...settings });
  encoder.initialize();
  const frame = new Uint8Array(bytes);
  const [from, to] = [(part * frames) / THREADS, ((part + 1) * frames) / THREADS];
  for (let number = from; number < to; number += 1) {
    readSync(input, frame, 0, bytes, number * bytes);
    encoder.addFrameYuv(frame);
  }
  encoder.finalize();
}
