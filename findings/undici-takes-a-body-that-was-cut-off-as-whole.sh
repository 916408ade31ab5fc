#!/usr/bin/env bash
# Does undici notice a chunked body without its last chunk?
#
# One would guess: always, because only the last chunk ends the body.
# Seen with undici 6.25.0 and 7.25.0 (Node 20.20.2 has 6.24.1 inside, as the global fetch): not if the response says
# `Connection: close`. The bytes so far are then the whole body, without an error. Without that header, it is an error. So is a
# body shorter than its Content-Length, in both cases. undici 6.26.0 and 7.26.0 report an error here, too.
# Why it matters: a service that ends, or a proxy in front of it, sends this header just when bodies are cut off, and half a
# sentence of speech is a file that plays. A test of foley that expects a body that is cut off failed once, after another
# test had called the global fetch of Node 20. The client of foley sends with undici 7.30.2 and dispatchers of its own.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"private":true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts \
  undici-6.25@npm:undici@6.25.0 undici-6.26@npm:undici@6.26.0 undici-7.25@npm:undici@7.25.0 undici-7.26@npm:undici@7.26.0

cat >body.mjs <<'SCRIPT'
import { createServer } from 'node:net';
const body = { chunked: 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', length: 'Content-Length: 9\r\n\r\nhello' };
const ask = async (version, connection, kind) => {
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nConnection: ${connection}\r\n${body[kind]}`);
      setTimeout(() => socket.end(), 50);
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { Agent, request } = await import(`undici-${version}`);
  try {
    const answer = await request(`http://127.0.0.1:${server.address().port}/`, { dispatcher: new Agent() });
    return `whole: ${await answer.body.text()}`;
  } catch (error) {
    return `error: ${error.message}`;
  } finally {
    server.close();
  }
};
let isAsSeen = true;
for (const version of ['6.25', '6.26', '7.25', '7.26']) {
  for (const connection of ['keep-alive', 'close']) {
    for (const kind of ['chunked', 'length']) {
      const seen = await ask(version, connection, kind);
      console.log(`undici ${version}, Connection: ${connection}, ${kind}: ${seen}`);
      const isWhole = version.endsWith('25') && connection === 'close' && kind === 'chunked';
      isAsSeen &&= seen.startsWith(isWhole ? 'whole: hello' : 'error: ');
    }
  }
}
process.exit(isAsSeen ? 0 : 1);
SCRIPT
node body.mjs
