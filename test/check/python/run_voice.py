"""Runs the networks of hibari-tts with ONNX Runtime.

Reads JSON from stdin: {"sentences": [[phoneme ids]], "words": ["word"], "folder": "…"}. Writes the outputs for each sentence
as 32-bit floats, frame by frame, into files in the folder, named by number; prints {"words": {"word": "phonemes"}}.
"""

import json
import sys
from pathlib import Path

import hibari
import numpy
import onnxruntime

ASSETS = Path(hibari.__file__).parent / "assets"
OUTPUTS = ["lh", "theta", "ln", "lr", "phi"]


def read(network, alphabet, word):
    letters = [[alphabet["in"].index(letter) + 1 for letter in word]]
    found = ""
    last = 0
    for number in network.run(None, {"chars": numpy.array(letters, dtype=numpy.int64)})[0][0]:
        if number not in (0, last):
            found += alphabet["out"][number - 1]
        last = number
    return found


if __name__ == "__main__":
    task = json.load(sys.stdin)
    voice = onnxruntime.InferenceSession(str(ASSETS / "hibari.onnx"))
    speed = numpy.ones(1, numpy.float32)
    for number, ids in enumerate(task["sentences"]):
        inputs = {"ids": numpy.array([ids], dtype=numpy.int64), "speed": speed}
        rows = numpy.concatenate([output[0] for output in voice.run(OUTPUTS, inputs)])
        rows.T.astype("<f4").tofile(Path(task["folder"]) / str(number))
    words = onnxruntime.InferenceSession(str(ASSETS / "oov.onnx"))
    alphabet = json.loads((ASSETS / "oov.json").read_text("utf-8"))
    print(json.dumps({"words": {word: read(words, alphabet, word) for word in task["words"]}}))
