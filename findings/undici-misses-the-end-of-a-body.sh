#!/usr/bin/env bash
# Does undici report a reset connection, and bytes after the end of a response?
#
# One would guess: yes. Node's own parser reports both: the first as ECONNRESET, the second as HPE_CLOSED_CONNECTION.
# Seen with undici 7.30.2 (Node 20.20.2): neither.
# - A body without a length and without chunks ends with the connection. If the connection is reset, undici takes the bytes so
#   far as the whole body.
# - Bytes after a response with `Connection: close` are put back to the socket and dropped. After another response, undici
#   closes the connection, but the request has ended by then, and its caller gets no error.
# - The error for bytes that are no HTTP, HTTPParserError, has no code, although its type declares one (`HPE_…`).
# Why it matters: half of a recording plays, and a longer one may be two that a proxy mixed up. The client of foley opens the
# sockets itself, and asks them at the end of each body (src/api/transport/connections.ts).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"private":true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts undici@7.30.2

cat >body.mjs <<'SCRIPT'
import { createServer } from 'node:net';
import { Agent, request } from 'undici';
const OK = 'HTTP/1.1 200 OK\r\n';
const answers = {
  'a reset without a length': (socket) => {
    socket.write(`${OK}\r\nhello`);
    setTimeout(() => socket.resetAndDestroy(), 100);
  },
  'a byte more, then closed': (socket) => socket.end(`${OK}Connection: close\r\nContent-Length: 5\r\n\r\nhello!`),
  'a byte more, kept open': (socket) => socket.write(`${OK}Content-Length: 5\r\n\r\nhello!`),
  'no HTTP': (socket) => socket.write('hello\r\n\r\n'),
};
const seen = [];
for (const [name, answer] of Object.entries(answers)) {
  const server = createServer((socket) => socket.on('error', () => {}).once('data', () => answer(socket)));
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const dispatcher = new Agent();
  const url = `http://127.0.0.1:${server.address().port}/`;
  const result = await request(url, { dispatcher })
    .then(({ body }) => body.text())
    .catch((error) => `${error.name}, code ${error.code}`);
  console.log(`${name}: ${result}`);
  seen.push(result);
  await dispatcher.destroy();
  server.close();
}
process.exit(seen.join('; ') === 'hello; hello; hello; HTTPParserError, code undefined' ? 0 : 1);
SCRIPT
node body.mjs
