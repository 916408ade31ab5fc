#!/usr/bin/env bash
# One would guess: pandoc reads the words of the Rich Text that pandoc writes.
# pandoc 3.9 writes a quotation mark as a Unicode character with a fallback of one character (\u8220"quotes), and its reader
# leaves out one character more than the fallback: it reads "uotes".
# It matters to foley: pandoc is the second opinion for Rich Text (test/check/reading/office-readers.test.ts), so the text
# of that test has no quotation marks.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv tools
tools/bin/pip install --quiet --disable-pip-version-check pypandoc-binary==1.17
cat >run.py <<'SCRIPT'
import sys
import pypandoc
rich_text = pypandoc.convert_text('Some "quotes" here', "rtf", format="markdown")
read = pypandoc.convert_text(r"{\rtf1\ansi " + rich_text + "}", "plain", format="rtf").strip()
print(pypandoc.get_pandoc_version(), rich_text.strip(), read)
sys.exit(0 if r'\u8220"quotes\u8221"' in rich_text and "uotes" in read and "quotes" not in read else 1)
SCRIPT
tools/bin/python run.py
