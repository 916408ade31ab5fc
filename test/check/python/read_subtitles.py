# Prints the cues that several tools read in subtitle files: {file: {tool: [text, ...]}}, in JSON.
# A tool that refuses the file has no cues.
import json
import os
import re
import subprocess
import sys

import imageio_ffmpeg
import pysubs2
import srt
import webvtt


def with_ffmpeg(file):
    args = ["-v", "error", "-i", file, "-c:s", "ass", "-f", "ass", "-"]
    program = imageio_ffmpeg.get_ffmpeg_exe()
    ass = subprocess.run([program, *args], capture_output=True, text=True, encoding="utf-8").stdout
    events = [line.split(",", 9)[9] for line in ass.splitlines() if line.startswith("Dialogue:")]
    plain = [re.sub(r"\{[^}]*\}", "", text) for text in events]
    return [re.sub(r"\\[Nnh]", " ", text) for text in plain]


def with_pysubs2(file):
    return [event.plaintext for event in pysubs2.load(file, encoding="utf-8-sig")]


def with_srt(file):
    with open(file, encoding="utf-8-sig", newline="") as content:
        return [cue.content for cue in srt.parse(content.read())]


def with_webvtt(file):
    read = webvtt.from_srt if file.endswith(".srt") else webvtt.read
    return [cue.text for cue in read(file)]


def cues(read, file):
    try:
        return read(file)
    except (pysubs2.Pysubs2Error, srt.SRTParseError, webvtt.errors.MalformedFileError):
        return []


def tools(file):
    readers = {"ffmpeg": with_ffmpeg, "pysubs2": with_pysubs2, "webvtt-py": with_webvtt}
    return {**readers, "srt": with_srt} if file.endswith(".srt") else readers


folder = sys.argv[1]
files = {name: os.path.join(folder, name) for name in sorted(os.listdir(folder))}
found = {
    name: {tool: cues(read, file) for tool, read in tools(file).items()}
    for name, file in files.items()
}
print(json.dumps(found))
