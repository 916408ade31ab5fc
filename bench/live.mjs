// Realtime speech: what the client adds to a bare loop of `ws` and MessagePack, for bytes in bulk and for a
// frame every few milliseconds; how soon the embedded service is heard; and the memory of a long conversation.
import { fork, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Decoder, encode } from '@msgpack/msgpack';
import { WebSocket } from 'ws';
import { clientOf } from './live-client.mjs';
import { median, writePeakHook } from './measure.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const foley = path.join(here, '../bin/foley.cjs');
const SUBPROTOCOL = 'realtime.tts.msgpack.v3';
const BULK_BYTES = 200_000_000;
const FRAME_BYTES = 16_384;
const ROUNDS = 5;
/** A frame every so many milliseconds, and how many. */
const EVERY_MS = 2;
const FRAMES = 1_000;
const SLOWER = 1 / 0.6;
const ADDED_MS = 2;
const SOONER = 1.5;
/** What a pipe may add until a sentence is heard behind which nothing comes. */
const BEHIND_MS = 150;
const SENTENCE = 'First sentence.';
const LONG_BYTES = 500_000_000;
const SLOW_BYTES_PER_SECOND = 40_000_000;
const MEMORY_BYTES = 150_000_000;

export const title = `realtime speech, frames of ${FRAME_BYTES} bytes`;

export async function measure() {
  const scratch = mkdtempSync(path.join(tmpdir(), 'foley-bench-'));
  const server = fork(path.join(here, 'live-server.mjs'));
  try {
    const [{ port }] = await once(server, 'message');
    const origin = `127.0.0.1:${port}`;
    const client = await clientOf(scratch);
    return [
      ...(await bulk(client, `${origin}/${BULK_BYTES}/${FRAME_BYTES}`)),
      await latency(client, `${origin}/every/${EVERY_MS}/${FRAMES}`),
      ...(await firstAudio(client, scratch)),
      await memory(`http://${origin}/${LONG_BYTES}/${FRAME_BYTES}`, scratch),
    ];
  } finally {
    server.disconnect();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Both write what they read into the same device, as fast as it takes it. */
async function bulk(client, address) {
  const ways = [
    { name: 'ws and MessagePack alone', listen: listenBare, times: [] },
    { name: 'the client: decode and write', listen: (...all) => listen(client, ...all), times: [] },
  ];
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { listen: way, times } of round % 2 === 0 ? ways : ways.toReversed()) {
      const sink = createWriteStream('/dev/null');
      let size = 0;
      const started = performance.now();
      await way(address, (audio) => {
        size += audio.length;
        return sink.write(audio) ? undefined : once(sink, 'drain');
      });
      // The first one compiles.
      if (round > 0) times.push(performance.now() - started);
      if (size < BULK_BYTES) throw new Error(`Only ${size} bytes came.`);
      sink.end();
    }
  }
  const [floor, own] = ways.map(({ times }) => times);
  return [
    { name: ways[0].name, ratio: 1, medianMs: median(floor) },
    {
      name: ways[1].name,
      ratio: median(own.map((ms, index) => ms / floor[index])),
      medianMs: median(own),
      limit: SLOWER,
    },
  ];
}

/** Each frame carries when it was sent; what is slower than bare `ws` in a hundredth of them is told. */
async function latency(client, address) {
  const delays = async (way) => {
    const times = [];
    await way(address, (audio) => {
      // What waits for a moment comes together.
      for (let at = 0; at < audio.length; at += 1_920) {
        const sent = Buffer.from(audio.buffer, audio.byteOffset + at, 8).readBigUInt64LE();
        times.push(Number(process.hrtime.bigint() - sent) / 1e6);
      }
    });
    return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)];
  };
  const added = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bare = await delays(listenBare);
    const own = await delays((...all) => listen(client, ...all));
    if (round > 0) added.push(own - bare);
  }
  const ms = median(added);
  return {
    name: `added to a frame, p99, of ${ADDED_MS} ms`,
    ratio: ms / ADDED_MS,
    medianMs: ms,
    limit: 1,
  };
}

/** On a service that runs: a handshake and speech over HTTP, against a conversation from its beginning. */
async function firstAudio(client, scratch) {
  const state = { HOME: scratch, XDG_STATE_HOME: path.join(scratch, 'state') };
  const service = spawn(process.execPath, [foley, 'serve', '--port', '0', '--json'], {
    env: { ...process.env, ...state },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const [line] = await once(service.stdout, 'data');
    const { apiKey, baseUrl, realtimeUrl } = JSON.parse(line.toString());
    const key = { authorization: `Bearer ${apiKey}` };
    const voices = await (await fetch(`${baseUrl}/api/open/v3/voices`, { headers: key })).json();
    const { voiceId } = voices.items[0];
    const floor = [];
    const own = [];
    for (let round = 0; round <= 3 * ROUNDS; round += 1) {
      const text = `This is sentence number ${round}, which is not long.`;
      const chunk = await chunkOverHttp(baseUrl, key, { text, voiceId });
      const connect = await timed(() => handshake(realtimeUrl, key));
      const heard = await timed(() => firstOf(client, realtimeUrl, { apiKey, text, voiceId }));
      if (round > 0) {
        floor.push(chunk + connect);
        own.push(heard);
      }
    }
    const ratio = median(own.map((ms, index) => ms / floor[index]));
    return [
      { name: 'first chunk over HTTP, and a connect', ratio: 1, medianMs: median(floor) },
      { name: 'first audio of a conversation', ratio, medianMs: median(own), limit: SOONER },
      await firstSentence({ ...state, apiKey, baseUrl, realtimeUrl, voiceId }),
    ];
  } finally {
    service.kill();
    await once(service, 'close');
  }
}

/** A sentence and silence, through the pipe of the command, against a bare client that sends it. */
async function firstSentence(service) {
  const behind = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bare = await sayBare(service, `bare-${round}`);
    const piped = await sayThroughPipe(service);
    if (round > 0) behind.push(piped - bare);
  }
  const ms = median(behind);
  return {
    name: `a piped sentence behind ws, of ${BEHIND_MS} ms`,
    ratio: ms / BEHIND_MS,
    medianMs: ms,
    limit: 1,
  };
}

/** Milliseconds from the text to its first audio, on a connection that is ready. */
async function sayBare({ apiKey, realtimeUrl, voiceId }, requestId) {
  const headers = { authorization: `Bearer ${apiKey}` };
  const socket = new WebSocket(`${realtimeUrl}/v3/tts/live`, [SUBPROTOCOL], { headers });
  const decoder = new Decoder();
  const say = (event, fields) => socket.send(encode({ event, eventId: event, ...fields }));
  let started = 0;
  for await (const [data] of on(socket, 'message')) {
    const { event } = decoder.decode(data);
    if (event === 'authenticated') {
      const request = { voiceId, modelId: 'vendor-s21pro-flash', format: 'wav' };
      say('start', { mode: 'reliable', requestId, request });
    }
    if (event === 'ready') {
      started = performance.now();
      say('text', { sequence: 1, text: SENTENCE });
      say('flush', { segmentId: 's1' });
    }
    if (event === 'audio') break;
  }
  socket.close();
  return performance.now() - started;
}

/** The same for the whole command, whose pipe stays open. */
async function sayThroughPipe({ apiKey, baseUrl, voiceId, ...state }) {
  const flags = ['--format', 'wav', '-v', voiceId, '-m', 'vendor-s21pro-flash', '--verbose'];
  const command = spawn(process.execPath, [foley, 'live', ...flags], {
    env: { ...process.env, ...state, FOLEY_BASE_URL: baseUrl, FOLEY_API_KEY: apiKey },
  });
  // The handshake is told; the little that follows it does not count.
  for await (const line of command.stderr) if (line.includes(' 101 ')) break;
  await new Promise((resolve) => setTimeout(resolve, 200));
  const started = performance.now();
  command.stdin.write(SENTENCE);
  await once(command.stdout, 'data');
  const ms = performance.now() - started;
  command.stdout.resume();
  command.stdin.end();
  await once(command, 'close');
  return ms;
}

async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Milliseconds until the first bytes of speech. */
async function chunkOverHttp(baseUrl, key, { text, voiceId }) {
  const started = performance.now();
  const headers = { ...key, 'content-type': 'application/json' };
  headers['idempotency-key'] = `bench-${Math.random()}`;
  const body = JSON.stringify({ text, voiceId, format: 'wav' });
  const answer = await fetch(`${baseUrl}/api/open/v3/speech/tts`, {
    method: 'POST',
    headers,
    body,
  });
  if (answer.status !== 200) throw new Error(`Speech is answered with ${answer.status}.`);
  const reader = answer.body.getReader();
  await reader.read();
  const ms = performance.now() - started;
  // Speech goes on in the engine until its reader has left.
  while (!(await reader.read()).done);
  return ms;
}

async function handshake(realtimeUrl, headers) {
  const socket = new WebSocket(`${realtimeUrl}/v3/tts/live`, [SUBPROTOCOL], { headers });
  await once(socket, 'message');
  socket.close();
}

async function firstOf(client, realtimeUrl, { apiKey, text, voiceId }) {
  const conversation = converse(client, { url: realtimeUrl, apiKey, voiceId, mode: 'simple' });
  conversation.begin();
  await conversation.say(text);
  conversation.finish();
  for await (const _audio of conversation.audio) break;
  conversation.stop(new Error('heard'));
}

/** The whole command, whose output is read slowly. */
async function memory(url, scratch) {
  const note = path.join(scratch, 'peak.txt');
  const hook = path.join(scratch, 'peak.cjs');
  writePeakHook(hook, note);
  const flags = [
    '--mode',
    'reliable',
    '--format',
    'pcm',
    '-v',
    'v',
    '-m',
    'm',
    '-q',
    '--max-bytes',
    '1000000000',
  ];
  const command = spawn(process.execPath, ['--require', hook, foley, 'live', 'Hello.', ...flags], {
    env: {
      ...process.env,
      FOLEY_BASE_URL: url,
      FOLEY_API_KEY: 'bench',
      HOME: scratch,
      XDG_STATE_HOME: path.join(scratch, 'state'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const started = performance.now();
  let size = 0;
  for await (const chunk of command.stdout) {
    size += chunk.length;
    const aheadMs = (size / SLOW_BYTES_PER_SECOND) * 1_000 - (performance.now() - started);
    if (aheadMs > 5) await new Promise((resolve) => setTimeout(resolve, aheadMs));
  }
  if (size < LONG_BYTES) throw new Error(`Only ${size} bytes came.`);
  const peak = Number(readFileSync(note, 'utf8')) * 1024;
  return {
    name: `${Math.round(peak / 1e6)} MB for ${LONG_BYTES / 1e6} MB, × of ${MEMORY_BYTES / 1e6} MB`,
    ratio: peak / MEMORY_BYTES,
    limit: 1,
  };
}

/** What everybody would write first: decode each message, and write its audio. */
async function listenBare(address, write) {
  const decoder = new Decoder();
  const url = `ws://${address}/v3/tts/live`;
  const socket = new WebSocket(url, [SUBPROTOCOL], { perMessageDeflate: false });
  const say = (event, fields = {}) => socket.send(encode({ event, eventId: event, ...fields }));
  socket.on('message', (data) => {
    const message = decoder.decode(data);
    if (message.event === 'authenticated') say('start', { mode: 'reliable', requestId: 'r' });
    if (message.event === 'ready') {
      say('text', { sequence: 1, text: 'Hello.' });
      say('flush', { segmentId: 's1' });
      say('stop');
    }
    if (message.event === 'finish') socket.close();
    if (message.event !== 'audio') return;
    const full = write(message.audio);
    if (full === undefined) return;
    socket.pause();
    void full.then(() => socket.resume());
  });
  await once(socket, 'close');
}

async function listen(client, address, write) {
  const conversation = converse(client, { url: `ws://${address}`, mode: 'reliable' });
  conversation.begin();
  await conversation.say('Hello.');
  conversation.finish();
  for await (const audio of conversation.audio) await write(audio);
}

function converse(client, { url, mode, apiKey = 'bench', voiceId = 'v' }) {
  const clock = {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    after: (ms, call) => {
      const timer = setTimeout(() => call(), ms);
      return () => clearTimeout(timer);
    },
  };
  const timeouts = client.liveTimeouts({});
  const options = {
    url: new URL(`${url}/v3/tts/live`),
    subprotocol: SUBPROTOCOL,
    apiKey,
    requestId: 'bench',
    userAgent: 'bench',
    clock,
    timeoutMs: timeouts.replyMs,
    onResponse: () => {},
    onConnect: () => {},
  };
  const requestId = `bench-${Math.random()}`;
  const request = { voiceId, modelId: 'vendor-s21pro-flash', format: 'wav' };
  return new client.Conversation(
    { protocol: 'v3', mode, requestId, request, maxRetries: 0, timeouts },
    {
      clock,
      random: { fraction: Math.random },
      openSocket: client.openWebSockets(options, {}),
      onNotice: () => {},
    },
  );
}
