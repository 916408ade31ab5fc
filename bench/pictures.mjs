// A 2k image and a 4 s video as the embedded service makes them, each in its own process: against sharp
// alone, which draws similar squares and writes them, and against the encoder alone, which gets
// similar frames ready made. With the most memory that the process had.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { compare } from './measure.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(here, '..');
const ROUNDS = 5;
const CARD = { prompt: 'A lighthouse on a cliff at sunset', seed: 7 };
const IMAGE = { width: 2_048, height: 1_152 };
const VIDEO = { width: 1_280, height: 720, seconds: 4 };

export const title = 'a 2k image and a video of 4 s in 1280 x 720';

export async function measure() {
  const scratch = mkdtempSync(path.join(tmpdir(), 'foley-bench-'));
  try {
    return [...(await image(scratch)), ...(await video(scratch))];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function image(scratch) {
  const svg = path.join(scratch, 'card.svg');
  writeFileSync(svg, squares(IMAGE));
  const output = path.join(scratch, 'image.png');
  const ours = task(scratch, 'image', { ...drawing(IMAGE), output, format: 'png' });
  const floor = script('picture-floor.mjs', svg, path.join(scratch, 'floor.png'));
  return table([
    { name: 'sharp alone', command: floor },
    { name: 'an image of 2048 x 1152', command: ours, limit: 3.5, megabytes: 250 },
  ]);
}

async function video(scratch) {
  const frames = path.join(scratch, 'frames.i420');
  await drawFrames(frames);
  const { width, height, seconds } = VIDEO;
  const output = path.join(scratch, 'video.mp4');
  const order = { ...drawing({ width, height }), output, seconds };
  const floor = script('video-floor.mjs', frames, String(width), String(height));
  return table([
    { name: 'the encoder alone, in two threads', command: floor },
    { name: 'a video of 4 s', command: task(scratch, 'video', order), limit: 3, megabytes: 350 },
  ]);
}

function drawing(size) {
  const fontFile = path.join(root, 'assets/fonts/foley-sans.ttf');
  return { ...CARD, ...size, references: [], fontFile };
}

/** The frames of the video in shades of grey, one after the other, as the encoder takes them. */
async function drawFrames(file) {
  const { width, height, seconds } = VIDEO;
  const light = await sharp(Buffer.from(squares(VIDEO)))
    .toColourspace('b-w')
    .removeAlpha()
    .raw()
    .toBuffer();
  const frame = Buffer.concat([light, Buffer.alloc((width * height) / 2, 128)]);
  writeFileSync(file, Buffer.concat(Array.from({ length: seconds * 24 }, () => frame)));
}

/** Squares like those on a card. */
function squares({ width, height }) {
  const cell = height / 8;
  const places = Array.from({ length: Math.ceil(width / cell) * 8 }, (_, at) => {
    const [x, y, lightness] = [Math.floor(at / 8) * cell, (at % 8) * cell, (at * 37) % 100];
    return `<rect x="${x}" y="${y}" width="${cell}" height="${cell}" fill="hsl(200,40%,${lightness}%)"/>`;
  });
  const size = `width="${width}" height="${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${places.join('')}</svg>`;
}

/** What the service has its media child do. */
function task(scratch, name, order) {
  const file = path.join(scratch, `${name}.json`);
  writeFileSync(file, JSON.stringify({ task: name, order, deadlineMs: 600_000 }));
  return script('media-task.mjs', path.join(root, 'dist/media-child.cjs'), file);
}

function script(name, ...args) {
  return () => ({ file: process.execPath, args: [path.join(here, 'media', name), ...args] });
}

/** Time against the floor, and the most memory of the process that did the work. */
function table(variants) {
  const rows = compare(variants, { rounds: ROUNDS });
  return rows.flatMap((row, index) => {
    const { command, limit, megabytes } = variants[index];
    const peak = peakOf(command());
    if (megabytes === undefined) return [row, { name: `  with ${peak} MB at most`, ratio: 1 }];
    const memory = { name: `  with ${peak} MB at most, of ${megabytes}`, ratio: peak / megabytes };
    return [
      { ...row, limit },
      { ...memory, limit: 1 },
    ];
  });
}

/** Each program prints the most memory that it had, in megabytes. */
function peakOf({ file, args }) {
  return Number(spawnSync(file, args, { encoding: 'utf8' }).stdout);
}
