#!/usr/bin/env bash
# pysubs2 reads a WebVTT cue as empty if its text has exactly two inline times.
#
# One would guess: inline times such as <00:00:00.300> are markup of the cue, whatever their number.
# Version: pysubs2 1.8.1 (PyPI).
# Seen: the cue with two inline times is read as two cues without text. Cues with one or three keep their text:
#   1 ['One <00:00:00.300>two']
#   2 ['', '']
#   3 ['One <00:00:00.300>two <00:00:00.600>three <00:00:00.900>four']
# Cause: the reader takes every line with two times for the line that begins a cue.
# Why it matters to foley: `--cue-by word` writes an inline time before each word but the first, so lines of three words
# vanish in programs that use pysubs2. SubRip files are not affected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pysubs2==1.8.1
"$folder/venv/bin/python" - <<'PYTHON'
import pysubs2

HEAD = "WEBVTT\n\n00:00:00.000 --> 00:00:02.000\n"
WORDS = ["One ", "<00:00:00.300>two ", "<00:00:00.600>three ", "<00:00:00.900>four"]
texts = {}
for times in (1, 2, 3):
    cue = "".join(WORDS[: times + 1]).strip()
    texts[times] = [event.plaintext for event in pysubs2.SSAFile.from_string(HEAD + cue + "\n")]
    print(times, texts[times])
assert texts[2] == ["", ""], "a cue with two inline times is read now"
assert texts[1] != [""] and texts[3] != [""]
PYTHON
