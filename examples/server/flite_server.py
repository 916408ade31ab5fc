"""Lets the engine flite (Debian: apt install flite) speak as OpenAI's interface does.

python3 flite_server.py 8880
foley engine add flite --url http://127.0.0.1:8880
"""

import json
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

VOICES = ["slt", "rms", "awb"]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(200, {"voices": [{"id": voice, "language": "en-US"} for voice in VOICES]})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if request["voice"] not in VOICES:
            return self.answer(400, {"error": {"message": f"no voice {request['voice']}"}})
        with tempfile.TemporaryDirectory() as folder:
            text, wav = Path(folder, "text"), Path(folder, "speech.wav")
            text.write_text(request["input"], "utf-8")
            stretch = f"duration_stretch={1 / request.get('speed', 1)}"
            command = ["flite", "-voice", request["voice"], "--setf", stretch, "-f", text, "-o", wav]
            subprocess.run(command, check=True)
            self.answer(200, wav.read_bytes(), "audio/wav")

    def answer(self, status, body, kind="application/json"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *parts):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
