// The engines of natural voices: loading, speed, first audio and memory. Measures the engines whose models are in
// $FOLEY_MODELS, by default where `foley engine add` stores them.
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { loadTypeScript } from '../scripts/load-typescript.mjs';
import { root, setUpPackages } from '../scripts/set-up.mjs';
import { median } from './measure.mjs';

const DATA = process.env.XDG_DATA_HOME ?? path.join(homedir(), '.local/share');
const MODELS = process.env.FOLEY_MODELS ?? path.join(DATA, 'foley/models');

/** Voice of each engine, and its goals: seconds for a second of speech, and seconds until the first audio. */
const ENGINES = [
  { name: 'kokoro', voice: 'af_heart', goals: { realTime: 1, firstAudio: 1.5 } },
  { name: 'piper', voice: 'en_US-joe-medium', goals: { realTime: 0.2, firstAudio: 0.4 } },
];

const SHORT = 'Good morning, everyone.';
const PARAGRAPH =
  'The old bridge over the river is open again, and nobody knows why. We bought bread, cheese and a bottle of water ' +
  'in the small shop. Did you hear the train leave at seven? The children played in the garden until it was dark.';
const ROUNDS = 7;
const TICKS_PER_SECOND = 100;

export const title = 'natural voices, × the goal';

export async function measure() {
  const found = ENGINES.filter(({ name }) => existsSync(path.join(MODELS, name)));
  if (found.length === 0) console.log(`  no models in ${MODELS}: run foley engine add piper`);
  const rows = [];
  for (const engine of found) rows.push(...(await measured(engine)));
  return rows;
}

async function measured({ goals, name, voice }) {
  setUpPackages(path.join(root, 'engines/parts'));
  const started = performance.now();
  const { engine, pid } = await start(name, voice);
  const cold = await speak(engine, voice, SHORT);
  const coldMs = performance.now() - started - cold.wholeMs + cold.firstMs;
  const first = [];
  const whole = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    first.push((await speak(engine, voice, SHORT)).firstMs);
    whole.push(await speak(engine, voice, PARAGRAPH));
  }
  const megabytes = peakMegabytes(pid());
  const cpuOf = async (text) => {
    const before = cpuSeconds(pid());
    const { seconds } = await speak(engine, voice, text);
    return { cpu: cpuSeconds(pid()) - before, seconds };
  };
  const short = await cpuOf(SHORT);
  const long = await cpuOf(PARAGRAPH);
  await engine.close();
  const row = (what, ms, goalMs) => ({
    name: `${name}: ${what}`,
    ratio: ms / goalMs,
    medianMs: ms,
  });
  return [
    row('first audio, new process, × 1 s', coldMs, 1000),
    row(`first audio, warm, × ${goals.firstAudio} s`, median(first), goals.firstAudio * 1000),
    row('first audio, warm, least', Math.min(...first), goals.firstAudio * 1000),
    row(
      `second of speech, warm, × ${goals.realTime} s`,
      median(whole.map(msForSecond)),
      goals.realTime * 1000,
    ),
    row(
      'second of speech, warm, least',
      Math.min(...whole.map(msForSecond)),
      goals.realTime * 1000,
    ),
    row('short sentence, warm, CPU', short.cpu * 1000, goals.firstAudio * 1000),
    row('second of speech, warm, CPU', (long.cpu / long.seconds) * 1000, goals.realTime * 1000),
    { name: `${name}: peak of memory, × 1 GB`, ratio: megabytes / 1024 },
  ];
}

function msForSecond({ seconds, wholeMs }) {
  return wholeMs / seconds;
}

/** Registers an engine without a trial, so that its first request starts the process. */
async function start(name, voice) {
  const { createProcessEngine } = await loadTypeScript(
    'src/service/engine/process/process-engine.ts',
  );
  const { engineLauncher } = await loadTypeScript('src/service/engine/process/launch-engine.ts');
  const launchEngine = engineLauncher({ env: process.env, nodePath: process.execPath });
  let child;
  const launch = (command) => (child = launchEngine(command));
  const args = ['engine.mjs', '--model-folder', path.join(MODELS, name)];
  if (name === 'kokoro') args.push('--reader', path.join(root, 'dist/english-reader.cjs'));
  const cwd = path.join(root, 'engines', name);
  const described = {
    protocol: 2,
    version: '1.0.0',
    license: 'MIT',
    models: [{ id: `local-${name}` }],
    controls: ['speed'],
  };
  const sampleRate = { kokoro: 24_000, piper: 22_050 }[name];
  const voices = [{ id: voice, language: 'en-US', sampleRate, words: true }];
  const registration = { name, command: 'node', args, cwd, ...described, voices };
  return {
    engine: createProcessEngine({ registration, launch, processes: 1 }),
    pid: () => child.pid,
  };
}

async function speak(engine, voice, text) {
  const started = performance.now();
  const request = { text, voice, speed: 1, pitch: 0, isTimed: true };
  let firstMs;
  let seconds = 0;
  for await (const chunk of engine.synthesize(request, new AbortController().signal)) {
    if (chunk.samples.length > 0) firstMs ??= performance.now() - started;
    seconds += chunk.samples.length / chunk.sampleRate;
  }
  return { firstMs, seconds, wholeMs: performance.now() - started };
}

/** CPU time of all threads, in seconds. Other programs of the machine change it little. */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  return (user + system) / TICKS_PER_SECOND;
}

function peakMegabytes(pid) {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return kilobytes / 1024;
}
