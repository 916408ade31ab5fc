"""Starts the server local-tts-studio with a voice of Piper: serve_piper.py VOICES_FOLDER WORK_FOLDER KEY_FILE.

Prints the URL. The settings are those that its page for users saves.
"""

import json
import os
import socket
import sys
from pathlib import Path

VOICES, WORK, KEY = (Path(argument) for argument in sys.argv[1:])

os.environ["LOCAL_TTS_DATA_DIR"] = str(WORK)
settings = {
    "voices_dir": str(VOICES),
    "device": "cpu",
    "api_default_voice": "en_US-joe-medium",
    "api_key_enabled": True,
    "api_key": KEY.read_text().strip(),
}
(WORK / "settings.json").write_text(json.dumps(settings))

import uvicorn  # noqa: E402
from local_tts.server.app import app  # noqa: E402

listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen()
print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
uvicorn.run(app, fd=listening.fileno(), log_config=None, access_log=False)
