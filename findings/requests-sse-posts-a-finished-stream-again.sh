#!/usr/bin/env bash
# requests-sse sends a POST again when its stream of events has ended properly.
#
# One would guess: a client reconnects when a connection breaks, and never repeats a POST whose response was complete.
# Version: requests-sse 0.5.3 (PyPI).
# Seen: after the complete response (chunked, with its last chunk), the client waits 10 seconds and sends the same POST
# with the same body. It prints: POST requests in 15 seconds: 2
# Why it matters to foley: the aligned stream is a paid POST. Without an Idempotency-Key, each repetition is a purchase.
# With the key, the service refuses the repetition with 409 and without a charge.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet requests-sse==0.5.3
"$folder/venv/bin/python" - <<'PYTHON'
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from requests_sse import EventSource

BODY = b"event: completed\ndata: {}\n\n"
bodies = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY))

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()


def listen():
    url = f"http://127.0.0.1:{server.server_port}/"
    with EventSource(url, method="POST", json={"text": "Hello."}) as source:
        for _ in source:
            pass


threading.Thread(target=listen, daemon=True).start()
time.sleep(15)
print("POST requests in 15 seconds:", len(bodies))
assert len(bodies) >= 2 and len(set(bodies)) == 1, "the finished POST is not sent again any more"
PYTHON
