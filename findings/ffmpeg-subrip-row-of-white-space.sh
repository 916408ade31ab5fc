#!/usr/bin/env bash
# Which words of a SubRip cue does ffmpeg read after an empty row, and after a row that is only a space?
#
# One would guess: the same words in both cases. Either the cue ends at both rows, or it goes on after both.
# Seen with ffmpeg 9.0.2 of imageio-ffmpeg 0.8.1: the words after an empty row are read, and the words after a row with a space
# are lost without a message. pysubs2 1.8.1 and srt 3.5.3 read all words.
# Why it matters: automatic captions have rows of one space. Subtitles that came through ffmpeg have lost these words
# already, so ffmpeg alone cannot say which words of a cue are right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv tools
tools/bin/pip install --quiet imageio-ffmpeg==0.8.1 pysubs2==1.8.1 srt==3.5.3

printf '1\n00:00:01,000 --> 00:00:02,000\nThe lamp\n\nis lit.\n\n' >subtitles.srt
printf '2\n00:00:03,000 --> 00:00:04,000\nThe keeper\n \nclimbs.\n\n' >>subtitles.srt
cat >read.py <<'SCRIPT'
import subprocess
import imageio_ffmpeg
import pysubs2
import srt

args = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "warning", "-i", "subtitles.srt", "-f", "srt", "-"]
done = subprocess.run(args, capture_output=True, text=True, check=True)
words = lambda texts: [" ".join(text.split()) for text in texts]
print("ffmpeg ", words(cue.content for cue in srt.parse(done.stdout)), repr(done.stderr))
print("pysubs2", words(cue.plaintext for cue in pysubs2.load("subtitles.srt")))
print("srt    ", words(cue.content for cue in srt.parse(open("subtitles.srt").read())))
SCRIPT
seen=$(tools/bin/python read.py)
echo "$seen"
[ "$seen" = "ffmpeg  ['The lamp is lit.', 'The keeper'] ''
pysubs2 ['The lamp is lit.', 'The keeper climbs.']
srt     ['The lamp is lit.', 'The keeper climbs.']" ]
