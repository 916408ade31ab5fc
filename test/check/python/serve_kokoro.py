"""Starts the server of kokoro-cli with a model and voices that foley downloads: serve_kokoro.py KOKORO_FOLDER WORK_FOLDER.

Prints the URL. kokoro-cli wants one file with all voices, of a known checksum.
"""

import hashlib
import os
import sys
from pathlib import Path

from kokoro_voices import write_voices

KOKORO, WORK = Path(sys.argv[1]), Path(sys.argv[2])
MODEL = "kokoro-v1.0.int8.onnx"
VOICES = WORK / "voices-v1.0.bin"

os.environ["KOKORO_MODEL_DIR"] = str(WORK)
os.symlink(KOKORO / MODEL, WORK / MODEL)
write_voices(KOKORO, VOICES)

from kokoro_cli import engine, models, service  # noqa: E402

digest = hashlib.sha256(VOICES.read_bytes()).hexdigest()
models.VOICES_ASSET = (VOICES.name, VOICES.stat().st_size, digest)
server = service.create_server(engine.SpeechEngine("int8"), "127.0.0.1", 0)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
