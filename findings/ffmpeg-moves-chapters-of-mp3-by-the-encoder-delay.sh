#!/usr/bin/env bash
# One would guess: ffmpeg reads a chapter that begins at 2 s in an mp3 as 2 s, also where it copies the chapters to its own
# text format, which has no sound.
# ffmpeg 9.0.2 (in imageio-ffmpeg 0.8.1) prints 2.000 when it opens the file, and writes 1.975 to the text: it subtracts the
# start time of the sound, which is the encoder delay of the Info tag (25 ms).
# It matters to foley: chapters of mp3 are times of the heard sound. A comparison with ffmpeg must allow for the delay, or
# it would "mend" chapters that are right.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet imageio-ffmpeg==0.8.1
ffmpeg="$(venv/bin/python -c 'import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())')"
printf ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=2000\ntitle=one\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=2000\nEND=4000\ntitle=two\n' >chapters.txt
"$ffmpeg" -loglevel error -f lavfi -i sine=frequency=300:duration=4 -i chapters.txt -map_metadata 1 -map_chapters 1 -map 0 a.mp3
"$ffmpeg" -hide_banner -i a.mp3 -f ffmetadata mp3.txt 2>mp3.log
echo "opened as $(grep -A20 '^Input' mp3.log | grep -o 'start 2[^,]*' | head -1), written as $(grep '^START' mp3.txt | tail -1) of $(grep '^TIMEBASE' mp3.txt | tail -1)"
seconds() { awk -F= '/^TIMEBASE/{split($2,b,"/")} /^START/{s=$2} END{printf "%.3f", s/b[2]}' "$1"; }
[ "$(seconds mp3.txt)" = 1.975 ]
grep -q 'start 2.000' mp3.log
