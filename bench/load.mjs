// The service under load: 64 clients that ask for short sentences for a minute without a pause, how
// long a person waits for the first sound of a long text, and the first byte of 1 to 128 clients.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from './measure.mjs';

const foley = fileURLToPath(new URL('../bin/foley.cjs', import.meta.url));
const CLIENTS = 64;
const SECONDS = Number(process.env.FOLEY_LOAD_SECONDS ?? 60);
const LONG_CHARACTERS = 10_000;
/** Late memory over early memory of a process that answers the same all the time. */
const MEMORY_LIMIT = 1.25;
const FIRST_SOUND_LIMIT = 1.3;
const FIRST_SOUND_ROUNDS = 31;
/** Each number of clients asks for texts of several sentences, without a pause, for so long. */
const CROWDS = [1, 8, 32, 128];
/** How many may wait: `--max-waiting` of its own accord. */
const MOST_WAITING = 64;
/** First byte of a crowd over that of one client, for each that is before it. */
const CROWD_LIMIT = 1.5;
/** Wall time of a sentence in a crowd over that of one client. */
const THROUGHPUT_LIMIT = 1.3;
const CROWD_SECONDS = Number(process.env.FOLEY_CROWD_SECONDS ?? 15);
const CROWD_SENTENCES = [
  'The kettle has been on for a while.',
  'Rain is coming in from the north.',
  'Nobody has seen the cat today.',
  'The train leaves at half past nine.',
];

export const title = `the service under load: ${CLIENTS} clients for ${SECONDS} s`;

export async function measure() {
  const scratch = mkdtempSync(path.join(tmpdir(), 'foley-bench-'));
  const serve = await startServe(scratch);
  try {
    const first = await firstSound(serve);
    const crowds = await crowdRows(serve);
    return [...(await load(serve)), ...first, ...crowds];
  } finally {
    await serve.end();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function startServe(scratch) {
  const args = [foley, 'serve', '--port', '0', '--json', '--data-dir', path.join(scratch, 'data')];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const line = await new Promise((resolve) => child.stdout.once('data', resolve));
  const { baseUrl, apiKey } = JSON.parse(line.toString());
  const agent = new Agent({ keepAlive: true });
  const ask = (method, route, body, options) =>
    askOnce({ agent, apiKey, url: baseUrl + route, method, body }, options);
  const voices = JSON.parse((await ask('GET', '/api/open/v3/voices')).text);
  return {
    speak: (text, options) =>
      ask(
        'POST',
        '/api/open/v3/speech/tts',
        { text, format: 'mp3', voiceId: voices.items[0].voiceId },
        options,
      ),
    residentBytes: () =>
      Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) *
      1024,
    end: async () => {
      agent.destroy();
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Asks and reads the answer, to its end or only its first bytes; gives when those came, and the end. */
function askOnce({ agent, apiKey, url, method, body }, { onlyFirst = false } = {}) {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
    const sent = request(url, { agent, method, headers }, (answer) => {
      let firstMs;
      const pieces = [];
      answer.on('data', (piece) => {
        firstMs ??= performance.now() - began;
        pieces.push(piece);
        if (answer.statusCode !== 200) return;
        if (!onlyFirst) return;
        resolve({ firstMs });
        answer.destroy();
      });
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(pieces).toString('latin1');
        const retryAfter = Number(answer.headers['retry-after']);
        if (answer.statusCode === 429 && retryAfter > 0) resolve({ retryAfter });
        else if (answer.statusCode !== 200) reject(new Error(`${answer.statusCode}: ${text}`));
        else resolve({ firstMs, ms: performance.now() - began, text });
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function load(serve) {
  const times = [];
  const memory = [];
  const until = performance.now() + SECONDS * 1_000;
  const client = async (number) => {
    for (let turn = 0; performance.now() < until; turn += 1) {
      const { ms } = await serve.speak(`Client ${number} asks again.`);
      times.push(ms);
    }
  };
  const sampling = setInterval(() => memory.push(serve.residentBytes()), 250);
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  clearInterval(sampling);
  const half = median(times);
  const slowest = quantile(times, 0.99);
  const third = Math.floor(memory.length / 3);
  const early = median(memory.slice(third, 2 * third));
  const late = median(memory.slice(2 * third));
  return [
    { name: `median of ${times.length} requests`, ratio: 1, medianMs: half },
    { name: 'p99 × the median', ratio: slowest / half, medianMs: slowest },
    { name: 'a request each', ratio: 1, medianMs: (SECONDS * 1_000) / times.length },
    {
      name: `memory late × earlier (${megabytes(late)} MB)`,
      ratio: late / early,
      limit: MEMORY_LIMIT,
    },
  ];
}

/** The first byte of admitted requests, those that were shed, and the wall time of a sentence. */
async function crowdRows(serve) {
  const rows = [];
  let single;
  let alone;
  for (const clients of CROWDS) {
    const { firsts, sentences, shed, seconds } = await crowd(serve, clients);
    const p95 = quantile(firsts, 0.95);
    const sentenceMs = (seconds * 1_000) / sentences;
    single ??= p95;
    alone ??= sentenceMs;
    rows.push(
      {
        name: `${clients} clients, first byte p95 (${firsts.length} admitted, ${shed} shed)`,
        ratio: p95 / single,
        medianMs: p95,
        limit: CROWD_LIMIT * Math.min(clients, MOST_WAITING),
      },
      {
        name: `${clients} clients, wall time of a sentence`,
        ratio: sentenceMs / alone,
        medianMs: sentenceMs,
        limit: THROUGHPUT_LIMIT,
      },
    );
  }
  return rows;
}

async function crowd(serve, clients) {
  const firsts = [];
  let [sentences, shed] = [0, 0];
  const began = performance.now();
  const until = began + CROWD_SECONDS * 1_000;
  const client = async () => {
    while (performance.now() < until) {
      const { firstMs, retryAfter } = await serve.speak(CROWD_SENTENCES.join(' '));
      if (retryAfter === undefined) {
        firsts.push(firstMs);
        sentences += CROWD_SENTENCES.length;
      } else {
        shed += 1;
        await new Promise((resolve) => setTimeout(resolve, retryAfter * 1_000));
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { firsts, sentences, shed, seconds: (performance.now() - began) / 1_000 };
}

function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

function megabytes(bytes) {
  return (bytes / 1_048_576).toFixed(0);
}

async function firstSound(serve) {
  const sentence = 'The sound of this begins at once.';
  const times = Math.ceil(LONG_CHARACTERS / sentence.length);
  const long = `${sentence} `.repeat(times).slice(0, LONG_CHARACTERS);
  const alone = [];
  const ratios = [];
  for (let round = 0; round < FIRST_SOUND_ROUNDS; round += 1) {
    // What is still being spoken for whoever left comes to its end.
    await serve.speak(sentence);
    const { firstMs } = await serve.speak(sentence);
    const whole = await serve.speak(long, { onlyFirst: true });
    alone.push(firstMs);
    ratios.push(whole.firstMs / firstMs);
  }
  return [
    { name: 'first sound of a sentence', ratio: 1, medianMs: median(alone) },
    {
      name: `first sound of ${LONG_CHARACTERS} characters`,
      ratio: median(ratios),
      medianMs: median(ratios) * median(alone),
      limit: FIRST_SOUND_LIMIT,
    },
  ];
}
