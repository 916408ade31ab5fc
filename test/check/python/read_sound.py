"""Prints the durations that libsndfile and mutagen read from audio files, and whether libsndfile can seek, as JSON."""

import json
import sys

import mutagen
import soundfile

shown = {}
for path in sys.argv[1:]:
    stated = mutagen.File(path).info.length
    if path.endswith((".m4a", ".m4b")):
        shown[path] = {"stated": stated}
        continue
    with soundfile.SoundFile(path) as file:
        whole = file.read()
        half = len(whole) // 2
        file.seek(half)
        rest = file.read()
        shown[path] = {
            "stated": stated,
            "decoded": len(whole) / file.samplerate,
            "seeks": bool(len(rest) == len(whole) - half and abs(rest - whole[half:]).max() < 0.05),
        }
print(json.dumps(shown))
