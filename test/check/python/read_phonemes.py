"""Reads sentences as hibari-tts does, and words with its network for words in no dictionary.

Takes a JSON object with "sentences" and "words" on standard input, and prints one with the phonemes of both.
"""

import json
import sys

from hibari import Hibari

asked = json.load(sys.stdin)
reader = Hibari().g2p
json.dump(
    {
        "sentences": [reader(sentence) for sentence in asked["sentences"]],
        "words": {word: reader.oov(word) or "" for word in asked["words"]},
    },
    sys.stdout,
)
