#!/usr/bin/env bash
# Which `Origin` does a WebSocket client outside of a browser send?
#
# One would guess: none. Only browsers send `Origin`, so that a service can tell web pages from programs by this header.
# Seen with websocket-client 1.8.0 (PyPI): each handshake has the address that it connects to as `Origin`
# (`http://127.0.0.1:PORT` for ws://127.0.0.1:PORT), also with an Authorization header, unless `suppress_origin` is set. The
# WebSocket of undici 7.16.0 (npm) sends no `Origin`, although it implements the interface of browsers.
# Why it matters: a service that refuses handshakes with `Origin` and without a ticket also refuses Python programs that have
# an API key.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check websocket-client==1.8.0
printf '{"private":true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts ws@8.18.3 undici@7.16.0

cat >server.cjs <<'EOF'
const { WebSocketServer } = require('ws');
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' }, () => console.log(server.address().port));
server.on('connection', (socket, { headers: { host, origin } }) => {
  socket.send(origin === undefined ? 'none' : origin === `http://${host}` ? 'own address' : origin);
});
EOF
cat >undici.cjs <<'EOF'
const { WebSocket } = require('undici');
const socket = new WebSocket(process.argv[2], { headers: { authorization: 'Bearer key' } });
socket.onmessage = ({ data }) => {
  console.log(data);
  process.exit();
};
EOF
cat >client.py <<'EOF'
import sys, websocket
for options in ({}, {'header': ['Authorization: Bearer key']}, {'suppress_origin': True}):
    print(websocket.create_connection(sys.argv[1], timeout=10, **options).recv())
EOF
node server.cjs >port &
server=$!
until [ -s port ]; do sleep 0.1; done
address="ws://127.0.0.1:$(cat port)/"
seen=$(python/bin/python client.py "$address"; node undici.cjs "$address")
printf '%s\n' "$seen"
[ "$seen" = $'own address\nown address\nnone\nnone' ]
