"""Prints the words that a recognizer hears in WAV files (16 kHz, 16 bits, mono), a line for each file in order.

The recognizer knows neither the engine nor the text: it has a large English vocabulary and language model.
"""

import array
import re
import sys
from multiprocessing import Pool

from pocketsphinx import Decoder

HEADER = 44
PEAK = 0.7 * 32767
SILENCE = array.array("h", [0]) * 3200

decoder = None


def start():
    global decoder
    # The limits make it a third faster, and change less than one word in a hundred.
    decoder = Decoder(samprate=16000, cmn="batch", maxhmmpf=3000, maxwpf=10, loglevel="FATAL")


def hear(file):
    with open(file, "rb") as opened:
        samples = array.array("h", opened.read()[HEADER:])
    scale = PEAK / max(1, max(map(abs, samples)))
    loud = array.array("h", (round(sample * scale) for sample in samples))
    decoder.start_utt()
    decoder.process_raw((SILENCE + loud + SILENCE).tobytes(), full_utt=True)
    decoder.end_utt()
    heard = decoder.hyp()
    return "" if heard is None else re.sub(r"\(\d+\)", "", heard.hypstr)


if __name__ == "__main__":
    with Pool(2, initializer=start) as pool:
        for words in pool.imap(hear, sys.stdin.read().split("\n")):
            print(words)
