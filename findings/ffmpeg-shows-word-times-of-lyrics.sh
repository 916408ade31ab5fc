#!/usr/bin/env bash
# One would guess: ffmpeg, which demuxes LRC and reads its line times to the millisecond, also understands or removes the
# word times of the "enhanced" files that karaoke programs write.
# ffmpeg 9.0.2 keeps `<00:01.40>` as visible text in every conversion, and its SubRip writer puts a brace of the text
# between two escapes (`\{{}`). Fractions of two and of three digits are both read right.
# It matters to foley: `--subtitles talk.lrc` has word times, so ffmpeg and players that use it show them. The docs say
# so and name the other formats; foley itself reads them back as word times.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv tools
tools/bin/pip install --quiet imageio-ffmpeg==0.8.1
ffmpeg="$(tools/bin/python -c 'import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())')"
printf '[00:01.250]<00:01.250>One <00:01.40>two {x}\n[00:03.5]\n' >song.lrc
"$ffmpeg" -v error -i song.lrc -f srt song.srt
cat song.srt
grep --quiet --fixed-strings '00:00:01,250 --> 00:00:03,500' song.srt
grep --quiet --fixed-strings '<00:01.250>One <00:01.40>two \{{}x}' song.srt
