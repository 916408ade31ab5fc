#!/usr/bin/env bash
# One would guess: the blocks that ffmpeg decodes from Opus have the lengths of their packets and increasing times, whatever
# the bit rate.
# ffmpeg 9.0.2 (in imageio-ffmpeg 0.8.1), 10 s of a tone in Ogg: so it is at 96 kbit/s. At 8 kbit/s, where Opus uses its
# speech coder, the decoder of ffmpeg begins with a block that is 24 samples too short, and ends with a block of 24 samples
# that has the time of the block before. A muxer then warns of times that do not increase. libopus, called by the same
# ffmpeg, has no such blocks. In MP4, moreover, the last packet is decoded to all of its 960 samples, though the file states
# a duration of 312.
# It matters to foley: the lip sync of an Opus file of 10 s looked wrong to ffmpeg, whose warning is no fault of the file.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet imageio-ffmpeg==0.8.1
ffmpeg="$(venv/bin/python -c 'import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())')"
encode() { "$ffmpeg" -loglevel error -f lavfi -i sine=frequency=440:sample_rate=48000:duration=10 -c:a libopus -b:a "$1" "$2"; }
# The first block and the last two, each as its time and its length in samples.
blocks() { "$ffmpeg" -loglevel error "$@" -f framemd5 frames.txt && awk -F, '!/^#/{n++; b[n]=$3+0 "+" $4+0} END{print b[1], b[n-1], b[n]}' frames.txt; rm frames.txt; }
encode 96k high.ogg
encode 8k low.ogg
encode 8k low.mp4
echo "96k: $(blocks -i high.ogg); 8k: $(blocks -i low.ogg); 8k by libopus: $(blocks -c:a libopus -i low.ogg); 8k in MP4: $(blocks -i low.mp4)"
[ "$(blocks -i high.ogg)" = '0+648 478728+960 479688+312' ]
[ "$(blocks -i low.ogg)" = '0+624 479688+312 479688+24' ]
[ "$(blocks -c:a libopus -i low.ogg)" = '0+648 478728+960 479688+312' ]
[ "$(blocks -i low.mp4)" = '0+624 479688+960 479688+24' ]
"$ffmpeg" -loglevel warning -i low.ogg -f null - 2>&1 | grep -q 'non monotonically increasing'
