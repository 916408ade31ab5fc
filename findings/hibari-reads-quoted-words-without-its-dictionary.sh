#!/usr/bin/env bash
# hibari-tts reads a word beside a double quotation mark without its dictionary, and drops the mark.
#
# One would guess: "Hello" in quotation marks has the same phonemes as Hello, since the dictionary has the word and the
# voice's alphabet has quotation marks.
# Version: hibari-tts 0.2.1 (PyPI), with its American dictionary.
# Seen:
#   Hello, he said.    həlˈO, hi sˈɛd.
#   "Hello," he said.  hˈɛlO, hi sˈɛd.
#   He said "that".    hˌi sˈɛd θˈæt.
# Cause: the mark and the word are looked up as one word. The dictionary does not have it, so the network for unknown
# words reads it.
# Why it matters to foley: the check of foley's own phonemes against this package uses sentences without quotation marks,
# and foley reads quoted words with the dictionary.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet hibari-tts==0.2.1 numpy==2.4.6 onnxruntime==1.32.0
"$folder/venv/bin/python" - <<'PYTHON'
from hibari import Hibari

voice = Hibari()
read = {text: voice.phonemize(text)[0] for text in ("Hello, he said.", '"Hello," he said.', 'He said "that".')}
for text, phonemes in read.items():
    print(f"{text:18} {phonemes}")
assert read["Hello, he said."] == "həlˈO, hi sˈɛd."
assert read['"Hello," he said.'] == "hˈɛlO, hi sˈɛd.", "the quoted word has the phonemes of the dictionary now"
assert read['He said "that".'] == "hˌi sˈɛd θˈæt."
PYTHON
