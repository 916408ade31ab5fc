"""Prints the tags and chapters of an mp3 or m4b file as JSON."""

import json
import sys

from mutagen.id3 import ID3
from mutagen.mp4 import MP4

path = sys.argv[1]
if path.endswith(".m4b"):
    file = MP4(path)
    names = {"title": "\xa9nam", "author": "\xa9ART", "album": "\xa9alb"}
    shown = {name: file.tags[atom][0] for name, atom in names.items()}
    shown["chapters"] = [{"title": one.title, "start": one.start} for one in file.chapters]
else:
    tags = ID3(path)
    names = {"title": "TIT2", "author": "TPE1", "album": "TALB"}
    shown = {name: tags[frame].text[0] for name, frame in names.items()}
    chapters = {one.element_id: one for one in tags.getall("CHAP")}
    listed = [chapters[child] for toc in tags.getall("CTOC") for child in toc.child_element_ids]
    shown["chapters"] = [
        {"title": one.sub_frames["TIT2"].text[0], "start": one.start_time / 1000} for one in listed
    ]
print(json.dumps(shown))
