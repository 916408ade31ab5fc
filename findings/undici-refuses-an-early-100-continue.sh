#!/usr/bin/env bash
# Does undici accept `100 Continue` before a response, although the request did not ask for it?
#
# One would guess: yes. RFC 9110, section 15.2: a client must be able to parse 1xx responses that it does not expect.
# Seen with undici 7.30.2 (Node 20.20.2): it closes the connection with "bad response". The final response, here in the same
# packet, is lost. It accepts 102 and 103. Node's http accepts all three.
# Why it matters: the request is complete by then, and may be billed. foley reports exit 25, and the next command asks the
# service again under the same key. No service or proxy of the tests sends an early 100; old ones (IIS 5) did.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"private":true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts undici@7.30.2

cat >early.mjs <<'SCRIPT'
import { createServer } from 'node:net';
import { get } from 'node:http';
import { Agent, request } from 'undici';
let isAsSeen = true;
for (const interim of ['100 Continue', '102 Processing', '103 Early Hints']) {
  const server = createServer((socket) => {
    const answer = `HTTP/1.1 ${interim}\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello`;
    socket.on('error', () => {}).once('data', () => socket.end(answer));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  const dispatcher = new Agent();
  const ofUndici = await request(url, { dispatcher }).then(({ body }) => body.text(), (error) => `error: ${error.message}`);
  const ofNode = await new Promise((resolve) => {
    get(url, (response) => response.setEncoding('utf8').on('data', resolve)).on('error', resolve);
  });
  await dispatcher.destroy();
  server.close();
  console.log(`${interim}: undici ${ofUndici}, node:http ${ofNode}`);
  isAsSeen &&= ofNode === 'hello' && ofUndici === (interim.startsWith('100') ? 'error: bad response' : 'hello');
}
process.exit(isAsSeen ? 0 : 1);
SCRIPT
node early.mjs
