"""Prints the tags, the chapters and the size of the cover that mutagen reads from audio files, and whether ffmpeg reads the same chapters, as JSON."""

import base64
import json
import re
import subprocess
import sys

import imageio_ffmpeg
from mutagen import File
from mutagen.flac import FLAC, Picture
from mutagen.id3 import ID3
from mutagen.mp4 import MP4


def mp4(path):
    file = MP4(path)
    names = {"title": "\xa9nam", "author": "\xa9ART", "album": "\xa9alb"}
    shown = {name: file.tags[atom][0] for name, atom in names.items() if atom in file.tags}
    shown["chapters"] = [{"title": one.title, "start": one.start} for one in file.chapters or []]
    shown["cover"] = [len(one) for one in file.tags.get("covr", [])]
    if "trkn" in file.tags:
        shown["track"] = file.tags["trkn"][0][0]
    return shown


def mp3(path):
    tags = ID3(path)
    names = {"title": "TIT2", "author": "TPE1", "album": "TALB"}
    shown = {name: tags[frame].text[0] for name, frame in names.items() if frame in tags}
    chapters = {one.element_id: one for one in tags.getall("CHAP")}
    tables = {one.element_id: one for one in tags.getall("CTOC")}
    listed = [
        one
        for toc in tags.getall("CTOC")
        for child in toc.child_element_ids
        if child not in tables
        for one in [chapters[child]]
    ]
    shown["chapters"] = [
        {"title": one.sub_frames["TIT2"].text[0], "start": one.start_time / 1000} for one in listed
    ]
    shown["cover"] = [len(one.data) for one in tags.getall("APIC")]
    if "TRCK" in tags:
        shown["track"] = int(tags["TRCK"].text[0])
    return shown


def comments(path):
    file = File(path)
    names = {"title": "title", "author": "artist", "album": "album"}
    shown = {name: file[field][0] for name, field in names.items() if field in file}
    numbers = sorted(name for name, _ in file.tags if re.fullmatch("chapter[0-9]+", name.lower()))
    shown["chapters"] = [
        {"title": file[number + "name"][0], "start": seconds(file[number][0])} for number in numbers
    ]
    encoded = file.get("metadata_block_picture", [])
    pictures = file.pictures if isinstance(file, FLAC) else [
        Picture(base64.b64decode(one)) for one in encoded
    ]
    shown["cover"] = [len(one.data) for one in pictures]
    if "tracknumber" in file:
        shown["track"] = int(file["tracknumber"][0])
    return shown


def seconds(clock):
    hours, minutes, rest = clock.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


def seen_by_ffmpeg(path):
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-i", path, "-f", "ffmetadata", "-"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    chapters = re.findall(r"TIMEBASE=1/(\d+)\nSTART=(\d+)\nEND=\d+\ntitle=(.*)", found)
    return [{"title": title, "start": int(start) / int(base)} for base, start, title in chapters]


readers = {"m4a": mp4, "m4b": mp4, "mp3": mp3}
result = {}
for path in sys.argv[1:]:
    result[path] = readers.get(path.rsplit(".", 1)[1], comments)(path)
    result[path]["ffmpeg"] = seen_by_ffmpeg(path)
print(json.dumps(result))
