#!/usr/bin/env bash
# One would guess: chained Ogg streams, which RFC 3533 allows, are one sound for every reader.
# libsndfile 1.2.2 (soundfile 0.13.1) and mutagen 1.47.0 report only one of two chained Ogg Opus or Vorbis streams: of twice
# one second, each says one second, without an error.
# It matters to foley: joined parts of a long text would be cut short for everybody who reads them with Python. foley
# encodes the parts together, as one stream.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet soundfile==0.13.1 mutagen==1.47.0 numpy
cat >run.py <<'SCRIPT'
import sys

import mutagen
import numpy
import soundfile

# Two streams of one second with different serial numbers, one after the other.
sound = 0.3 * numpy.sin(numpy.arange(48000) / 20)
wrong = []
for codec in ["VORBIS", "OPUS"]:
    name = f"{codec}.ogg"
    parts = []
    for number in range(2):
        soundfile.write(name, sound, 48000, format="OGG", subtype=codec)
        parts.append(open(name, "rb").read())
    serials = {part[14:18] for part in parts}
    with open(name, "wb") as file:
        file.write(b"".join(parts))
    read = len(soundfile.read(name)[0]) / 48000
    stated = mutagen.File(name).info.length
    print(codec, {"serials": len(serials), "libsndfile": read, "mutagen": stated})
    if len(serials) != 2 or read > 1.1 or stated > 1.1:
        wrong.append(codec)
sys.exit(1 if wrong else 0)
SCRIPT
python/bin/python run.py
