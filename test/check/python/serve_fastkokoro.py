"""Starts the server fastkokoro with a model that foley downloads: serve_fastkokoro.py KOKORO_FOLDER WORK_FOLDER.

Prints the URL.
"""

import os
import socket
import sys
from pathlib import Path

from kokoro_voices import write_voices

KOKORO, WORK = Path(sys.argv[1]), Path(sys.argv[2])
write_voices(KOKORO, WORK / "voices.bin")
os.environ.update(
    FASTKOKORO_MODEL_PATH=str(KOKORO / "kokoro-v1.0.int8.onnx"),
    FASTKOKORO_VOICES_PATH=str(WORK / "voices.bin"),
    FASTKOKORO_CACHE_DIR=str(WORK / "fastkokoro"),
    HF_HUB_OFFLINE="1",
)

import uvicorn  # noqa: E402
from fastkokoro.server import app  # noqa: E402

listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen()
print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
uvicorn.run(app, fd=listening.fileno())
