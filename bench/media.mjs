// Lip sync of ten seconds in 720p by the embedded service: how long from the create to the result, against
// what the bytes alone take (both files fetched, and as much written as comes out), and how much memory the
// process needs that reads and writes them.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import h264 from 'h264-mp4-encoder';
import { median } from './measure.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const foley = path.join(here, '../bin/foley.cjs');
const LIP_SYNC = '/api/open/v1/media/lip-sync/jobs';
const [WIDTH, HEIGHT, RATE, SECONDS] = [1280, 720, 25, 10];
const ROUNDS = 5;
const MEMORY_BYTES = 200_000_000;

export const title = `lip sync of ${SECONDS} s in ${WIDTH} x ${HEIGHT}`;

export async function measure() {
  const scratch = mkdtempSync(path.join(tmpdir(), 'foley-bench-'));
  const files = { '/video': await makeVideo(), '/audio': makeSound() };
  const server = createServer((request, response) => response.end(files[request.url]));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const service = await startService(scratch);
  try {
    const media = `http://127.0.0.1:${server.address().port}`;
    const runs = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const floor = await copy(media, path.join(scratch, 'copy'));
      const made = await lipSync(service, media);
      // The first round warms the disk cache.
      if (round > 0) runs.push({ floor, made });
    }
    return rows(runs);
  } finally {
    service.child.kill();
    server.close();
    server.closeAllConnections();
    rmSync(scratch, { recursive: true, force: true });
  }
}

function rows(runs) {
  const floor = median(runs.map((run) => run.floor));
  const wall = (pick) => median(runs.map(({ made }) => pick(made)));
  const total = wall(({ ms }) => ms);
  const peak = Math.max(...runs.map(({ made }) => made.peak));
  return [
    { name: 'the bytes: fetched and written', ratio: 1, medianMs: floor },
    {
      name: 'imported and inspected',
      ratio: wall(({ importedMs }) => importedMs) / floor,
      medianMs: wall(({ importedMs }) => importedMs),
    },
    { name: 'lip sync, from create to result', ratio: total / floor, medianMs: total },
    { name: 'lip sync, × the seconds it plays', ratio: total / (SECONDS * 1_000), limit: 1 },
    ...(peak > 0
      ? [{ name: 'peak of its process, × 200 MB', ratio: peak / MEMORY_BYTES, limit: 1 }]
      : []),
  ];
}

/** Fetches both files and writes them down, as the service has to at least. */
async function copy(media, file) {
  const started = performance.now();
  const output = await open(file, 'w');
  for (const name of ['/video', '/audio']) {
    const { body } = await fetch(media + name);
    for await (const piece of body) await output.write(piece);
  }
  await output.sync();
  await output.close();
  return performance.now() - started;
}

async function lipSync({ ask, child }, media) {
  const watch = watchPeak(child.pid);
  const started = performance.now();
  const body = { video_url: `${media}/video`, audio_url: `${media}/audio` };
  const { data } = await ask('POST', LIP_SYNC, body);
  const importedMs = performance.now() - started;
  for (;;) {
    const job = (await ask('GET', `${LIP_SYNC}/${data.id}`)).data;
    if (job.status === 'failed') throw new Error(`the lip sync failed: ${job.error.message}`);
    if (job.status === 'completed') break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return { ms: performance.now() - started, importedMs, peak: watch.end() };
}

/** The most memory that a child of a process has had, as far as it was seen (Linux). */
function watchPeak(pid) {
  let peak = 0;
  const timer = setInterval(() => {
    for (const child of childrenOf(pid)) peak = Math.max(peak, peakOf(child));
  }, 5);
  return {
    end() {
      clearInterval(timer);
      return peak;
    },
  };
}

function childrenOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
    );
  } catch {
    return [];
  }
}

function peakOf(pid) {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(kilobytes) * 1_024;
  } catch {
    return 0;
  }
}

async function startService(scratch) {
  const args = [foley, 'serve', '--port', '0', '--json', '--data-dir', path.join(scratch, 'data')];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, HOME: scratch },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const { apiKey, baseUrl } = JSON.parse((await lines.next()).value);
  return {
    child,
    async ask(method, place, body) {
      const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
      const init = {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      };
      const answer = await fetch(baseUrl + place, init);
      if (!answer.ok) throw new Error(`${place}: ${answer.status} ${await answer.text()}`);
      return answer.json();
    },
  };
}

/** A picture that moves, so that there is something in every frame. */
async function makeVideo() {
  const encoder = await h264.createH264MP4Encoder();
  Object.assign(encoder, { width: WIDTH, height: HEIGHT, frameRate: RATE, speed: 10 });
  encoder.initialize();
  const luma = WIDTH * HEIGHT;
  const frame = new Uint8Array(luma * 1.5).fill(128);
  for (let number = 0; number < RATE * SECONDS; number += 1) {
    for (let at = 0; at < luma; at += 1) frame[at] = ((at % WIDTH) + number * 4) ^ (at >> 12);
    encoder.addFrameYuv(frame);
  }
  encoder.finalize();
  const video = Buffer.from(encoder.FS.readFile(encoder.outputFilename));
  encoder.delete();
  return video;
}

/** Sound that has to be encoded. */
function makeSound() {
  const rate = 44_100;
  const data = Buffer.alloc(rate * SECONDS * 2);
  for (let at = 0; at < rate * SECONDS; at += 1) {
    data.writeInt16LE(Math.round(Math.sin(at / 16) * 8_000), at * 2);
  }
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}
