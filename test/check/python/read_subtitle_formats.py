# Prints the cues that other tools read in subtitle files of several formats, in JSON:
# {file: {tool: [[start in ms, end in ms, text], ...]}}.
import json
import re
import subprocess
import sys
from pathlib import Path

import imageio_ffmpeg
import pysubs2
import srt
from ttconv.imsc.reader import to_model
from ttconv.srt.writer import from_model
from xml.etree import ElementTree


def subrip(text):
    return [
        [round(cue.start.total_seconds() * 1000), round(cue.end.total_seconds() * 1000), cue.content]
        for cue in srt.parse(text)
    ]


def with_ffmpeg(file):
    program = imageio_ffmpeg.get_ffmpeg_exe()
    args = [program, "-v", "error", "-i", file, "-f", "srt", "-"]
    text = subprocess.run(args, capture_output=True, check=True).stdout.decode()
    # ffmpeg writes the style of the text as tags.
    return subrip(re.sub(r"</?font[^>]*>", "", text))


def with_pysubs2(file):
    return [[cue.start, cue.end, cue.plaintext] for cue in pysubs2.load(file)]


def with_ttconv(file):
    return subrip(from_model(to_model(ElementTree.parse(file))))


TOOLS = {
    ".ass": {"ffmpeg": with_ffmpeg, "pysubs2": with_pysubs2},
    ".lrc": {"ffmpeg": with_ffmpeg},
    ".srt": {"ffmpeg": with_ffmpeg, "pysubs2": with_pysubs2},
    ".ttml": {"pysubs2": with_pysubs2, "ttconv": with_ttconv},
    ".vtt": {"ffmpeg": with_ffmpeg, "pysubs2": with_pysubs2},
}

print(
    json.dumps(
        {
            file: {tool: read(file) for tool, read in TOOLS[Path(file).suffix].items()}
            for file in sys.argv[1:]
        }
    )
)
