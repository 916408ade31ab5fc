// An aligned stream: what the client makes of its bytes (audio and the times of words), against the
// parser library alone on the same bytes; and how much memory the whole command needs for a long one.
import { fork, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { fileURLToPath } from 'node:url';
import { createParser } from 'eventsource-parser';
import { rolldown } from 'rolldown';
import { COMPLETED, streamBlocks } from './aligned-stream.mjs';
import { median, writePeakHook } from './measure.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const foley = path.join(here, '../bin/foley.cjs');
const LONG_BYTES = 200_000_000;
const LONGER_BYTES = 800_000_000;
/** As they come from a socket. */
const CHUNK_BYTES = 65_536;
const ROUNDS = 15;
/** At least 0.7 of what the parser alone gets through. */
const SLOWER = 1 / 0.7;
/** Four times the bytes, in the same memory but for what waits to be collected. */
const MEMORY_LIMIT = 1.3;
/** A single peak depends on when V8 collects. */
const MEMORY_ROUNDS = 5;

export const title = `an aligned stream of ${LONG_BYTES / 1_000_000} MB`;

export async function measure() {
  const scratch = mkdtempSync(path.join(tmpdir(), 'foley-bench-'));
  const server = fork(path.join(here, 'aligned-server.mjs'));
  try {
    const { port } = await new Promise((resolve) => server.once('message', resolve));
    const peaks = Array.from({ length: MEMORY_ROUNDS }, () =>
      [LONG_BYTES, LONGER_BYTES].map((size) => peakOf(`http://127.0.0.1:${port}/${size}`, scratch)),
    );
    const long = median(peaks.map(([peak]) => peak));
    const longer = median(peaks.map(([, peak]) => peak));
    return [
      ...(await throughput(await clientOf(scratch))),
      {
        name: `${Math.round(long / 1e6)} MB of memory, × for four times as much`,
        ratio: longer / long,
        limit: MEMORY_LIMIT,
      },
    ];
  } finally {
    server.disconnect();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * Each round reads the same bytes in both ways, in turns that change. The time is the processor's, of all
 * threads: others on the machine take none of it, and what is collected behind our back counts too.
 */
async function throughput(client) {
  const ways = [
    { name: 'eventsource-parser alone', read: parse, times: [] },
    { name: 'the client: audio and times', read: (body) => speak(client, body), times: [] },
  ];
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { read, times } of round % 2 === 0 ? ways : ways.toReversed()) {
      const started = process.cpuUsage();
      await read(bytes());
      const { system, user } = process.cpuUsage(started);
      // The first one compiles.
      if (round > 0) times.push((system + user) / 1_000);
    }
  }
  const [floor, own] = ways.map(({ times }) => times);
  const ratio = median(own.map((ms, index) => ms / floor[index]));
  return [
    { name: ways[0].name, ratio: 1, medianMs: median(floor) },
    { name: ways[1].name, ratio, medianMs: median(own), limit: SLOWER },
  ];
}

const BLOCKS = Buffer.concat(streamBlocks());

async function* bytes() {
  for (let sent = 0; sent < LONG_BYTES; sent += BLOCKS.length) {
    for (let at = 0; at < BLOCKS.length; at += CHUNK_BYTES) {
      yield BLOCKS.subarray(at, at + CHUNK_BYTES);
    }
  }
  yield Buffer.from(COMPLETED);
}

async function parse(body) {
  let events = 0;
  const decoder = new StringDecoder('utf8');
  const parser = createParser({
    onEvent: () => {
      events += 1;
    },
  });
  for await (const chunk of body) parser.feed(decoder.write(chunk));
  if (events === 0) throw new Error('There are no events.');
}

/** The client's own module, compiled as the build compiles it. */
async function clientOf(scratch) {
  const input = path.join(here, '../src/api/resources/aligned.ts');
  const build = await rolldown({ input, platform: 'node' });
  const file = path.join(scratch, 'client.cjs');
  await build.write({ file, format: 'cjs' });
  return createRequire(import.meta.url)(file);
}

async function speak({ speakAligned }, body) {
  const answer = {
    status: 200,
    requestId: 'bench',
    headers: { contentType: 'text/event-stream', ignoredParameters: [] },
    body,
    discard() {},
  };
  const client = { send: async () => answer, redact: (failure) => failure };
  const speech = await speakAligned(
    client,
    { text: 'hi', voiceId: 'v' },
    {
      idempotencyKey: { value: 'bench', madeByTool: true },
      clock: { monotonic: () => performance.now() },
    },
  );
  let size = 0;
  for await (const packet of speech.body) {
    size += packet.length;
    // As the command does when a packet is in its file.
    speech.reuse(packet);
  }
  if (size === 0 || speech.outcome?.isComplete !== true) throw new Error('It is not whole.');
}

/** The largest resident size of a whole command, in bytes. */
function peakOf(url, scratch) {
  const note = path.join(scratch, 'peak.txt');
  const hook = path.join(scratch, 'peak.cjs');
  writePeakHook(hook, note);
  const captions = ['--subtitles', path.join(scratch, 'long.srt')];
  const args = [
    'tts',
    'hi',
    '-v',
    'v',
    '-q',
    '-o',
    '/dev/null',
    ...captions,
    '--max-bytes',
    '1000000000',
  ];
  const { status, stderr } = spawnSync(process.execPath, ['--require', hook, foley, ...args], {
    env: {
      ...process.env,
      FOLEY_BASE_URL: url,
      FOLEY_API_KEY: 'bench',
      HOME: scratch,
      XDG_STATE_HOME: path.join(scratch, 'state'),
    },
  });
  if (status !== 0) throw new Error(`foley ended with ${status}: ${stderr.toString()}`);
  return Number(readFileSync(note, 'utf8')) * 1024;
}
