#!/usr/bin/env bash
# One would guess: a reader of TTML, an XML format without a meaning for braces and backslashes, keeps them as text.
# pysubs2 1.8.1 keeps every format in the markup of Advanced SubStation Alpha and does not escape what it reads: a word in
# braces is an override and vanishes from the plain text, and `\N` within a path becomes a line break. Its own writer
# then loses the word in every format.
# It matters to foley: it is the reader with which subtitle workflows check files. foley reads such text as it stands
# (`foley captions talk.ttml --subtitles talk.srt`), and its comparison with pysubs2 has no braces.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv tools
tools/bin/pip install --quiet pysubs2==1.8.1
cat >talk.ttml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<tt xmlns="http://www.w3.org/ns/ttml" xml:lang="en"><body><div><p begin="1s" end="2s">the set {red} is in C:\New</p></div></body></tt>
XML
tools/bin/python - <<'SCRIPT'
import pysubs2

read = pysubs2.load("talk.ttml")
print(repr(read[0].plaintext))
assert read[0].plaintext == "the set  is in C:\new"
assert "red" not in read.to_string("srt")
SCRIPT
