"""The voices of Kokoro in one file, as its servers in Python want them; foley downloads a file for each."""

from pathlib import Path

import numpy


def write_voices(kokoro: Path, out: Path) -> None:
    """Writes the English voices of women. A voice is an array of 256 numbers for each length of a text."""
    styles = {
        file.stem: numpy.fromfile(file, "<f4").reshape(-1, 1, 256)
        for file in sorted((kokoro / "voices").glob("[ab]f_*.bin"))
    }
    with out.open("wb") as file:
        numpy.savez(file, **styles)
