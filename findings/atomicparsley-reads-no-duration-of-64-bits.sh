#!/usr/bin/env bash
# One would guess: a program that reads MP4 reads both versions of the movie header (ISO/IEC 14496-12, 8.2.2): version 1, with
# times of 64 bits, is for durations that 32 bits cannot hold, and ffmpeg writes it as soon as it is needed.
# AtomicParsley 20210715.151551.e7ad03a (Debian) reads version 0 only: a file of 22 hours has "Movie duration: 0.000 seconds"
# and an absurd bit rate. mutagen 1.48.1 and ffmpeg (imageio-ffmpeg 0.8.1) read both. The timescale decides: with 1,000 ticks
# a second, the same file has version 0.
# It matters to foley: an m4b has version 1 only where it has to, in books of more than 20 hours.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p lists/partial
apt=(-o "Dir::State::lists=$folder/lists" -o Dir::Cache::pkgcache= -o Debug::NoLocking=1)
apt-get "${apt[@]}" -qq update
apt-get "${apt[@]}" -qq download 'atomicparsley=20210715.151551.e7ad03a-1+b1'
dpkg-deb -x atomicparsley_*.deb .
python3 -m venv venv
venv/bin/pip install --quiet imageio-ffmpeg==0.8.1 mutagen==1.48.1
ffmpeg="$(venv/bin/python -c 'import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())')"
"$ffmpeg" -v error -f lavfi -i anullsrc=r=8000:cl=mono -t 600 -c:a aac minutes.m4a
for timescale in 1000 60000; do
  "$ffmpeg" -v error -stream_loop 131 -i minutes.m4a -c copy -movie_timescale "$timescale" "$timescale.m4a"
  usr/bin/AtomicParsley "$timescale.m4a" -T 1 | tee "$timescale.txt" | grep 'Movie duration'
  venv/bin/python -c 'import sys; from mutagen.mp4 import MP4; print(round(MP4(sys.argv[1]).info.length))' "$timescale.m4a" | tee seconds.txt
  grep -q '^792[0-9][0-9]$' seconds.txt
  { "$ffmpeg" -i "$timescale.m4a" 2>&1 || true; } | grep 'Duration: 22:00'
done
grep -q 'Movie duration: 792' 1000.txt
grep -q 'Movie duration: 0.000 seconds' 60000.txt
