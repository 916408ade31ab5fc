"""Prints when a recognizer hears each of the given words in a WAV file (16 kHz, 16 bits, mono): start, end and word, a line each.

Times are in milliseconds. The recognizer gets the words, and none of their times.
"""

import sys

from pocketsphinx import Decoder

HEADER = 44
FRAME_MS = 10

file, text = sys.argv[1:]

# Narrower than usual: with the usual beams, the last word of a high voice is missing.
decoder = Decoder(samprate=16000, cmn="batch", beam=1e-40, pbeam=1e-40, wbeam=1e-25, loglevel="FATAL")
decoder.set_align_text(text)
decoder.start_utt()
with open(file, "rb") as opened:
    decoder.process_raw(opened.read()[HEADER:], full_utt=True)
decoder.end_utt()
for segment in decoder.seg():
    if segment.word[0].isalpha():
        print(segment.start_frame * FRAME_MS, (segment.end_frame + 1) * FRAME_MS, segment.word.split("(")[0])
