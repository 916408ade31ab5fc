"""Makes office documents of a Markdown file in a folder, and prints their text, as pandoc reads it, as JSON by path."""

import json
import os
import sys

import pypandoc

source, folder = sys.argv[1:]
texts = {}
for kind in ("docx", "odt", "rtf", "fb2"):
    path = os.path.join(folder, f"book.{kind}")
    pypandoc.convert_file(source, kind, outputfile=path, extra_args=["--standalone"])
    texts[path] = pypandoc.convert_file(path, "plain", extra_args=["--wrap=none"])
print(json.dumps(texts))
