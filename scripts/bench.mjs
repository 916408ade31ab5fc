// Runs every file of bench/ that measures something, prints its table, and fails above a limit.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root, setUp } from './set-up.mjs';

setUp();
// No engine stays ready between runs, unless a bench says otherwise.
process.env.FOLEY_KEEP_ALIVE = '0';
/** Files of bench/ that others use. */
const TOOLS = new Set([
  'measure.mjs',
  'aligned-server.mjs',
  'aligned-stream.mjs',
  'audio-server.mjs',
  'job-client.mjs',
  'job-server.mjs',
  'live-client.mjs',
  'live-server.mjs',
  'raw-speakers.mjs',
  'speech-servers.mjs',
]);

const wanted = process.argv.slice(2);
const names = readdirSync(path.join(root, 'bench')).filter(
  (name) =>
    name.endsWith('.mjs') &&
    !TOOLS.has(name) &&
    (wanted.length === 0 || wanted.includes(path.parse(name).name)),
);
// A process for each, because starting a command takes longer from a process with more memory.
if (names.length === 1) await measureOne(names[0]);
else names.forEach(measureAlone);

function measureAlone(name) {
  const args = [fileURLToPath(import.meta.url), path.parse(name).name];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}

async function measureOne(name) {
  const { title, measure } = await import(pathToFileURL(path.join(root, 'bench', name)));
  console.log(title);
  for (const row of await measure()) {
    const isAbove = row.limit !== undefined && row.ratio > row.limit;
    const verdict =
      row.limit === undefined ? '' : `${isAbove ? 'ABOVE' : '≤'} ${row.limit.toFixed(2)}`;
    const ratio = row.ratio.toFixed(2).padStart(7);
    const time = row.medianMs === undefined ? '' : `${row.medianMs.toFixed(0)} ms`;
    console.log(`  ${row.name.padEnd(34)} ${ratio} ×  ${time.padStart(9)}  ${verdict}`);
    if (isAbove) process.exitCode = 1;
  }
}
