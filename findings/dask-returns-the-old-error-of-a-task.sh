#!/usr/bin/env bash
# Dask does not run a failed task that is submitted again: it returns the error of the first run.
#
# One would guess: a function that is submitted again after it has failed is called again, and that four calls of
# `map` with equal arguments are four calls.
# Version: Dask 2026.8.0, distributed 2026.8.0 (PyPI).
# Seen: a function that fails once and would then succeed is called once, and both futures have the same error, as long
# as the first future exists. Of `map` with four equal arguments, one call is made. With pure=False, each is called.
# Why it matters to foley: "run the same command again" mends a failed batch, but the same line of a Dask program or
# notebook does nothing without pure=False.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet dask==2026.8.0 distributed==2026.8.0
cd "$folder"
cat > tasks.py <<'PYTHON'
import os

from dask.distributed import Client


def speak(log):
    with open(log, "a") as file:
        file.write("called\n")
    if os.path.getsize(log) == len("called\n"):
        raise OSError("the first call fails")
    return "spoken"


def calls(log):
    return open(log).read().count("called")


if __name__ == "__main__":
    with Client(n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        first = client.submit(speak, "pure")
        assert isinstance(first.exception(), OSError)
        second = client.submit(speak, "pure")
        assert isinstance(second.exception(), OSError)
        print("submitted twice:", calls("pure"), "call,", second.exception())
        assert calls("pure") == 1
        first = client.submit(speak, "impure", pure=False)
        assert isinstance(first.exception(), OSError)
        print("pure=False:", client.submit(speak, "impure", pure=False).result())
        client.gather(client.map(speak, ["impure"] * 4))
        print("map of four equal arguments:", calls("impure") - 2, "call")
        assert calls("impure") == 3
PYTHON
venv/bin/python tasks.py 2> log || { tail log; exit 1; }
