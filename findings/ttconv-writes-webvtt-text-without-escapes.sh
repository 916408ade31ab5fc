#!/usr/bin/env bash
# One would guess: a converter to WebVTT escapes `<` and `&` of the text, as the W3C's format requires, so that a viewer
# sees the words of the source.
# ttconv 1.2.3 (of the people who write IMSC) writes the text of a TTML paragraph into WebVTT as it is: "a &lt;b&gt; c"
# becomes `a <b> c`, whose middle word a browser reads as a tag and does not show. SubRip output has the same row.
# It matters to foley: a round trip of captions through WebVTT loses words without a message. foley escapes both signs
# (`foley captions talk.ttml --subtitles talk.vtt`), and compares with ttconv by SubRip without such text.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv tools
tools/bin/pip install --quiet ttconv==1.2.3
cat >talk.ttml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<tt xmlns="http://www.w3.org/ns/ttml" xml:lang="en"><body><div><p begin="1s" end="2s">press &lt;Enter&gt; &amp;amp; wait</p></div></body></tt>
XML
tools/bin/tt convert -i talk.ttml -o talk.vtt >/dev/null 2>&1
grep 'press' talk.vtt
grep --quiet --fixed-strings 'press <Enter> &amp; wait' talk.vtt
