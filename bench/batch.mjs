// Many short texts through jobs of 30 ms each: `foley batch` against a shell script that creates,
// polls and downloads with `xargs -P8` and curl, against what eight at a time can take at best, and, in processor time,
// against a client of node:http that does nothing else.
import { fork, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from './measure.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const foley = path.join(here, '../bin/foley.cjs');
const ITEMS = 500;
const CONCURRENCY = 8;
const WORK_MS = 30;
const IDEAL_MS = (ITEMS / CONCURRENCY) * WORK_MS;
// Even, because batch and client take turns to run right after the script.
const ROUNDS = Number(process.env.FOLEY_BATCH_ROUNDS ?? 6);

export const title = `batch of ${ITEMS} items of ${WORK_MS} ms, ${CONCURRENCY} at a time`;

/** One item: create, ask until it is done, download. */
const ITEM = `#!/bin/sh
location=$(curl -s -o /dev/null -D - -X POST -H "Authorization: Bearer bench" -H "Content-Type: application/json" \\
  -H "Idempotency-Key: $RUN-$1" -d "{\\"text\\":\\"Item $1 says so.\\",\\"voiceId\\":\\"v\\"}" "$BASE/api/open/v3/speech/tts/jobs" |
  sed -n 's/^Location: *\\([^\\r]*\\).*/\\1/p')
until curl -s -H "Authorization: Bearer bench" "$BASE$location" | grep -q '"status":"success"'; do :; done
curl -s -f -H "Authorization: Bearer bench" -o "$OUT/$1.mp3" "$BASE$location/audio"
`;

export async function measure() {
  const scratch = mkdtempSync(path.join(tmpdir(), 'foley-bench-'));
  const server = fork(path.join(here, 'job-server.mjs'));
  const tell = () =>
    new Promise((resolve) => {
      server.once('message', resolve);
      server.send('tell');
    });
  try {
    const { port } = await new Promise((resolve) => server.once('message', resolve));
    const place = { base: `http://127.0.0.1:${port}`, scratch };
    writeFileSync(path.join(scratch, 'item.sh'), ITEM, { mode: 0o755 });
    const lines = Array.from({ length: ITEMS }, (_, index) => `Item ${index + 1} says so.`);
    writeFileSync(path.join(scratch, 'lines.txt'), `${lines.join('\n')}\n`);
    const runs = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const script = await run(place, `script-${round}`, scriptCommand, tell);
      const runBatch = () => run(place, `batch-${round}`, batchCommand, tell);
      const early = round % 2 === 0 ? await runBatch() : undefined;
      const client = await run(place, `client-${round}`, clientCommand, tell);
      const batch = early ?? (await runBatch());
      // The first round warms the disk cache.
      if (round > 0) runs.push({ script, batch, client });
    }
    return rows(runs);
  } finally {
    server.disconnect();
    rmSync(scratch, { recursive: true, force: true });
  }
}

function rows(runs) {
  const wall = (pick) => median(runs.map((run_) => pick(run_).ms));
  const cpuMs = median(runs.map(({ batch }) => batch.cpuMs));
  const cpu = median(runs.map(({ batch, client }) => batch.cpuMs / client.cpuMs));
  const ratio = median(runs.map(({ script, batch }) => batch.ms / script.ms));
  const batchMs = wall(({ batch }) => batch);
  const requests = median(runs.map(({ batch }) => batch.requests / ITEMS));
  // Single rounds of one build vary between 1.7 and 2.0.
  const mostCpu = 2.2;
  return [
    { name: 'xargs -P8 and curl', ratio: 1, medianMs: wall(({ script }) => script) },
    { name: 'foley batch × that script', ratio, medianMs: batchMs, limit: 0.6 },
    { name: 'foley batch × the ideal', ratio: batchMs / IDEAL_MS, medianMs: batchMs, limit: 1.4 },
    { name: 'CPU × that of a bare client', ratio: cpu, medianMs: cpuMs, limit: mostCpu },
    { name: 'requests an item', ratio: requests },
  ];
}

/** Runs a command under bash, which tells its processor time. */
async function run(place, name, command, tell) {
  const out = path.join(place.scratch, name);
  mkdirSync(out);
  const { script, env } = command(place, out);
  const started = performance.now();
  const { status, stderr } = spawnSync(
    'bash',
    ['-c', `TIMEFORMAT='cpu %U %S'; time { ${script}; }`],
    {
      env: {
        PATH: process.env.PATH,
        FOLEY_KEEP_ALIVE: '0',
        RUN: name,
        HOME: out,
        OUT: out,
        ...env,
      },
    },
  );
  const ms = performance.now() - started;
  const files = readdirSync(out).filter((file) => file.endsWith('.mp3')).length;
  if (status !== 0 || files !== ITEMS) {
    throw new Error(`${name} ended with ${status} and ${files} files: ${stderr.toString()}`);
  }
  const [, user, system] = /cpu (\S+) (\S+)/.exec(stderr.toString());
  const { jobs, requests } = await tell();
  if (jobs !== ITEMS) throw new Error(`${name} created ${jobs} jobs`);
  return { ms, cpuMs: (Number(user) + Number(system)) * 1_000, requests };
}

function scriptCommand({ base, scratch }) {
  return {
    script: `seq ${ITEMS} | xargs -P${CONCURRENCY} -n1 ${path.join(scratch, 'item.sh')}`,
    env: { BASE: base },
  };
}

function batchCommand({ base, scratch }, out) {
  const lines = path.join(scratch, 'lines.txt');
  const args = `batch --lines ${lines} -j ${CONCURRENCY} -v v -q --output-dir ${out}`;
  return {
    script: `'${process.execPath}' '${foley}' ${args}`,
    // One home for all rounds, because it holds the compiled code, which only a user's first batch lacks.
    env: {
      FOLEY_BASE_URL: base,
      FOLEY_API_KEY: 'bench',
      HOME: scratch,
      XDG_STATE_HOME: path.join(out, '.state'),
    },
  };
}

function clientCommand({ base, scratch }, out) {
  const client = path.join(here, 'job-client.mjs');
  const lines = path.join(scratch, 'lines.txt');
  return {
    script: `'${process.execPath}' '${client}' ${base} ${lines} ${out} ${CONCURRENCY} ${WORK_MS}`,
    env: {},
  };
}
